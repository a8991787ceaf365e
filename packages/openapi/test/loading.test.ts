import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import { Places } from '../src/document/places.ts';
import { readSource } from '../src/document/source.ts';
import { ContractError, loadContract } from '../src/index.ts';
import {
  checker,
  done,
  head,
  load,
  loadText,
  notesOf,
  only,
  problemsOf,
  ref,
} from './documents.ts';

const folder = fileURLToPath(new URL('broken/', import.meta.url));

/** Each broken document begins with its expected messages, one line for each mistake. */
describe.each(readdirSync(folder).filter((name) => name.endsWith('.yaml')))('%s', (name) => {
  test('is refused with every mistake in it', () => {
    const text = readFileSync(folder + name, 'utf8');
    const expected = text
      .split('\n')
      .filter((line) => line.startsWith('# '))
      .map((line) => line.slice(2));
    expect(expected).not.toEqual([]);
    expect(() => loadContract(folder + name)).toThrow(ContractError);
    try {
      loadContract(folder + name);
    } catch (error) {
      expect((error as Error).message.replaceAll(folder, '').split('\n')).toEqual(expected);
    }
  });
});

test('a text that is not YAML is refused', () => {
  expect(problemsOf(() => loadText('openapi: 3.0.3\npaths: { /pets: [ }\n'))).toEqual([
    '2:19: Flow sequence in block collection must be sufficiently indented and end with a ]',
    '2:20: Flow map in block collection must be sufficiently indented and end with a }',
  ]);
  expect(problemsOf(() => loadText('openapi: 3.0.3\nopenapi: 3.0.3\n'))).toEqual([
    '2:1: Map keys must be unique',
  ]);
  expect(problemsOf(() => loadText(''))).toEqual(['1:1: is not an OpenAPI document']);
});

test('a file that is not there is refused', () => {
  expect(() => loadContract(`${folder}nowhere.yaml`)).toThrow(
    new ContractError([
      { file: `${folder}nowhere.yaml`, place: '', message: 'cannot be read (ENOENT)' },
    ]),
  );
});

test('problems say file, place and message', () => {
  try {
    loadContract(`${folder}templates.yaml`);
  } catch (error) {
    expect((error as ContractError).problems[0]).toEqual({
      file: `${folder}templates.yaml`,
      place: '6:3 /paths/pets',
      message: 'the path pets must begin with /',
    });
  }
  expect.assertions(1);
});

describe('aliases of YAML', () => {
  const root = (text: string) => readSource({ file: 'openapi.yaml', text }, new Places()).root;

  test('mean the last anchor of that name before them', () => {
    expect(root('{ a: &x { b: &x 1, c: *x }, d: *x, &x e: *x, f: &x [2], g: *x }')).toEqual({
      a: { b: 1, c: 1 },
      d: 1,
      e: 'e',
      f: [2],
      g: [2],
    });
  });

  const own = '{ z: 0, x: 9 }';

  test.each<[what: string, map: string, expected: object]>([
    ['one map', '{ <<: *a, y: 2 }', { x: 1, y: 2 }],
    ['members of their own before and after it', '{ x: 5, <<: *a, y: 2 }', { x: 5, y: 2 }],
    ['members of their own after it', '{ <<: *a, x: 5 }', { x: 5 }],
    ['several maps, of which the first has precedence', `{ <<: [*a, ${own}] }`, { x: 1, z: 0 }],
    ['a map that is written in place', `{ <<: ${own} }`, { z: 0, x: 9 }],
    ['a map that merges another one', '{ <<: *b }', { x: 1, w: 3 }],
    ['an empty list', '{ <<: [], y: 1 }', { y: 1 }],
    ['a map by a tag', '{ !!merge <<: *a, y: 2 }', { x: 1, y: 2 }],
    ['a map by a long tag', '{ !<tag:yaml.org,2002:merge> <<: *a }', { x: 1 }],
    ['nothing, because a name in quotes is a name', '{ "<<": *a, y: 2 }', { '<<': { x: 1 }, y: 2 }],
  ])('are merged by the merge key: %s', (_what, map, expected) => {
    const text = `a: &a { x: 1 }\nb: &b { <<: *a, w: 3 }\nc: ${map}\n`;
    expect((root(text) as { c: object }).c).toEqual(expected);
    expect(parse(text, { merge: true }).c).toEqual(expected);
  });

  test.each(['1', '[1]', '"*a"', '', '[[]]'])('are not merged from %s', (value) => {
    expect(() => root(`a: { <<: ${value} }`)).toThrow(
      'the merge key << must have a map or a list of maps',
    );
  });

  test('keep the places of merged members', () => {
    const places = new Places();
    const text = 'a: &a\n  x: 1\nb:\n  <<: *a\n  y: 1\n';
    const { b } = readSource({ file: 'openapi.yaml', text }, places).root as { b: object };
    expect(['x', 'y', 'z'].map((key) => places.of(b, key, '').place)).toEqual([
      '2:3 /b/x',
      '5:3 /b/y',
      '4:3 /b/z',
    ]);
  });

  test('take a time that grows with the file: 2,000 of them and of anchors are read', () => {
    const lines = Array.from(
      { length: 2_000 },
      (_, i) => `- { anchor: &a${i} { i: ${i} }, alias: *a${i} }`,
    );
    const entries = root(lines.join('\n')) as { anchor: object; alias: object }[];
    expect(entries).toHaveLength(2_000);
    expect(entries.every(({ anchor, alias }) => anchor === alias)).toBe(true);
  });
});

