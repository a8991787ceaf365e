import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Fixture } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.start();
});
afterAll(() => fixture.stop());

const key = () => `X-API-Key: ${fixture.secret}\r\n`;

/** A row says what a client sends, and the whole message that names its mistake. */
test.each<[name: string, bytes: () => string | Buffer, message: string]>([
  [
    'TLS on a port without it',
    () => Buffer.from('16030100c4010000c00303', 'hex'),
    'This port does not use TLS. Use http://.',
  ],
  ['no Host', () => `GET /pets HTTP/1.1\r\n${key()}\r\n`, 'The Host header is missing. Send one.'],
  [
    'two Host headers',
    () => `GET /pets HTTP/1.1\r\nHost: a\r\nHost: a\r\n${key()}\r\n`,
    'The Host header is repeated. Send it once.',
  ],
  [
    'a method that is no token',
    () => `G(T /pets HTTP/1.1\r\nHost: a\r\n${key()}\r\n`,
    'The method has an invalid character. Send a method such as GET.',
  ],
  ...['/café', '/pets?q=é', '/pets#a'].map((target): [string, () => string, string] => [
    `the target ${target}`,
    () => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`,
    'The request target has a character that URLs cannot contain, or a "#". Percent-encode it.',
  ]),
  [
    'headers that are too large',
    () => `GET /pets HTTP/1.1\r\nHost: a\r\nX-Large: ${'a'.repeat(16_384)}\r\n\r\n`,
    'The headers exceed 16384 bytes. Send fewer or shorter headers.',
  ],
  [
    'a path that is too long',
    () => `GET /${'a'.repeat(16_384)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    'The request line exceeds 16384 bytes. Shorten the path or the query.',
  ],
  [
    'a transfer coding',
    () => fixture.request('POST /pets', ['Transfer-Encoding: gzip']),
    'Transfer-Encoding gzip is not supported. Use chunked alone.',
  ],
  [
    'a transfer coding that may be a secret',
    () => fixture.request('POST /pets', ['Transfer-Encoding: hunter2']),
    'Transfer-Encoding is not supported. Use chunked alone.',
  ],
  [
    'a content coding',
    () => fixture.post(['Content-Encoding: gzip', 'Content-Length: 2'], '{}'),
    'Content-Encoding gzip is not supported. Send the body without it.',
  ],
  [
    'another media type',
    () => fixture.request('POST /pets', ['Content-Type: text/plain', 'Content-Length: 2'], '{}'),
    'The body must be application/json, in UTF-8.',
  ],
  [
    'no key',
    () => 'GET /pets HTTP/1.1\r\nHost: a\r\n\r\n',
    'The API key is missing. Send it in the header X-API-Key, or as Authorization: Bearer <key>.',
  ],
  [
    'a key header twice',
    () => fixture.request('GET /pets', [key().trim()]),
    'The request has more than one key header. Send the key in one header: X-API-Key or Authorization.',
  ],
  [
    'two keys',
    () => fixture.request('GET /pets', ['Authorization: Bearer other']),
    'X-API-Key and Authorization hold different keys. Send the key in one header: X-API-Key or Authorization.',
  ],
  [
    'a query parameter of another type',
    () => fixture.request('GET /pets?limit=many'),
    'Query parameter limit must be an integer.',
  ],
  [
    'a path parameter of another type',
    () => fixture.request('GET /pets/rex'),
    'Path parameter petId must be an integer.',
  ],
  [
    'a member of another type, and one that is missing',
    () => fixture.post(['Content-Length: 10'], '{"name":1}'),
    'Body /categoryId is required. See details for 1 more.',
  ],
  ['no body', () => fixture.post(['Content-Length: 0'], ''), 'The request body is required.'],
  [
    'a body of another type',
    () => fixture.post(['Content-Length: 2'], '[]'),
    'The body must be an object.',
  ],
])('the message names the mistake: %s', async (_name, bytes, message) => {
  const { body } = await fixture.ask(bytes());
  expect(JSON.parse(body).message).toBe(message);
});
