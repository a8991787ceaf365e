import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Fixture } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  const schema = { type: 'object', properties: { photo: { type: 'string', format: 'binary' } } };
  const content = { 'application/json': { schema: {} }, 'multipart/form-data': { schema } };
  const raw = { 'application/x-protobuf': { schema } };
  const responses = { 200: { description: 'Good.' } };
  const taking = (operationId: string, fields: object, types: object = content) => ({
    post: { operationId, requestBody: { content: types }, responses, ...fields },
  });
  const document = {
    openapi: '3.0.3',
    info: { title: 'Items', version: '1' },
    paths: {
      '/small': taking('small', { 'x-max-body-bytes': 200 }),
      '/reported': taking('reported', { 'x-max-body-bytes': 200, 'x-report-only': true }),
      '/raw': taking('raw', { 'x-max-body-bytes': 200, 'x-storegate-unchecked-body': true }, raw),
      '/large': taking('large', { 'x-max-body-bytes': 10_000 }),
      '/categories': { get: { operationId: 'listCategories', responses } },
    },
  };
  fixture = await Fixture.start({ document, settings: 'http: {maxBodyBytes: 1KiB}' });
});
afterAll(() => fixture.stop());

const JSON_TYPE = 'application/json';
const FORM = 'multipart/form-data; boundary=b';
const PROTOBUF = 'application/x-protobuf';

const head = (path: string, type: string, ...more: string[]) =>
  fixture.request(`POST ${path}`, [`Content-Type: ${type}`, ...more]);
const declared = (path: string, type: string, body: string) =>
  `${head(path, type, `Content-Length: ${body.length}`)}${body}`;
const chunked = (path: string, type: string, body: string) => {
  const chunks = (body.match(/.{1,50}/gs) ?? []).map(
    (chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`,
  );
  return `${head(path, type, 'Transfer-Encoding: chunked')}${chunks.join('')}0\r\n\r\n`;
};

function bodyOf(type: string, bytes: number): string {
  if (type === JSON_TYPE) return `"${'x'.repeat(bytes - 2)}"`;
  if (type === PROTOBUF) return '\0'.repeat(bytes);
  const form = (file: string) =>
    `--b\r\nContent-Disposition: form-data; name="photo"; filename="p"\r\n\r\n${file}\r\n--b--\r\n`;
  return form('x'.repeat(bytes - form('').length));
}

describe.each([
  ['/small', JSON_TYPE, 200],
  ['/small', FORM, 200],
  ['/reported', JSON_TYPE, 200],
  ['/raw', PROTOBUF, 200],
  ['/large', JSON_TYPE, 1024],
])('%s accepts of %s', (path, type, most) => {
  test.each([
    ['declared', declared],
    ['in chunks', chunked],
  ])(`%s, ${most} bytes and not one more`, async (_how, request) => {
    expect(await fixture.passed(request(path, type, bodyOf(type, most)))).toMatchObject({
      body: bodyOf(type, most),
    });
    const before = fixture.backend.requests.length;
    const refused = await fixture.refusesAndCloses(
      request(path, type, bodyOf(type, most + 1)),
      [413],
    );
    expect(JSON.parse(refused.body)).toEqual({
      code: 'payload_too_large',
      message: `The request body exceeds ${most} bytes. Send a smaller body.`,
      status: 413,
    });
    expect(fixture.backend.requests.slice(before)).toHaveLength(1);
  });
});