test('responses that several operations merge hold for each of them', () => {
  const text = `
openapi: 3.0.3
info: { title: Merged, version: '1' }
x-errors: &errors { 400: { description: Invalid. }, 401: { description: No key. } }
paths:
  /a: { get: { operationId: a, responses: { 200: { description: Done. }, <<: *errors } } }
  /b: { get: { operationId: b, responses: { <<: *errors, 400: { description: Other. } } } }
`;
  const contract = loadText(text);
  const allowed = contract.operations.map((operation) =>
    [200, 400, 401].filter(
      (status) => operation.checkResponse(status, undefined, Buffer.alloc(0)).length === 0,
    ),
  );
  expect(allowed).toEqual([
    [200, 400, 401],
    [400, 401],
  ]);
  expect(contract.json).toContain('Other.');
  expect(contract.json).not.toContain('<<');
});

test('JSON documents load as well, with their places', () => {
  const text = JSON.stringify(
    { ...head, paths: { '/': { get: { operationId: 'a', responses: done } } } },
    null,
    '\t',
  );
  expect(only(loadText(text, {}, 'openapi.json')).id).toBe('a');
  const broken = text.replace('"responses"', '"reponses"');
  expect(problemsOf(() => loadText(broken, {}, 'openapi.json'))).toEqual([
    expect.stringMatching(/^9:11 \/paths\/~1\/get: an operation needs responses$/),
  ]);
});

test.each(['3.0.0', '3.0.1', '3.0.3', '3.0.4', '3.0.3-rc1'])('OpenAPI %s is taken', (openapi) => {
  expect(loadText(JSON.stringify({ ...head, openapi, paths: {} })).operations).toEqual([]);
});

test('a document without any of our own fields loads', () => {
  const text = `
openapi: 3.0.0
info: { title: Plain, version: '2' }
servers: [{ url: 'https://example.org/v1' }]
paths:
  /pets:
    get:
      responses: { default: { description: Anything. } }
`;
  const contract = loadText(text, { serverPath: 'ignore' });
  expect([contract.title, contract.version]).toEqual(['Plain', '2']);
  expect(contract.match('GET', '/pets').operation?.id).toBe('get /pets');
  expect(contract.notes.map(({ place, message }) => `${place}: ${message}`)).toEqual([
    '4:13 /servers/0/url: the path /v1 of a server is not a part of the paths here',
    '8:7 /paths/~1pets/get: the operation has no operationId: it is called get /pets',
  ]);
});

