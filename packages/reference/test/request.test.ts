import { describe, expect, test } from '@jest/globals';
import { loadContract } from '@storegate/openapi';
import fc from 'fast-check';
import { createApi } from '../src/browser/model/api.ts';
import {
  basicToken,
  credentialsOf,
  keyField,
  ownSchemes,
} from '../src/browser/model/credentials.ts';
import type { ApiDocument, Parameter, SchemaNode } from '../src/browser/model/document.ts';
import { type Draft, keyOf, requestOf } from '../src/browser/model/request.ts';
import { SNIPPETS } from '../src/browser/model/snippets.ts';

const NO_SECRETS = { headers: [], query: [], cookies: [] };
const EMPTY: Draft = { values: {}, mediaType: null, fields: {}, files: {}, text: '', accept: null };

const integer = { type: 'integer', format: 'int64' };
const list = { type: 'array', items: integer };
const texts = { type: 'array', items: { type: 'string' } };
const object = { type: 'object', properties: { a: integer, b: { type: 'string' } } };
const nested = {
  type: 'object',
  properties: { a: integer, list: texts, inner: { type: 'object', properties: { b: integer } } },
};

/** An operation with one parameter, and what the form sends for a text. */
function sent(parameter: Omit<Parameter, 'name'>, text: string) {
  const one = { name: 'p', required: parameter.in === 'path', ...parameter };
  const path = parameter.in === 'path' ? '/x/{p}' : '/x';
  const get = { operationId: 'x', parameters: [one], responses: { 200: { description: '' } } };
  const document = {
    openapi: '3.0.3',
    info: { title: 'x', version: '1' },
    paths: { [path]: { get } },
  };
  const api = createApi(document as ApiDocument);
  const [row] = api.rows.get('default')!;
  const draft = { ...EMPTY, values: { [keyOf(one)]: text } };
  const { url, headers, cookies } = requestOf(api, row!, '', draft, NO_SECRETS);
  const all = [...headers, ...cookies.map((cookie) => ['cookie', cookie] as const)];
  return { document, request: { method: 'GET', url, headers: Object.fromEntries(all) } };
}

