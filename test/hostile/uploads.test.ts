import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Rule } from '@storegate/openapi';
import { Fixture, isAnError } from './fixture.ts';

const FORM = 'multipart/form-data; boundary=b0undary';
let fixture: Fixture;
beforeAll(async () => {
  const item = {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', maxLength: 8 },
      photo: { type: 'string', format: 'binary', maxLength: 600_000 },
      cover: {
        anyOf: [
          { type: 'string', format: 'binary', maxLength: 8 },
          {
            type: 'object',
            required: ['url'],
            properties: { url: { type: 'string' } },
            additionalProperties: false,
          },
        ],
      },
    },
    additionalProperties: false,
  };
  const content = {
    'multipart/form-data': { schema: item, encoding: { photo: { contentType: 'image/*' } } },
    'application/xml': { schema: { ...item, xml: { name: 'item' } } },
    'text/plain': { schema: { type: 'string', pattern: '^[a-zä]+$', maxLength: 8 } },
    'application/octet-stream': { schema: { type: 'string', format: 'binary', maxLength: 8 } },
  };
  const responses = { 200: { description: 'Good.' } };
  const document = {
    openapi: '3.0.3',
    info: { title: 'Items', version: '1' },
    paths: {
      '/items': {
        post: { operationId: 'makeItem', requestBody: { required: true, content }, responses },
      },
      '/raw': {
        post: {
          operationId: 'makeRaw',
          'x-storegate-unchecked-body': true,
          requestBody: { content: { 'application/x-protobuf': { schema: item } } },
          responses,
        },
      },
      '/categories': { get: { operationId: 'listCategories', responses } },
    },
  };
  fixture = await Fixture.start({ document, settings: 'http: {maxBodyBytes: 1MiB}' });
});
afterAll(() => fixture.stop());

/** `body` has one character per byte. */
const post = (type: string, body: string, path = '/items') =>
  fixture.request(
    `POST ${path}`,
    [`Content-Type: ${type}`, `Content-Length: ${body.length}`],
    body,
  );
const latin1 = (text: string) => Buffer.from(text).toString('latin1');
const send = (request: string) => fixture.ask(Buffer.from(request, 'latin1'));

const part = (headers: string, content: string) => `--b0undary\r\n${headers}\r\n\r\n${content}\r\n`;
const text = (name: string, content: string) =>
  part(`Content-Disposition: form-data; name="${name}"`, content);
const photo = (content: string, type = 'image/png') =>
  part(
    `Content-Disposition: form-data; name="photo"; filename="p.png"\r\nContent-Type: ${type}`,
    content,
  );
const cover = (content: string, more = '') =>
  part(`Content-Disposition: form-data; name="cover"${more}`, content);
const form = (...parts: string[]) => `${parts.join('')}--b0undary--\r\n`;

describe('the checked bytes of an upload are forwarded unchanged', () => {
  test.each<[what: string, type: string, body: string]>([
    ['a form', FORM, form(text('name', latin1('Tür')), photo('\x89PNG\r\n\x1a\n\0\xff'))],
    [
      'a form of half a megabyte',
      FORM,
      form(photo('\0\xff\r\n--b0undar'.repeat(40_000)), text('name', 'a')),
    ],
    ['an object that may be a file', FORM, form(text('name', 'a'), cover('{"url":"x"}'))],
    [
      'a form in another spelling',
      'Multipart/Form-Data;BOUNDARY="b0undary"',
      form(text('name', 'a')).slice(0, -2),
    ],
    ['XML', 'application/xml', '<?xml version="1.0"?>\n<item> <name>a&lt;b</name></item>\n'],
    ['text', 'text/plain', latin1('käse')],
    ['bytes', 'application/octet-stream', '\0\xff\r\n\r\n'],
  ])('%s', async (_what, type, body) => {
    const before = fixture.backend.requests.length;
    expect(await send(post(type, body))).toMatchObject({ status: 200 });
    expect(fixture.backend.requests.slice(before)).toMatchObject([
      { line: 'POST /items HTTP/1.1', body },
    ]);
    expect(fixture.backend.complaints).toEqual([]);
  });

  test('and bytes that cannot be checked, if the contract allows them', async () => {
    const before = fixture.backend.requests.length;
    expect(await send(post('application/x-protobuf', '\x08\x96\x01', '/raw'))).toMatchObject({
      status: 200,
    });
    expect(fixture.backend.requests.slice(before)).toMatchObject([{ body: '\x08\x96\x01' }]);
  });
});

describe('an invalid or ambiguous upload never reaches the backend', () => {
  const good = form(text('name', 'a'));
  test.each<[what: string, type: string, body: string, pointer: string, rule: Rule]>([
    [
      'a file of another type',
      FORM,
      form(text('name', 'a'), photo('x', 'text/html')),
      '/photo',
      'mediaType',
    ],
    ['a part twice', FORM, form(text('name', 'a'), text('name', 'b')), '/name', 'repeated'],
    ['no end', FORM, good.slice(0, -6), '', 'syntax'],
    [
      'XML with a DTD',
      'application/xml',
      '<!DOCTYPE item [<!ENTITY x SYSTEM "file:///etc/passwd">]><item><name>&x;</name></item>',
      '',
      'syntax',
    ],
    ['text that does not match', 'text/plain', 'A', '', 'pattern'],
    ['too many bytes', 'application/octet-stream', '123456789', '', 'maxLength'],
  ])('%s', async (_what, type, body, pointer, rule) => {
    const before = fixture.backend.requests.length;
    const response = await send(post(type, body));
    expect(response).toMatchObject({ status: 400, code: 'invalid_request' });
    isAnError(response);
    const { limit: _limit, ...fault } = JSON.parse(response.body).details[0];
    expect(fault).toEqual({ in: 'body', pointer, message: expect.any(String), rule });
    await fixture.isUnharmed(before);
  });

  test.each(['multipart/mixed; boundary=b0undary', 'application/x-protobuf'])(
    'and %s is 415',
    async (type) => {
      const before = fixture.backend.requests.length;
      expect(await send(post(type, form(text('name', 'a'))))).toMatchObject({ status: 415 });
      await fixture.isUnharmed(before);
    },
  );
});

test('a refusal of an upload contains nothing of it', async () => {
  const secret = 'VERYPRIVATE';
  const bodies: [type: string, body: string][] = [
    [
      FORM,
      form(
        text('name', secret),
        part(
          `Content-Disposition: form-data; name="photo"; filename="${secret}"\r\nX-Y: ${secret}`,
          secret,
        ),
      ),
    ],
    [FORM, form(part(`Content-Disposition: form-data; name="name"; ${secret}=1`, secret))],
    ['application/xml', `<item><name>${secret}</name><photo>${secret}${secret}</photo></item>`],
    ['application/xml', `<item><name ${secret}="${secret}">${secret}</name></item>`],
    ['application/xml', `<item><name>&${secret};</name></item>`],
    ['text/plain', secret],
  ];
  for (const [type, body] of bodies) {
    const response = await send(post(type, body));
    expect(response.status).toBe(400);
    expect(response.body).not.toContain(secret);
  }
  expect(JSON.stringify(fixture.gateway.log)).not.toContain(secret);
});
