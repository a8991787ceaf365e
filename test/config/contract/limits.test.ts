import { describe, expect, test } from '@jest/globals';
import { atOnce, type Reading, serialize, toJson } from '@storegate/openapi';
import { done, head, problemsOf } from '../../../packages/openapi/test/documents.ts';
import { checkContract, deserialize, loadContract } from '../../../src/config/contract/contract.ts';
import { NO_SCOPES } from '../../../src/limits/scopes.ts';

type Json = Record<string, unknown>;

const get = (fields: Json) => ({ get: { responses: done, ...fields } });
const loadText = (text: string, options?: Reading) =>
  loadContract(`${import.meta.dirname}/none.json`, { ...options, text });
const documentOf = (paths: Json, tags: unknown = []) => toJson({ ...head, tags, paths }, 1);
const loaded = (paths: Json, tags: unknown = [], options?: Reading) =>
  loadText(documentOf(paths, tags), options);
const problemsIn = (paths: Json, tags: unknown = []) => problemsOf(() => loaded(paths, tags));

const SHOP = {
  '/login': {
    post: { operationId: 'login', responses: done, 'x-ratelimit': '5/minute,20/day:sliding' },
  },
  '/a': get({ operationId: 'a', tags: ['search', 'other'] }),
  '/b': get({ operationId: 'b', tags: ['search'], 'x-ratelimit': [{ limit: 2, per: '10s' }] }),
  '/c': get({ operationId: 'c', tags: ['search'] }),
  '/d': get({}),
};
const TAGS = [{ name: 'search', 'x-ratelimit': '30/minute' }, { name: 'other' }];

test('operations and tags have windows with scopes; operations name the windows in which they count', () => {
  const { windows, operations } = loaded(SHOP, TAGS);
  expect(windows).toEqual([
    { name: 'minute', kind: 'fixed', limit: 5, span: 60_000, scope: 'login' },
    { name: 'day', kind: 'sliding', limit: 20, span: 86_400_000, scope: 'login' },
    { name: '10s', kind: 'fixed', limit: 2, span: 10_000, scope: 'b' },
    { name: 'minute', kind: 'fixed', limit: 30, span: 60_000, scope: 'tag:search' },
  ]);
  expect(Object.fromEntries(operations.map(({ id, scopes }) => [id, scopes]))).toEqual({
    login: ['login'],
    a: ['tag:search'],
    b: ['b', 'tag:search'],
    c: ['tag:search'],
    'get /d': [],
  });
});

test('another process that loads the contract has the same windows, and shares equal lists', () => {
  const file = `${import.meta.dirname}/none.json`;
  const { compiled } = checkContract(file, { text: documentOf(SHOP, TAGS) });
  const contract = atOnce(deserialize(structuredClone(serialize(compiled))));
  expect(contract.windows).toEqual(compiled.shared.windows);
  const scopes = (path: string) => contract.match('GET', path).operation!.scopes;
  expect(scopes('/a')).toBe(scopes('/c'));
  expect(scopes('/d')).toBe(NO_SCOPES);
});

test('an operation without an operationId counts by method and path, and is never confused with a tag', () => {
  const { windows } = loaded(
    {
      '/a/{b}': get({ 'x-ratelimit': '1/day', parameters: [path('b')] }),
      '/t': get({ operationId: 'tag:x', tags: ['x'], 'x-ratelimit': '1/day' }),
    },
    [{ name: 'x', 'x-ratelimit': '2/day' }],
  );
  expect(windows.map(({ scope }) => scope)).toEqual(['get%20%2Fa%2F%7Bb%7D', 'tag%3Ax', 'tag:x']);
});

const path = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } });

test('an operation costs one unit, or its x-ratelimit-cost', () => {
  const { operations } = loaded({
    '/a': get({}),
    '/b': get({ 'x-ratelimit-cost': 0 }),
    '/c': get({ 'x-ratelimit-cost': 7 }),
  });
  expect(operations.map(({ cost }) => cost)).toEqual([1, 0, 7]);
});

test.each([-1, 1.5, '2', 9007199254740993n, null, 'free'])(
  'x-ratelimit-cost: %p is refused',
  (cost) => {
    expect(problemsIn({ '/a': get({ 'x-ratelimit-cost': cost }) })).toEqual([
      expect.stringContaining('/paths/~1a/get/x-ratelimit-cost: must be a whole number, 0 or more'),
    ]);
  },
);

