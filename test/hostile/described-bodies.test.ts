import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { done, head } from '../../packages/openapi/test/documents.ts';
import { Fixture } from './fixture.ts';

const schema = { type: 'object', required: ['q'], properties: { q: { type: 'string' } } };
const requestBody = { required: true, content: { 'application/json': { schema } } };
const paths = {
  '/found': {
    get: { operationId: 'search', requestBody, responses: done },
    delete: { operationId: 'remove', requestBody, responses: done },
  },
  '/nested': {
    post: {
      operationId: 'nest',
      requestBody: {
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Node' } } },
      },
      responses: done,
    },
  },
  '/plain': { get: { operationId: 'plain', responses: done } },
};

const form = (tag: string) => ({
  type: 'object',
  properties: { child: { $ref: '#/components/schemas/Node' }, [tag]: { type: 'integer' } },
  additionalProperties: { type: 'string' },
});
const components = {
  schemas: { Node: { oneOf: [form('a'), { ...form('b'), required: ['b'] }, { type: 'integer' }] } },
};

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.start({ document: { ...head, paths, components } });
});
afterAll(() => fixture.stop());

const BODY = '{"q":"x"}';
const ask = (
  line: string,
  body: string,
  more: readonly string[] = [`Content-Length: ${body.length}`],
) => fixture.request(line, ['Content-Type: application/json', ...more], body);

describe.each(['GET', 'DELETE'])('a documented body of %s', (method) => {
  test('is forwarded unchanged, framed by its length', async () => {
    const { line, headers, body } = await fixture.passed(ask(`${method} /found`, BODY));
    expect([line, body]).toEqual([`${method} /found HTTP/1.1`, BODY]);
    expect(headers.filter(([name]) => /^(content-length|transfer-encoding)$/i.test(name))).toEqual([
      ['Content-Length', `${BODY.length}`],
    ]);
    const chunked = ask(`${method} /found`, `9\r\n${BODY}\r\n0\r\n\r\n`, [
      'Transfer-Encoding: chunked',
    ]);
    expect((await fixture.passed(chunked)).body).toBe(BODY);
    expect(fixture.backend.complaints).toEqual([]);
  });

  test('is checked', async () => {
    expect(await fixture.ask(ask(`${method} /found`, '{}'))).toMatchObject({ status: 400 });
    expect(await fixture.ask(fixture.request(`${method} /found`))).toMatchObject({
      status: 400,
      code: 'invalid_request',
    });
  });
});

test('an undocumented body of GET is refused', async () => {
  expect(await fixture.ask(ask('GET /plain', BODY))).toMatchObject({
    status: 400,
    code: 'invalid_request',
  });
});

test('alternatives that lead to each other on sixty levels of wide objects are judged like all others', async () => {
  const wide = Array.from({ length: 300 }, (_, i) => `"k${i}":"v",`).join('');
  const post = (leaf: string) =>
    ask('POST /nested', `${`{${wide}"child":`.repeat(60)}${leaf}${'}'.repeat(60)}`);
  expect((await fixture.passed(post('1'))).line).toBe('POST /nested HTTP/1.1');
  const { status, body } = await fixture.ask(post('true'));
  expect(status).toBe(400);
  expect(JSON.parse(body).details[0]).toMatchObject({ pointer: '/child'.repeat(60), rule: 'type' });
});

test('HEAD is served by GET, and has no body', async () => {
  const before = fixture.backend.requests.length;
  fixture.backend.respond = (socket) =>
    void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n');
  expect(await fixture.ask(fixture.request('HEAD /found'))).toMatchObject({ status: 200 });
  expect(await fixture.ask(ask('HEAD /found', BODY))).toMatchObject({ status: 400 });
  expect(fixture.backend.requests.slice(before).map(({ line, body }) => [line, body])).toEqual([
    ['HEAD /found HTTP/1.1', ''],
  ]);
});
