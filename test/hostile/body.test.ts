import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Fault, RULES } from '@storegate/openapi';
import { Fixture, isAnError } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.start();
});
afterAll(() => fixture.stop());

/** `body` has one character per byte. */
const post = (
  path: string,
  body: string,
  type = 'application/json',
  more: readonly string[] = [],
) =>
  fixture.request(
    `POST ${path}`,
    [`Content-Type: ${type}`, `Content-Length: ${body.length}`, ...more],
    body,
  );
const latin1 = (text: string) => Buffer.from(text).toString('latin1');

describe('a body that two readers could read differently is refused with the place', () => {
  test.each<[what: string, body: string]>([
    ['a name twice', '{"name":"a","categoryId":1,"name":"b"}'],
    ['bytes that are not UTF-8', '{"name":"\xff","categoryId":1}'],
    ['NaN', '{"name":"a","categoryId":NaN}'],
    ['a value behind the end', '{"name":"a","categoryId":1}{}'],
    [
      'nesting without end',
      `{"name":"a","categoryId":1,"x":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
    ],
    ['an int64 one too large', '{"name":"a","categoryId":9223372036854775808}'],
    ['__proto__ in place of what is required', '{"__proto__":{"name":"a","categoryId":1}}'],
    ['an array', '[{"name":"a","categoryId":1}]'],
  ])('%s', async (_what, body) => {
    const before = fixture.backend.requests.length;
    const response = await fixture.ask(post('/pets', body));
    expect(response).toMatchObject({ status: 400, code: 'invalid_request' });
    isAnError(response);
    const { details } = JSON.parse(response.body) as { details: Fault[] };
    expect(details[0]).toMatchObject({
      in: 'body',
      pointer: expect.any(String),
      message: expect.any(String),
    });
    expect(Object.keys(RULES)).toContain(details[0]!.rule);
    await fixture.isUnharmed(before);
  });

  test('30 February, which is not a valid date', async () => {
    const order = (date: string) => `{"petId":1,"quantity":1,"shipDate":"${date}"}`;
    expect(await fixture.ask(post('/store/orders', order('2026-02-30T00:00:00Z')))).toMatchObject({
      status: 400,
    });
    expect(await fixture.ask(post('/store/orders', order('2026-02-28T00:00:00Z')))).toMatchObject({
      status: 200,
    });
  });
});

describe('a body of another media type is 415', () => {
  test.each(['text/plain', 'application/json; charset=utf-16', 'multipart/form-data; boundary=x'])(
    '%j',
    async (type) => {
      expect(await fixture.ask(post('/pets', '{"name":"a","categoryId":1}', type))).toMatchObject({
        status: 415,
      });
    },
  );

  test.each([['gzip'], ['identity', 'gzip']])('encoded: %s', async (...codings) => {
    const headers = codings.map((coding) => `Content-Encoding: ${coding}`);
    const response = await fixture.ask(
      post('/pets', '{"name":"a","categoryId":1}', undefined, headers),
    );
    expect(response).toMatchObject({
      status: 415,
      code: 'unsupported_media_type',
      headers: { 'accept-encoding': 'identity' },
    });
  });

  test('two Content-Types are refused', async () => {
    const bytes = post('/pets', '{"name":"a","categoryId":1}', undefined, [
      'Content-Type: text/plain',
    ]);
    await fixture.refusesAndCloses(bytes, [400]);
  });
});

describe('the checked bytes are forwarded unchanged', () => {
  test.each([
    ['with blanks and escapes', '\n{ "name" : "R\\u0065x\\/" ,\t"categoryId":1 } \r\n'],
    ['with every digit', '{"name":"a","categoryId":9223372036854775807}'],
    ['with other alphabets', latin1('{"name":"Ωλίβερ 🐈","categoryId":-9223372036854775808}')],
    [
      'with __proto__, which is a name like any other',
      '{"name":"a","categoryId":1,"__proto__":{"status":"sold"}}',
    ],
  ])('%s', async (what, body) => {
    const before = fixture.backend.requests.length;
    const response = await fixture.ask(post('/pets', body));
    if (what.includes('__proto__')) {
      // The contract decides whether more members are allowed; the gateway must make them harmless.
      expect([200, 400]).toContain(response.status);
      expect(({} as Record<string, unknown>).status).toBeUndefined();
    } else expect(response.status).toBe(200);
    if (response.status === 200)
      expect(fixture.backend.requests.slice(before).map(({ body }) => body)).toEqual([body]);
  });
});

test('an error is in the form of RFC 9457 for a client that asks for it', async () => {
  const accept = ['Accept: application/problem+json, */*;q=0.1'];
  const { status, headers, body } = await fixture.ask(
    post('/pets?odd=1', '{"name":1,"categoryId":1}', undefined, accept),
  );
  expect([status, headers['content-type']]).toEqual([400, 'application/problem+json']);
  expect(JSON.parse(body)).toEqual({
    type: '/docs/#errors-invalid_request',
    title: 'The request does not match the contract.',
    status: 400,
    detail: 'Query parameter odd is not a parameter of this operation. See details for 1 more.',
    code: 'invalid_request',
    message: 'Query parameter odd is not a parameter of this operation. See details for 1 more.',
    details: [
      {
        in: 'query',
        pointer: '/odd',
        message: 'is not a parameter of this operation',
        rule: 'unknown',
      },
      { in: 'body', pointer: '/name', message: 'must be a string', rule: 'type', limit: 'string' },
    ],
  });
  const lost = await fixture.ask(fixture.request('GET /nowhere', accept));
  expect(JSON.parse(lost.body)).toMatchObject({
    type: '/docs/#errors-not_found',
    code: 'not_found',
    status: 404,
  });
  expect(lost.headers.link).toBe('</docs/#errors-not_found>; rel="help"');
  const page = (await fixture.gateway.client.get('/docs/')).text;
  expect(page).toContain('id="errors-invalid_request"');
});

test('a refusal contains no values of the request, and neither does the log', async () => {
  const secret = 'very-private-value';
  const response = await fixture.ask(
    post(`/pets?${secret}=1`, `{"name":7,"categoryId":"${secret}","status":"${secret}"}`),
  );
  expect(response.status).toBe(400);
  expect(
    JSON.stringify(
      JSON.parse(response.body).details.map(({ message }: { message: string }) => message),
    ),
  ).not.toContain(secret);
  expect(JSON.stringify(fixture.gateway.log)).not.toContain(secret);
  expect((await fixture.gateway.admin.get('/metrics')).text).not.toContain(secret);
});