const plain = fc
  .stringMatching(/^[a-zA-Z0-9äß€ %&=+?#"'/-]{1,8}$/)
  .map((text) => `x${text.trim()}`);
/** The gateway refuses delimiters in paths, encoded ones too. */
const segment = plain.map((text) => text.replace(/[#?/%]/g, '-'));
const numbers = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const lists = fc.array(numbers, { minLength: 1, maxLength: 3 });
const objects = fc.record({ a: numbers, b: plain });
const segments = fc.record({ a: numbers, b: segment });
const nests = fc.record({
  a: numbers,
  list: fc.array(plain, { minLength: 1, maxLength: 3 }),
  inner: fc.record({ b: numbers }),
});
const asJson = (value: unknown): string =>
  JSON.stringify(value, (_name, part) => (typeof part === 'bigint' ? `#${part}#` : part)).replace(
    /"#(-?\d+)#"/g,
    '$1',
  );
const asLines = (values: readonly unknown[]) => values.join('\n');

/** What the gateway reads, with numbers as bigints. */
const exact = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_name, part) => (typeof part === 'bigint' ? `${part}n` : part)),
    (_name, part) => (typeof part === 'number' ? `${part}n` : part),
  );

const QUERY = [
  { style: 'form', explode: true },
  { style: 'form', explode: false },
  { style: 'spaceDelimited', explode: false },
  { style: 'pipeDelimited', explode: false },
];
const PATH = [
  { style: 'simple', explode: false },
  { style: 'simple', explode: true },
  { style: 'label', explode: false },
  { style: 'label', explode: true },
];

const CASES: readonly (readonly [
  string,
  Omit<Parameter, 'name'>,
  fc.Arbitrary<unknown>,
  (value: never) => string,
])[] = [
  ...QUERY.map(
    (style) => ['a list', { in: 'query', schema: list, ...style }, lists, asLines] as const,
  ),
  ...QUERY.slice(0, 2).map(
    (style) => ['an object', { in: 'query', schema: object, ...style }, objects, asJson] as const,
  ),
  ['an object', { in: 'query', style: 'deepObject', schema: object }, objects, asJson],
  ['a nested object', { in: 'query', style: 'deepObject', schema: nested }, nests, asJson],
  ['a text', { in: 'query', schema: { type: 'string' } }, plain, String],
  ['a number', { in: 'query', schema: integer }, numbers, String],
  ['JSON', { in: 'query', content: { 'application/json': { schema: nested } } }, nests, asJson],
  ...PATH.map(
    (style) => ['a list', { in: 'path', schema: list, ...style }, lists, asLines] as const,
  ),
  ...PATH.slice(0, 2).map(
    (style) => ['an object', { in: 'path', schema: object, ...style }, segments, asJson] as const,
  ),
  ['a text', { in: 'path', schema: { type: 'string' } }, segment, String],
  ['a list', { in: 'header', schema: list }, lists, asLines],
  ['a number', { in: 'header', schema: integer }, numbers, String],
  ['a list', { in: 'cookie', schema: list, explode: false }, lists, asLines],
  ['a list', { in: 'cookie', schema: list, explode: true }, lists, asLines],
  ['a text', { in: 'cookie', schema: { type: 'string' } }, plain, String],
];

describe('what the form sends is what the gateway reads', () => {
  test.each(CASES)('%s in %j', (_what, parameter, values, write) => {
    const { document } = sent(parameter, '');
    const contract = loadContract(document as object);
    fc.assert(
      fc.property(values, (value) => {
        const { request } = sent(parameter, write(value as never));
        const { faults, values: read } = contract.validateRequest(request);
        expect(faults).toEqual([]);
        const place = parameter.in as 'query';
        expect(exact(read![place]!.p)).toEqual(exact(value));
      }),
    );
  });

  const fields = { id: integer, list: texts, owner: object, name: { type: 'string' } };
  const form = fc.record({
    id: numbers,
    list: fc.array(plain, { minLength: 1 }),
    owner: objects,
    name: plain,
  });

  test('in a form', () => {
    const type = 'application/x-www-form-urlencoded';
    const schema: SchemaNode = { type: 'object', properties: fields };
    const post = {
      requestBody: { content: { [type]: { schema } } },
      responses: { 200: { description: '' } },
    };
    const document = {
      openapi: '3.0.3',
      info: { title: 'x', version: '1' },
      paths: { '/x': { post } },
    };
    const contract = loadContract(document);
    const api = createApi(document as unknown as ApiDocument);
    const [row] = api.rows.get('default')!;
    fc.assert(
      fc.property(form, (value) => {
        const draft = {
          ...EMPTY,
          mediaType: type,
          fields: {
            id: String(value.id),
            list: asLines(value.list),
            owner: asJson(value.owner),
            name: value.name,
          },
        };
        const { url, headers, body } = requestOf(api, row!, '', draft, NO_SECRETS);
        const { faults, values } = contract.validateRequest({
          method: 'POST',
          url,
          headers: Object.fromEntries(headers),
          body: Buffer.from(body as string),
        });
        expect(faults).toEqual([]);
        expect(exact(values!.body)).toEqual(exact(value));
      }),
    );
  });
});

test('a reserved character stays as it is where the document allows it, unless it ends the value', () => {
  const parameter = { in: 'query', allowReserved: true, schema: { type: 'string' } };
  expect(sent(parameter, 'a/b?c:d&e#f+g').request.url).toBe('/x?p=a/b?c:d%26e%23f%2Bg');
});

test('an empty field is not sent, and JSON that is not valid is sent for the gateway to explain', () => {
  expect(sent({ in: 'query', schema: list }, '').request.url).toBe('/x');
  expect(sent({ in: 'query', schema: object }, '{"a":').request.url).toBe('/x?p=%7B%22a%22%3A');
});

describe('credentials', () => {
  const securitySchemes = {
    gatewayKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
    token: { type: 'http', scheme: 'Bearer' },
    login: { type: 'http', scheme: 'basic' },
    signed: { type: 'apiKey', in: 'query', name: 'sig' },
    session: { type: 'apiKey', in: 'cookie', name: 'sid' },
    oauth: { type: 'oauth2' },
    unused: { type: 'apiKey', in: 'header', name: 'X-Unused' },
  };
  const { unused: _, ...needed } = securitySchemes;
  const security = [Object.fromEntries(Object.keys(needed).map((name) => [name, []]))];
  const api = createApi({
    openapi: '3.1.0',
    info: {},
    security,
    components: { securitySchemes },
    paths: { '/x': { get: {} } },
  });
  const [row] = api.rows.get('default')!;

  test('of the API are asked for beside the key, where an operation needs them', () => {
    const names = (headers: readonly string[]) => [...ownSchemes(api, headers).keys()];
    expect(names(['X-API-Key'])).toEqual(['token', 'login', 'signed', 'session', 'oauth']);
    expect(names(['X-API-Key', 'Authorization'])).toEqual(['login', 'signed', 'session']);
  });

  test('go where their schemes say', () => {
    const schemes = ownSchemes(api, ['X-API-Key']);
    const of = (one: string) =>
      credentialsOf(schemes, api.schemes(row!), keyField(['X-API-Key'], 'k'), (name) =>
        name === one ? 'ü:1' : null,
      );
    const key = ['X-API-Key', 'k'];
    expect(of('token').headers).toEqual([key, ['Authorization', 'Bearer ü:1']]);
    expect(of('oauth').headers).toEqual([key, ['Authorization', 'Bearer ü:1']]);
    expect(of('login').headers).toEqual([key, ['Authorization', 'Basic ü:1']]);
    expect(basicToken('ü:1')).toBe('w7w6MQ==');
    expect(of('signed')).toMatchObject({ headers: [key], query: [['sig', 'ü:1']] });
    expect(of('session')).toMatchObject({ headers: [key], cookies: [['sid', 'ü:1']] });
  });

  test('send the key as a bearer token where the gateway takes no other header', () => {
    expect(keyField(['Authorization'], 'k')).toEqual(['Authorization', 'Bearer k']);
  });
});

describe('code', () => {
  const request = {
    method: 'POST',
    url: 'https://api.example/v1/pets?q=a%20b',
    headers: [['X-API-Key', "it's"]] as const,
    cookies: ['sid=1'],
    body: '{\n  "id": 9007199254740993\n}',
  };
  const file = new File(['x'], 'a b.png');
  const upload = {
    ...request,
    body: [
      ['name', 'T\n'],
      ['photo', file],
    ] as const,
  };

  test('in curl quotes what the shell would read, and keeps every digit', () => {
    expect(SNIPPETS.curl!(request)).toBe(`curl -X POST \\
  'https://api.example/v1/pets?q=a%20b' \\
  -H 'X-API-Key: it'\\''s' \\
  -H 'Cookie: sid=1' \\
  --data-raw '{
  "id": 9007199254740993
}'`);
    expect(SNIPPETS.curl!(upload)).toContain("-F 'photo=@a b.png'");
    expect(SNIPPETS.curl!({ ...request, method: 'HEAD', body: null })).toContain('curl --head ');
  });

  test('in JavaScript and Python has the body as one literal', () => {
    for (const language of ['JavaScript', 'Python']) {
      expect(SNIPPETS[language]!(request)).toContain('"{\\"id\\":9007199254740993}"');
      expect(SNIPPETS[language]!(request)).toContain('"X-API-Key": "it\'s"');
    }
  });

  test.each(['JavaScript', 'Python'])('in %s uploads files', (language) => {
    const code = SNIPPETS[language]!(upload);
    expect(code).toContain('"T\\n"');
    expect(code).toContain('"a b.png"');
    expect(SNIPPETS[language]!({ ...request, body: file })).toContain('"a b.png"');
  });
});
