import { afterAll, describe, expect, test } from '@jest/globals';
import { adminOf } from '../support/admin.ts';
import { bodyOf } from '../support/failure.ts';
import { until } from '../support/until.ts';
import { Fixture } from './fixture.ts';
import type { Respond } from './recording-backend.ts';
import { valuesOf } from './recording-backend.ts';

const PRIVATE = 'very-private-value';
const JSON_TYPE = 'application/json';
const ITEM = {
  type: 'object',
  required: ['n'],
  properties: { n: { type: 'integer' } },
  additionalProperties: false,
};
const content = { 'application/json': { schema: ITEM } };
const operation = {
  parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer' } }],
  responses: { 200: { description: 'Good.', content }, 204: { description: 'Nothing.' } },
};
const DOCUMENT = {
  openapi: '3.0.3',
  info: { title: 'Items', version: '1' },
  paths: {
    '/items': {
      get: { operationId: 'listItems', ...operation },
      post: {
        operationId: 'makeItem',
        'x-report-only': true,
        requestBody: { required: true, content },
        ...operation,
      },
      patch: { operationId: 'editItem', 'x-required-scopes': ['items:write'], ...operation },
    },
  },
};

let fixture: Fixture;
const fixtures = new Map<string, Fixture>();
afterAll(async () => {
  for (const one of fixtures.values()) await one.stop();
});

async function stage(mode: string, respond: Respond): Promise<void> {
  const settings = `contract: {${mode.includes(':') ? mode : `responses: ${mode}`}}\nhttp: {maxBodyBytes: 1KiB}`;
  fixture = fixtures.get(mode) ?? (await Fixture.start({ document: DOCUMENT, settings }));
  fixtures.set(mode, fixture);
  fixture.gateway.log.length = 0;
  fixture.backend.requests.length = 0;
  fixture.backend.respond = respond;
}

const JSON_HEADER = 'Content-Type: application/json\r\n';

const answering =
  (body: string, headers = JSON_HEADER): Respond =>
  (socket) =>
    void socket.write(`HTTP/1.1 200 OK\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`);

const faults = () => fixture.gateway.log.filter(({ msg }) => msg === 'contract.fault');
async function logOf(id: unknown) {
  const find = () => fixture.gateway.log.find((line) => line.msg === 'request' && line.id === id);
  await until('the request is logged', () => find() !== undefined);
  return find()!;
}

const FAULTS = 'contract_faults_total{operation="listItems",side="response"}';

describe('a response that violates the contract', () => {
  const wrong: [what: string, respond: Respond][] = [
    ['has a wrong member', answering(`{"n":"${PRIVATE}"}`)],
    ['has a member too many', answering(`{"n":1,"${PRIVATE}":1}`)],
    ['is of another type', answering('{"n":1}', 'Content-Type: text/plain\r\n')],
    [
      'is encoded',
      answering('{"n":1}', 'Content-Type: application/json\r\nContent-Encoding: gzip\r\n'),
    ],
    ['is too large to check', answering(`{"n":1${' '.repeat(2_000)}}`)],
    [
      'has a status that is not described',
      (socket) => void socket.write('HTTP/1.1 201 Made\r\nContent-Length: 0\r\n\r\n'),
    ],
  ];

  test.each(wrong)('%s: forwarded and reported, or 502 if enforced', async (_what, respond) => {
    await stage('report', respond);
    const before = await fixture.metric(FAULTS);
    expect((await fixture.ask(fixture.request('GET /items'))).status).toBeLessThan(300);
    await until('it is reported', () => faults().length === 1);
    expect(faults()[0]).toMatchObject({ operation: 'listItems', side: 'response', count: 1 });
    expect(JSON.stringify(fixture.gateway.log)).not.toContain(PRIVATE);
    expect((await fixture.metric(FAULTS)) - before).toBe(1);

    await stage('enforce', respond);
    const response = await fixture.ask(fixture.request('GET /items'));
    expect(response).toMatchObject({ status: 502, code: 'upstream_error' });
    expect(response.body).not.toContain(PRIVATE);
    fixture.backend.respond = answering('{"n":1}');
    expect((await fixture.ask(fixture.request('GET /items'))).status).toBe(200);
    expect(faults()).toHaveLength(1);
  });

  test('is not checked if the setting is off', async () => {
    await stage('off', answering('{"n":"wrong"}'));
    expect(await fixture.ask(fixture.request('GET /items'))).toMatchObject({
      status: 200,
      body: '{"n":"wrong"}',
    });
    expect(faults()).toEqual([]);
  });
});

test('a response of an operation that only reports is forwarded, although responses are enforced', async () => {
  await stage('enforce', answering('{"n":"wrong"}'));
  const request = fixture.request(
    'POST /items',
    ['Content-Type: application/json', 'Content-Length: 2'],
    '{}',
  );
  expect(await fixture.ask(request)).toMatchObject({ status: 200, body: '{"n":"wrong"}' });
  expect(faults().map(({ side }) => side)).toContain('response');
});

