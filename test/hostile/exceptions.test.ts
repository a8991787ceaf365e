import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { loadContract } from '@storegate/openapi';
import { createReference, writeDocuments } from '@storegate/reference';
import { createAddressWindow } from '../../src/common/clients/address-window.ts';
import { createGuard, type Guard } from '../../src/common/clients/guard.ts';
import { PAGE_PATHS } from '../../src/common/reserved-paths.ts';
import { createPages } from '../../src/gateway/own/pages.ts';
import {
  type ApiParts,
  createPipeline,
  createSteps,
  type Front,
} from '../../src/gateway/pipeline.ts';
import { type Cors, createCors } from '../../src/gateway/reply/cors.ts';
import { createReply, type Reply } from '../../src/gateway/reply/reply.ts';
import { createRequestGuard } from '../../src/gateway/stages/request-guard.ts';
import { type Event, type Observe, type Step, toAll } from '../../src/observe/events.ts';
import { exchangeApi, fieldNames, matchOf } from '../support/exchange.ts';
import { TestGateway } from '../support/gateway.ts';
import { type Served, serve } from '../support/serve.ts';
import { until } from '../support/until.ts';
import { HANDSHAKE } from '../support/websocket.ts';
import { isAnError } from './fixture.ts';
import { Wire } from './wire.ts';

const PRIVATE = 'a private detail';
const broken = (): never => {
  throw new TypeError(PRIVATE);
};

let served: Served | null = null;
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway.stop());
afterEach(async () => {
  await served?.close();
  served = null;
});

const NO_CORS = createCors({ origins: [], maxAge: 0 });

const stepsIn = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'request' ? [event.step] : []));

async function pipelineWith(
  parts:
    | Partial<ApiParts & Front>
    | ((made: { guard: Guard; reply: Reply }) => Partial<ApiParts & Front>),
  { listeners = [], cors = NO_CORS }: { listeners?: Observe[]; cors?: Cors } = {},
) {
  const events: Event[] = [];
  const observe = toAll(...listeners, (event) => events.push(event));
  const guard = createGuard({ failures: 10, window: 60_000 });
  const response = createReply({ cors, guard, observe, hasReference: true });
  const given = typeof parts === 'function' ? parts({ guard, reply: response }) : parts;
  const front = {
    guard: createRequestGuard({
      config: gateway.config.http,
      paths: gateway.config.contract,
      observe,
      api: exchangeApi,
      names: fieldNames,
      beginSpan: null,
    }),
    addresses: null,
    reply: response,
  };
  const own: ApiParts = {
    addresses: null,
    usagePaths: ['/usage'],
    authenticate: async () => ({}) as never,
    admit: async () => ({}) as never,
    contract: async () => ({}) as never,
    forward: async () => ({}) as never,
    inspect: (_exchange, _checked, stored) => stored,
    relay: (exchange) => void response.send(exchange, 200, [], 'good'),
    tunnel: broken,
    takesTunnel: () => false,
    pages: { has: () => false, serve: async () => {} },
    usage: async () => {},
    cors,
    reply: response,
    route: () => ({ kind: 'not_found' }),
    ...given,
  };
  const pipeline = createPipeline({ ...front, ...given, enterApi: createSteps(own) });
  served = await serve(pipeline);
  const wire = await Wire.open(served.url);
  const fields = `Host: a\r\nSec-WebSocket-Key: ${HANDSHAKE['Sec-WebSocket-Key']}`;
  const ask = (path = '/') => wire.send(`GET ${path} HTTP/1.1\r\n${fields}\r\n\r\n`).answer();
  return { ask, events, wire };
}

