import { afterEach, expect, test } from '@jest/globals';
import { createGuard } from '../../src/common/clients/guard.ts';
import { createSharedBudget } from '../../src/common/shared-budget.ts';
import { withBackend } from '../../src/config/describe.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Exchange } from '../../src/gateway/exchange.ts';
import { type ApiParts, createPipeline, createSteps } from '../../src/gateway/pipeline.ts';
import { createCors } from '../../src/gateway/reply/cors.ts';
import { createRelay } from '../../src/gateway/reply/relay.ts';
import { createReply } from '../../src/gateway/reply/reply.ts';
import { createJoinTunnel } from '../../src/gateway/reply/tunnel.ts';
import type { Checked } from '../../src/gateway/results.ts';
import { createForward, type Forward } from '../../src/gateway/stages/forward.ts';
import { createRequestGuard } from '../../src/gateway/stages/request-guard.ts';
import type { BackendResponse } from '../../src/gateway/upstream/backend-response.ts';
import { createUpstreams } from '../../src/gateway/upstream/backends.ts';
import { sendUpstream } from '../../src/gateway/upstream/upstream-request.ts';
import {
  admittedClient,
  exchangeApi,
  fieldNames,
  knownClient,
  requestFields,
  returnedNames,
  routeOf,
} from '../support/exchange.ts';
import { type Served, serve } from '../support/serve.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

/**
 * A stage between the backend and the reply, as a developer might add it: it caches responses to GET
 * by path.
 */
function createCache(forward: Forward): Forward {
  const kept = new Map<string, BackendResponse>();
  return async function cache(exchange: Exchange, checked: Checked) {
    const { path } = checked.target;
    const existing = kept.get(path);
    if (existing) return { ...existing, headers: [...existing.headers, 'age', '1'] };
    const stored = await forward(exchange, checked);
    if (exchange.call.method === 'GET' && stored.status === 200) kept.set(path, stored);
    return stored;
  };
}

const never = (): never => {
  throw new Error('no request is for a WebSocket');
};

let served: Served;
let backend: FakeBackend;
afterEach(async () => {
  await served.close();
  await backend.close();
});

test('a stage between backend and reply is one file and one line', async () => {
  backend = await fakeBackend((request, response) =>
    response.end(`${request.url} ${backend.seen.length}`),
  );
  const { http, ...config } = withBackend(
    loadConfig({ env: {}, cwd: import.meta.dirname }),
    backend.url,
  );
  const observe = () => {};
  const guard = createGuard(http.authFailureLimit);
  const cors = createCors({ origins: [], maxAge: 0 });
  const response = createReply({ cors, guard, observe, hasReference: true });
  const upstreams = createUpstreams(config, { upstream: null, upstreams: {} }, observe);
  const upstream = upstreams.of('default');
  const route = routeOf({
    send: (exchange, requested) =>
      sendUpstream({ upstream, observe, returned: returnedNames, exchange, request: requested }),
  });
  const { forward } = createForward({
    requestFields,
    joinTunnel: createJoinTunnel(response, returnedNames),
    plainResponses: false,
  });
  const requestGuard = createRequestGuard({
    config: http,
    paths: config.contract,
    observe,
    api: exchangeApi,
    names: fieldNames,
    beginSpan: null,
  });
  const parts: ApiParts = {
    addresses: null,
    authenticate: () => knownClient(),
    admit: () => admittedClient(),
    contract: (_exchange, client, target) => ({ client, target, route, body: null }) as Checked,
    forward: createCache(forward),
    tunnel: never,
    takesTunnel: () => false,
    inspect: (_exchange, _checked, stored) => stored,
    relay: createRelay(response, createSharedBudget(0)),
    usage: async () => {},
    usagePaths: [],
    pages: { has: () => false, serve: async () => {} },
    cors,
    reply: response,
    route: () => ({ kind: 'not_found' }),
  };
  const pipeline = createPipeline({
    guard: requestGuard,
    addresses: null,
    reply: response,
    enterApi: createSteps(parts),
  });
  served = await serve(pipeline);
  const send = async (path: string) => {
    const response = await fetch(served.url + path);
    return [await response.text(), response.headers.get('age')];
  };
  expect(await send('/one')).toEqual(['/one 1', null]);
  expect(await send('/one')).toEqual(['/one 1', '1']);
  expect(await send('/two')).toEqual(['/two 2', null]);
  expect(backend.seen).toHaveLength(2);
  upstreams.close();
});
