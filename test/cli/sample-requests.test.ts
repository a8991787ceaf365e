import { describe, expect, test } from '@jest/globals';
import { done, head } from '../../packages/openapi/test/documents.ts';
import { firstSample, sampleRequests } from '../../src/cli/sample-requests.ts';
import { loadContract } from '../../src/config/contract/contract.ts';

const integer = { type: 'integer' };
const id = (more: object = {}) => ({
  name: 'id',
  in: 'path',
  required: true,
  schema: integer,
  ...more,
});
const get = (parameters: object[] = [], more: object = {}) => ({
  get: { responses: done, parameters, ...more },
});

function pathsOf(paths: object, more: object = {}, reading: object = {}): string[] {
  const text = JSON.stringify({ ...head, ...more, paths });
  const contract = loadContract(`${import.meta.dirname}/none.json`, { ...reading, text });
  return sampleRequests(contract).map(({ path }) => path);
}

test('takes the first three GET operations, those without path parameters first', () => {
  const paths = {
    '/a/{id}': get([id({ example: 1 })]),
    '/b': get(),
    '/c': get(),
    '/d': get(),
    '/e': get(),
  };
  expect(pathsOf(paths)).toEqual(['/b', '/c', '/d']);
  expect(pathsOf({ '/a/{id}': get([id({ example: 1 })]), '/b': get() })).toEqual(['/b', '/a/1']);
});

test('names a request by its summary, or by the id of its operation', () => {
  const paths = {
    '/a': get([], { summary: 'List things' }),
    '/b': get([], { operationId: 'listOthers' }),
  };
  const contract = loadContract(`${import.meta.dirname}/none.json`, {
    text: JSON.stringify({ ...head, paths }),
  });
  expect(sampleRequests(contract)).toEqual([
    { title: 'List things', path: '/a' },
    { title: 'listOthers', path: '/b' },
  ]);
});

describe('leaves out', () => {
  test.each<[string, object]>([
    ['methods other than GET', { post: { responses: done } }],
    ['deprecated operations', get([], { deprecated: true })],
    ['operations that cannot be tried', get([], { 'x-try-it': false })],
    ['operations that need a scope', get([], { 'x-required-scopes': ['admin'] })],
    [
      'operations with a required header',
      get([{ name: 'X-A', in: 'header', required: true, schema: integer }]),
    ],
    [
      'a required query parameter without an example',
      get([{ name: 'a', in: 'query', required: true, schema: integer }]),
    ],
  ])('%s', (_, item) => {
    expect(pathsOf({ '/a': item, '/b': get() })).toEqual(['/b']);
  });

  test.each([
    ['a path parameter without an example', {}],
    ['a path parameter whose example violates its schema', { example: 'seven' }],
  ])('%s', (_, more) => {
    expect(pathsOf({ '/a/{id}': get([id(more)]), '/b': get() })).toEqual(['/b']);
  });
});

describe('takes the value of a parameter from', () => {
  test.each<[string, object, object?]>([
    ['its example', { example: 7, schema: { type: 'integer', example: 8 } }],
    ['its examples', { examples: { first: { value: 7 } } }],
    ['a shared example', { examples: { first: { $ref: '#/components/examples/seven' } } }],
    ['the example of its schema', { schema: { type: 'integer', example: 7 } }],
    ['a shared schema', { schema: { $ref: '#/components/schemas/seven' } }],
    ['the default of its schema', { schema: { type: 'integer', default: 7 } }],
    ['the first value of its schema', { schema: { type: 'integer', enum: [7, 8] } }],
  ])('%s', (_, more) => {
    const components = {
      examples: { seven: { value: 7 } },
      schemas: { seven: { type: 'integer', example: 7 } },
    };
    expect(pathsOf({ '/a/{id}': get([id(more)]) }, { components })).toEqual(['/a/7']);
    const query = { ...id(more), in: 'query' };
    expect(
      pathsOf({ '/a': get([query]), '/b': get([{ ...query, required: false }]) }, { components }),
    ).toEqual(['/a?id=7', '/b']);
  });

  test('the operation rather than its path', () => {
    expect(
      pathsOf({ '/a/{id}': { parameters: [id({ example: 1 })], ...get([id({ example: 2 })]) } }),
    ).toEqual(['/a/2']);
  });
});

test('percent-encodes values, and writes every digit of an integer', () => {
  const name = (example: string) => id({ schema: { type: 'string' }, example });
  expect(pathsOf({ '/a/{id}': get([name('x y&é')]) })).toEqual(['/a/x%20y%26%C3%A9']);
  expect(pathsOf({ '/a/{id}': get([id({ example: '9007199254740993' })]) })).toEqual([
    '/a/9007199254740993',
  ]);
});

test('begins with the path of a server if the contract is read so', () => {
  const servers = [{ url: 'https://example.org/v1/' }];
  expect(pathsOf({ '/a': get() }, { servers }, { serverPath: 'prefix' })).toEqual(['/v1/a']);
  expect(pathsOf({ '/a': get() }, { servers }, { serverPath: 'ignore' })).toEqual(['/a']);
});

describe('the first sample', () => {
  const first = (paths: object) => {
    const text = JSON.stringify({ ...head, paths });
    const contract = loadContract(`${import.meta.dirname}/none.json`, { text });
    return firstSample(contract)?.path ?? null;
  };

  test('has values of the contract if one request has them', () => {
    expect(first({ '/a/{id}': get([id()]), '/b': get() })).toBe('/b');
    expect(first({ '/b/{id}': get([id()]), '/a/{id}': get([id({ example: 2 })]) })).toBe('/a/2');
  });

  test.each<[object, string | null]>([
    [{ type: 'integer' }, '1'],
    [{ type: 'integer', minimum: 5 }, '5'],
    [{ type: 'string' }, 'a'],
    [{ type: 'string', minLength: 3 }, 'aaa'],
    [{ type: 'string', format: 'uuid' }, '3fa85f64-5717-4562-b3fc-2c963f66afa6'],
    [{ type: 'string', format: 'date-time' }, '2026-01-31T12%3A00%3A00Z'],
    [{ type: 'boolean' }, 'true'],
    [{ type: 'string', pattern: '^b+$' }, null],
    [{ type: 'string', minLength: 1_000 }, null],
  ])('has an invented value otherwise, if it is valid: %j', (schema, value) => {
    expect(first({ '/a/{id}': get([id({ schema })]) })).toBe(value && `/a/${value}`);
  });

  test('is missing without a GET', () => {
    expect(first({ '/a': { post: { responses: done } } })).toBeNull();
  });
});