describe('an exception affects its own request only: 500, an id, one line, no detail', () => {
  test.each<[where: string, step: Step, parts: (on: () => boolean) => Partial<ApiParts & Front>]>([
    [
      'the guard',
      'http',
      (on) => ({ cors: { ...NO_CORS, handles: () => (on() ? broken() : false) } }),
    ],
    [
      'authenticate',
      'authenticate',
      (on) => ({ authenticate: async () => (on() ? broken() : ({} as never)) }),
    ],
    [
      'authenticate, at once',
      'authenticate',
      (on) => ({ authenticate: () => (on() ? broken() : Promise.resolve({} as never)) }),
    ],
    ['the route', 'admit', (on) => ({ route: () => (on() ? broken() : { kind: 'not_found' }) })],
    ['usage', 'usage', () => ({ usage: async () => broken() })],
    ['admit', 'admit', (on) => ({ admit: async () => (on() ? broken() : ({} as never)) })],
    ['forward', 'backend', (on) => ({ forward: async () => (on() ? broken() : ({} as never)) })],
    ['the inspection', 'backend', (on) => ({ inspect: () => (on() ? broken() : ({} as never)) })],
    [
      'the contract',
      'contract',
      (on) => ({ contract: async () => (on() ? broken() : ({} as never)) }),
    ],
    ['a page', 'pages', (on) => ({ pages: { has: on, serve: async () => broken() } })],
    [
      'a tunnel',
      'backend',
      (on) => ({
        route: () => matchOf({ websocket: true }),
        takesTunnel: on,
        tunnel: async () => broken(),
      }),
    ],
  ])('in %s', async (where, step, parts) => {
    let count = 0;
    const { ask, events, wire } = await pipelineWith(parts(() => ++count === 1));
    const response = await ask(where === 'usage' ? '/usage' : '/');
    expect(response).toMatchObject({ status: 500, code: 'internal_error' });
    isAnError(response);
    expect(response.body).not.toContain(PRIVATE);
    const bugs = events.filter(({ type }) => type === 'bug');
    expect(bugs).toEqual([
      expect.objectContaining({
        id: response.headers['x-request-id'],
        error: expect.any(TypeError),
      }),
    ]);
    expect(await ask()).toMatchObject({ status: 200, body: 'good' });
    await until('both are reported', () => stepsIn(events).length === 2);
    expect(stepsIn(events)).toEqual([step, null]);
    wire.close();
  });

  test('in the reference, whatever it had set for its page before', async () => {
    const contract = loadContract(gateway.config.contract.file);
    const find = createReference({
      contract,
      published: writeDocuments(contract.document, []),
      paths: { page: '/docs/', json: '/openapi.json', yaml: '/openapi.yaml' },
      readers: { keyHeaders: ['X-API-Key'], usage: null, limits: null as never },
      errors: [],
    });
    const { wire, events } = await pipelineWith((made) => ({
      pages: createPages({
        find,
        paths: PAGE_PATHS,
        home: null,
        openAddressWindow: createAddressWindow,
        ...made,
      }),
    }));
    const ask = (path: string) =>
      wire.send(`GET ${path} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n`).answer();
    const response = await ask('/docs/');
    expect(response).toMatchObject({ status: 500, code: 'internal_error' });
    isAnError(response);
    expect(response.headers['content-encoding']).toBeUndefined();
    expect(events.filter(({ type }) => type === 'bug')).toEqual([
      expect.objectContaining({
        id: response.headers['x-request-id'],
        error: expect.any(TypeError),
      }),
    ]);
    expect(await ask('/docs/nothing')).toMatchObject({ status: 404, code: 'not_found' });
    expect((await ask('/openapi.json')).status).toBe(200);
    await until(
      'all three are reported',
      () => events.filter(({ type }) => type === 'request').length === 3,
    );
    expect(events.filter(({ type }) => type === 'request')).toEqual([
      expect.objectContaining({ status: 500, code: 'internal_error' }),
      expect.objectContaining({ status: 404, code: 'not_found' }),
      expect.objectContaining({ status: 200, code: null }),
    ]);
    wire.close();
  });

  test('in a listener of events', async () => {
    const { ask, events, wire } = await pipelineWith({}, { listeners: [broken] });
    for (let i = 0; i < 3; i++) expect(await ask()).toMatchObject({ status: 200 });
    wire.close();
    expect(events.filter(({ type }) => type === 'request').length).toBeGreaterThan(0);
  });

  test('even in the response to a failure: its connection ends, and others continue', async () => {
    let failing = true;
    const cors: Cors = {
      add: () => void (failing && broken()),
      preflight: () => [],
      handles: () => false,
    };
    const { ask, events } = await pipelineWith(
      { admit: async () => (failing ? broken() : ({} as never)) },
      { cors },
    );
    await expect(ask()).rejects.toThrow('before the answer was whole');
    expect(events.filter(({ type }) => type === 'bug')).toHaveLength(2);
    failing = false;
    const wire = await Wire.open(served!.url);
    expect(await wire.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n').answer()).toMatchObject({
      status: 200,
      body: 'good',
    });
    wire.close();
  });
});