describe('a valid response', () => {
  test.each(['report', 'enforce'])(
    'forwards %s byte by byte, and HEAD without a check',
    async (mode) => {
      await stage(mode, answering('{ "n" : 1 }\n', `${JSON_HEADER}Content-Encoding: Identity\r\n`));
      const request = fixture.request('GET /items', ['Accept-Encoding: gzip']);
      expect(await fixture.ask(request)).toMatchObject({ status: 200, body: '{ "n" : 1 }\n' });
      expect(valuesOf(fixture.backend.requests[0]!, 'accept-encoding')).toEqual([]);
      fixture.backend.respond = (socket) =>
        void socket.write(
          'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{"n\r\n4\r\n":1}\r\n0\r\n\r\n',
        );
      expect(await fixture.ask(request)).toMatchObject({ status: 200, body: '{"n":1}' });
      fixture.backend.respond = (socket) =>
        void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n');
      expect(await fixture.ask(fixture.request('HEAD /items'))).toMatchObject({ status: 200 });
      expect(faults()).toEqual([]);
    },
  );
});

const post = (line: string, body: string, type = 'application/json') =>
  fixture.request(line, [`Content-Type: ${type}`, `Content-Length: ${body.length}`], body);

describe('with `contract.requests: report`', () => {
  const reported = (code: string) => fixture.metric(`reported_refusals_total{code="${code}"}`);

  test.each<[code: string, line: string, body: string, type: string]>([
    ['invalid_request', `GET /items?limit=${PRIVATE}`, '', JSON_TYPE],
    ['invalid_request', 'GET /items', `{"n":"${PRIVATE}"}`, JSON_TYPE],
    ['unsupported_media_type', 'POST /items', PRIVATE, 'text/plain'],
    ['not_found', `GET /${PRIVATE}?${PRIVATE}=1`, PRIVATE, 'text/plain'],
    ['method_not_allowed', 'DELETE /items', PRIVATE, 'text/plain'],
  ])('%s of %s is forwarded unchanged, and recorded everywhere', async (code, line, body, type) => {
    await stage('requests: report', answering('{"n":1}'));
    const before = await reported(code);
    const response = await fixture.ask(post(line, body, type));
    expect(response).toMatchObject({ status: 200, code: undefined });
    const id = response.headers['x-request-id'];
    expect(fixture.backend.requests).toHaveLength(1);
    expect(fixture.backend.requests[0]).toMatchObject({ line: `${line} HTTP/1.1`, body });
    // The line of an earlier request may come late.
    const logged = await logOf(id);
    expect(logged).toMatchObject({ status: 200, code: null, reported: code });
    expect(faults()).toEqual([expect.objectContaining({ side: 'request', count: 1, id })]);
    expect((await reported(code)) - before).toBe(1);
    const admin = adminOf(fixture.gateway.adminUrl);
    const { requests } = bodyOf(await admin('GET', `/requests?code=report:${code}`));
    // Sorted by when a request began, to the millisecond: an earlier one may be listed first.
    expect(requests).toContainEqual(expect.objectContaining({ id, status: 200, step: null }));
    const explained = bodyOf(await admin('GET', `/requests/${id}`));
    expect(explained).toMatchObject({
      code: `report:${code}`,
      faults: [{ side: 'request', reportOnly: true, count: 1 }],
      backend: { attempts: 1 },
    });
    const { rows } = bodyOf(await admin('GET', '/usage/report?by=status,code'));
    expect(rows).toContainEqual(
      expect.objectContaining({ status: 200, code: `report:${code}`, refused: 0 }),
    );
    // Operators see the path as it was sent, without its query.
    const { sentPath, ...recorded } = explained;
    expect(sentPath).not.toContain('?');
    expect(JSON.stringify([fixture.gateway.log, recorded])).not.toContain(PRIVATE);
  });

  test('a valid request is not recorded', async () => {
    await stage('requests: report', answering('{"n":1}'));
    const response = await fixture.ask(fixture.request('GET /items?limit=1'));
    expect(response).toMatchObject({ status: 200 });
    expect(await logOf(response.headers['x-request-id'])).not.toHaveProperty('reported');
    expect(faults()).toEqual([]);
  });

  test.each<[status: number, line: string, headers: readonly string[]]>([
    [401, 'GET /unknown', []],
    [403, 'PATCH /items', []],
    [413, 'POST /items', ['Content-Length: 2000']],
    [400, 'GET /items%2F1', []],
  ])('%d is still returned for %s', async (status, line, headers) => {
    await stage('requests: report', answering('{"n":1}'));
    const text = fixture.request(line, headers, headers.length > 0 ? 'x'.repeat(2_000) : '');
    const sent = status === 401 ? text.replace(/X-API-Key: .*\r\n/, '') : text;
    expect(await fixture.ask(sent)).toMatchObject({ status });
    expect(fixture.backend.requests).toEqual([]);
  });
});