test.each<[string, readonly string[]]>([
  ['[]', ['']],
  ["[{ url: '/' }]", ['']],
  ["[{ url: 'https://a.example/v1' }]", ['/v1']],
  ["[{ url: 'https://a.example/v1/' }, { url: /v1 }]", ['/v1']],
  ['[{ url: v1 }]', ['/v1']],
  ["[{ url: 'https://a.example/{v}', variables: { v: { default: v1 } } }]", ['/v1']],
  ["[{ url: 'https://a.example/v1' }, { url: 'https://b.example/v2' }]", ['']],
  ["[{ url: 'https://a.example/v1' }, { url: 'https://b.example' }]", ['']],
  ["[{ url: 'https://a.example/{v}' }]", ['']],
  ["[{ url: 'https://a.example/../v1' }]", ['']],
  ["[{ url: 'https://a.example/a%20b' }]", ['']],
  ["[{ url: 'https://a.example//v1' }]", ['']],
])('by default paths begin with the plain path that all servers share: %s', (servers, prefixes) => {
  const contract = loadText(
    `{ openapi: 3.0.3, info: { title: A, version: '1' }, paths: {}, servers: ${servers} }`,
  );
  expect(contract.prefixes).toEqual(prefixes);
});

describe('where requests carry the path of a server', () => {
  const text = (servers: string) => `
openapi: 3.0.3
info: { title: Based, version: '2' }
servers: ${servers}
paths:
  /: { get: { operationId: root, responses: { default: { description: Anything. } } } }
  /pets: { get: { operationId: pets, x-successor: root, responses: { default: { description: Anything. } } } }
`;
  const based = (servers: string) => loadText(text(servers), { serverPath: 'prefix' });
  const v1 = "[{ url: 'https://example.org/v1/' }]";
  const variables = '{ base: { default: v2 } }';
  const several = `[{ url: '/api' }, { url: 'https://{host}/{base}/x', variables: ${variables} }, { url: '' }]`;

  test.each<[servers: string, found: Readonly<Record<string, string | null>>]>([
    [
      v1,
      {
        '/v1/pets': 'pets',
        '/v1/': 'root',
        '/v1': null,
        '/pets': null,
        '/v11/pets': null,
        '/v1/v1/pets': null,
      },
    ],
    [several, { '/api/pets': 'pets', '/v2/x/pets': 'pets', '/pets': 'pets', '/x/pets': null }],
    ['[]', { '/pets': 'pets' }],
  ])('their paths begin with it, or with that of another server: %s', (servers, found) => {
    const contract = based(servers);
    for (const [path, id] of Object.entries(found))
      expect([path, contract.match('GET', path).operation?.id ?? null]).toEqual([path, id]);
  });

  test('links have it too', () => {
    const contract = based(v1);
    expect(contract.notes).toEqual([]);
    expect(contract.match('GET', '/pets')).toEqual({ operation: null, allow: null });
    expect(contract.operations[1]!.replyHeaders).toEqual([
      'Link',
      '</v1/>; rel="successor-version"',
    ]);
  });
});

test('fields that OpenAPI does not know are noted, extensions are not', () => {
  const contract = load({
    '/': {
      get: {
        operationId: 'a',
        respones: {},
        'x-mine': 1,
        responses: { 200: { description: 'Done.', contents: {} }, 'x-a': 1 },
      },
    },
    'x-paths': 1,
  });
  expect(notesOf(contract)).toEqual([
    'respones is not a field that OpenAPI 3.0 has here: it is ignored',
    'contents is not a field that OpenAPI 3.0 has here: it is ignored',
  ]);
});

test('two spellings of one path are one path if no method is in both', () => {
  const id = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'integer' } });
  const contract = load({
    '/a/{x}': { get: { operationId: 'a', parameters: [id('x')], responses: done } },
    '/a/{y}': { put: { operationId: 'b', parameters: [id('y')], responses: done } },
    '/a/{z}': { head: { operationId: 'c', parameters: [id('z')], responses: done } },
  });
  const found = ['GET', 'PUT', 'HEAD'].map((method) => contract.match(method, '/a/x').operation!);
  expect(found.map(({ path }) => path)).toEqual(['/a/{x}', '/a/{y}', '/a/{z}']);
  expect(found.map((operation) => operation.checkParameters(['x'], '', [])[0]!.pointer)).toEqual([
    '/x',
    '/y',
    '/z',
  ]);
  expect(contract.match('POST', '/a/1')).toEqual({
    operation: null,
    allow: ['GET', 'PUT', 'HEAD'],
  });
  expect(notesOf(contract)).toEqual([
    'is one path with /a/{x}, which has other methods',
    'is one path with /a/{x}, which has other methods',
  ]);
});