describe('mistakes', () => {
  test.each<[name: string, value: unknown, message: string]>([
    [
      'no windows',
      5,
      'must be windows such as 5/minute,100/day or a list of {limit, per, kind, zone, anchor}',
    ],
    ['another form', '5 a minute', 'must look like 5/minute or 10/10s:sliding'],
    ['an empty list', [], 'must be one to 16 windows'],
    ['an API', '5/minute@notes', 'counts requests to its own operations, so it cannot name an API'],
    ['no limit', [{ per: 'minute' }], 'must have a limit from 1 to 1000000000000'],
    ['a limit of 0', '0/minute', 'must have a limit from 1 to 1000000000000'],
    ['an unknown kind', '5/minute:leaky', 'must be one of fixed, sliding, calendar'],
    [
      'an unknown span',
      '5/fortnight',
      'must have a span: fortnight is not second, minute, hour, day or a duration such as 10s, or week or month of kind calendar',
    ],
    ['a span twice', '5/minute,6/60s', 'must have each span once: 60s is given twice (window 2)'],
    [
      'more members',
      [{ limit: 5, per: 'day', of: 'x' }],
      'must have no other members than limit, per, kind, zone, anchor, enforce and overage',
    ],
  ])('%s', (_name, value, message) => {
    expect(problemsIn({ '/a': get({ operationId: 'a', 'x-ratelimit': value }) })).toEqual([
      expect.stringMatching(
        new RegExp(`^\\d+:\\d+ /paths/~1a/get/x-ratelimit: ${literally(message)}$`),
      ),
    ]);
    expect(
      problemsIn({ '/a': get({ operationId: 'a', tags: ['t'] }) }, [
        { name: 't', 'x-ratelimit': value },
      ]),
    ).toEqual([
      expect.stringMatching(new RegExp(`^\\d+:\\d+ /tags/0/x-ratelimit: ${literally(message)}$`)),
    ]);
  });

  test('a cost that no window of the operation or its tag can admit', () => {
    const paths = {
      '/a': get({ operationId: 'a', tags: ['t'], 'x-ratelimit-cost': 6, 'x-ratelimit': '6/day' }),
    };
    expect(problemsIn(paths, [{ name: 't', 'x-ratelimit': '5/minute' }])).toEqual([
      expect.stringMatching(
        /get\/x-ratelimit-cost: 6 is more than 5 per minute, which x-ratelimit allows: no request/,
      ),
    ]);
    expect(loaded(paths, [{ name: 't', 'x-ratelimit': '6/minute' }]).windows).toHaveLength(2);
  });

  test('more windows than a client can have', () => {
    const paths = Object.fromEntries(
      Array.from({ length: 17 }, (_, i) => [
        `/p${i}`,
        get({ operationId: `p${i}`, 'x-ratelimit': '1/day' }),
      ]),
    );
    expect(problemsIn(paths)).toEqual([
      expect.stringContaining('/paths/~1p16/get/x-ratelimit: a contract has at most 16'),
    ]);
  });

  test('a tag twice, one without a name, and names too long for a header', () => {
    const tags = [
      { name: 't', 'x-ratelimit': '1/day' },
      { name: 't', 'x-ratelimit': '2/day' },
      { 'x-ratelimit': '1/day' },
    ];
    const long = 'a'.repeat(300);
    expect(
      problemsIn({ '/a': get({ operationId: long, tags: ['t'], 'x-ratelimit': '1/day' }) }, tags),
    ).toEqual([
      expect.stringContaining('/tags/1/x-ratelimit: the tag t has limits already'),
      expect.stringContaining('/tags/2/x-ratelimit: limits need a tag with a name'),
      expect.stringContaining('/paths/~1a/get/x-ratelimit: needs a shorter name to count for'),
    ]);
  });

  test('a tag without operations is noted, and counts nothing', () => {
    const { notes, windows } = loaded({ '/a': get({ operationId: 'a' }) }, [
      { name: 't', 'x-ratelimit': '1/day' },
    ]);
    expect(notes.map(({ message }) => message)).toEqual([
      'has no effect: no operation has this tag',
    ]);
    expect(windows).toEqual([]);
  });

  const limit = { 'x-ratelimit': '5/minute' };
  const item = get({ operationId: 'a' });
  test.each<[what: string, place: string, document: object]>([
    ['the document', '', { ...limit, paths: { '/a': item } }],
    ['a path', '/paths/~1a', { paths: { '/a': { ...item, ...limit } } }],
  ])('limits on %s apply to no request, so they are refused', (_what, place, document) => {
    for (const leniency of ['refuse', 'pass', 'omit'] as const)
      expect(
        problemsOf(() =>
          loadText(JSON.stringify({ ...head, ...document }), { onUnsupported: leniency }),
        ),
      ).toEqual([expect.stringContaining(`${place}/x-ratelimit: has no effect here`)]);
  });

  test('are never tolerated', () => {
    const paths = { '/a': get({ operationId: 'a', tags: ['t'] }) };
    const tags = [{ name: 't', 'x-ratelimit': 'x' }];
    for (const reading of [
      { responses: 'off' },
      { onUnsupported: 'pass' },
      { onUnsupported: 'omit' },
    ] as const)
      expect(problemsOf(() => loaded(paths, tags, reading))).toHaveLength(1);
  });
});

test('an operation that is skipped for its mistakes has no windows', () => {
  const paths = {
    '/a': get({ operationId: 'a', tags: ['t'], 'x-ratelimit': '5/minute', 'x-try-it': 'maybe' }),
    '/b': get({ operationId: 'b', 'x-ratelimit': '6/minute' }),
  };
  const windowsUnder = (leniency: 'omit' | 'pass') =>
    loaded(paths, [{ name: 't', 'x-ratelimit': '1/day' }], { onUnsupported: leniency }).windows.map(
      ({ scope }) => scope,
    );
  expect(windowsUnder('omit')).toEqual(['b']);
  expect(windowsUnder('pass')).toEqual(['a', 'b', 'tag:t']);
});

const literally = (text: string) => text.replace(/[{}.*+?()[\]^$|\\]/g, '\\$&');