test('YAML anchors mean what they stand for', () => {
  const text = `
openapi: 3.0.3
info: { title: Anchors, version: '1' }
x-id: &id { name: id, in: query, schema: &int { type: integer } }
paths:
  /a: { get: { operationId: a, parameters: [*id], responses: &done { 200: { description: Done. } } } }
  /b: { get: { operationId: b, parameters: [{ name: q, in: query, schema: *int }], responses: *done } }
`;
  const contract = loadText(text);
  expect(
    contract.operations.map((operation) => operation.checkParameters([], 'id=x&q=y', []).length),
  ).toEqual([2, 2]);
});

test('the text of the document keeps every digit', () => {
  const text = JSON.stringify({
    ...head,
    paths: {},
    components: { schemas: { A: { type: 'integer' } } },
  });
  const contract = loadText(
    text.replace('"integer"', '"integer","maximum":9223372036854775807,"minimum":-1.5'),
  );
  expect(contract.json).toContain('"maximum": 9223372036854775807');
  expect(JSON.parse(contract.json)).toEqual(
    JSON.parse(
      JSON.stringify(contract.document, (_, v) => (typeof v === 'bigint' ? Number(v) : v)),
    ),
  );
  expect(loadText(contract.json).json).toBe(contract.json);
});

test('a path without operations does not match', () => {
  expect(load({ '/': {} }).match('GET', '/')).toEqual({ operation: null, allow: null });
});

test('path items may be shared', () => {
  const contract = load({
    '/a': { get: { operationId: 'a', responses: done } },
    '/b': { $ref: '#/paths/~1c' },
    '/c': { get: { responses: done } },
  });
  expect(contract.match('GET', '/b').operation?.id).toBe('get /b');
  expect(contract.match('GET', '/c').operation?.id).toBe('get /c');
});

const everything = parse(
  readFileSync(join(import.meta.dirname, 'fixtures/everything.yaml'), 'utf8'),
);

function waysInto(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    [key],
    ...waysInto(member).map((way) => [key, ...way]),
  ]);
}

test('a document with a bit of everything loads', () => {
  expect(loadText(JSON.stringify(everything)).operations).toHaveLength(1);
});

test('a document that is wrong anywhere is refused with a place, or loads', () => {
  const ways = waysInto(everything);
  const refs = [7, '#/components/schemas/Kind', '#/paths', '#'].map(($ref) => ({ $ref }));
  const plain = [null, 7, -1, '', 'text', true, '{', '/{x}', '../x'];
  const lists = [[], [null], [[]], [{}], ['x', 'x']];
  const objects = [{}, { a: null }, { type: 'object' }, { oneOf: [7] }];
  const junk = fc.constantFrom<unknown>(...refs, ...plain, ...lists, ...objects);
  fc.assert(
    fc.property(fc.constantFrom(...ways), junk, (way, value) => {
      const document = structuredClone(everything) as never as Record<string, never>;
      const last = way.at(-1)!;
      const parent = way.slice(0, -1).reduce((at, key) => at[key]!, document);
      parent[last] = value as never;
      for (const problem of problemsOf(() => loadText(JSON.stringify(document))))
        expect(problem).toMatch(/^\d+:\d+.*: ./);
    }),
    { numRuns: 200 },
  );
});

test.each([
  ['and to others in lists', 100, 7],
  ['in a long chain', 2_000, 0],
])('schemas may refer to each other %s', (_what, count, step) => {
  const at = (i: number) => ref(`S${i % count}`);
  const link = (i: number) => ({
    type: 'object',
    properties: {
      next: at(i + 1),
      ...(step > 0 && { list: { type: 'array', items: at(i * step) } }),
    },
  });
  const schemas = Object.fromEntries(Array.from({ length: count }, (_, i) => [`S${i}`, link(i)]));
  const check = checker(ref('S0'), schemas);
  expect(check('{"next":{"next":{"list":[{}],"next":{}}}}')).toEqual([]);
  expect(check('{"next":{"next":{"next":1}}}')).toEqual(['/next/next/next must be an object']);
});
