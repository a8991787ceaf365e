import { describe, expect, test } from '@jest/globals';
import { done, head, load, loadText, only, problemsOf } from './documents.ts';

const contractOf = (fields: object) =>
  load({
    '/pets/{id}': {
      get: {
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        responses: done,
        ...fields,
      },
    },
    '/new': { get: { operationId: 'list', responses: done } },
    '/new/{id}': {
      get: {
        operationId: 'one',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        responses: done,
      },
    },
  });

test('an operation that says nothing costs one unit, is stable and may be tried', () => {
  expect(only(contractOf({}))).toMatchObject({
    id: 'get /pets/{id}',
    method: 'GET',
    path: '/pets/{id}',
    summary: '',
    tags: [],
    cost: 1,
    stability: 'stable',
    deprecated: false,
    deprecatedAt: null,
    sunset: null,
    successor: null,
    reportOnly: false,
    uncheckedBody: false,
    maxBodyBytes: null,
    requiredScopes: [],
    tryIt: true,
    replyHeaders: [],
    body: null,
  });
});

test('an operation is what it says', () => {
  const operation = only(
    contractOf({
      operationId: 'getPet',
      summary: 'Get one pet',
      tags: ['Pets'],
      deprecated: true,
      'x-ratelimit-cost': 0,
      'x-stability-level': 'beta',
      'x-deprecated-at': '2026-10-01',
      'x-sunset': '2027-10-01T02:00:00+02:00',
      'x-successor': 'list',
      'x-required-scopes': ['pets:write', 'https://example.org/a?b=c'],
      'x-try-it': false,
    }),
  );
  expect(operation).toMatchObject({
    id: 'getPet',
    summary: 'Get one pet',
    tags: ['Pets'],
    cost: 0,
    stability: 'beta',
    deprecated: true,
    deprecatedAt: 1790812800,
    sunset: 1822348800,
    successor: 'list',
    requiredScopes: ['pets:write', 'https://example.org/a?b=c'],
    tryIt: false,
  });
  expect(operation.replyHeaders).toEqual([
    'Deprecation',
    '@1790812800',
    'Sunset',
    'Fri, 01 Oct 2027 00:00:00 GMT',
    'Link',
    '</new>; rel="successor-version"',
    'X-Stability-Level',
    'beta',
  ]);
});

test('a successor with templates in its path is linked by a template', () => {
  expect(only(contractOf({ 'x-successor': 'one' })).replyHeaders).toEqual([
    'Link-Template',
    '"/new/{id}"; rel="successor-version"',
  ]);
});

test.each([
  ['x-ratelimit-cost', -1, 'must be a whole number, 0 or more'],
  ['x-ratelimit-cost', 1.5, 'must be a whole number, 0 or more'],
  ['x-ratelimit-cost', '2', 'must be a whole number, 0 or more'],
  ['x-ratelimit-cost', 9007199254740993n, 'must be a whole number, 0 or more'],
  ['x-ratelimit-cost', null, 'must be a whole number, 0 or more'],
  ['x-stability-level', 'alpha', 'must be stable, beta, experimental'],
  ['x-deprecated-at', '2026-02-30', 'must be a date (2027-01-31) or a date and time (2027-01-31T12:00:00Z)'],
  ['x-sunset', 20271001, 'must be a date (2027-01-31) or a date and time (2027-01-31T12:00:00Z)'],
  ['x-sunset', 'tomorrow', 'must be a date (2027-01-31) or a date and time (2027-01-31T12:00:00Z)'],
  ['x-successor', 'nobody', 'there is no operation nobody'],
  ['x-successor', 7, 'must be an operationId'],
  ['x-max-body-bytes', 0, 'must be a whole number of bytes, 1 or more'],
  ['x-max-body-bytes', -1, 'must be a whole number of bytes, 1 or more'],
  ['x-max-body-bytes', 1.5, 'must be a whole number of bytes, 1 or more'],
  ['x-max-body-bytes', '1MiB', 'must be a whole number of bytes, 1 or more'],
  ['x-max-body-bytes', 9007199254740993n, 'must be a whole number of bytes, 1 or more'],
  ['x-try-it', 'no', 'must be true or false'],
  ['x-storegate-unchecked-body', 'yes', 'must be true or false'],
])('%s: %p is refused', (field, value, message) => {
  const problems = problemsOf(() => contractOf({ [field]: value }));
  expect(problems).toEqual([expect.stringContaining(`/paths/~1pets~1{id}/get/${field}: ${message}`)]);
});

const LIST = 'must be a list of 1 to 32 names of scopes';
const FORM =
  'is no name of a scope: 1 to 64 visible characters of ASCII without quotes, commas, semicolons and backslashes';

describe.each(['none', 'omit', 'report', 'pass'] as const)('with leniency %s', (leniency) => {
  test.each<[unknown, string]>([
    ['pets:write', LIST],
    [null, LIST],
    [[], LIST],
    [['a', 1], LIST],
    [{ a: 'b' }, LIST],
    [['a', 'b', 'a'], 'has "a" twice'],
    [['a,b'], `"a,b" ${FORM}`],
    [['a b'], `"a b" ${FORM}`],
    [['a', ''], `"" ${FORM}`],
    [['a"'], `"a\\"" ${FORM}`],
    [['hände'], `"hände" ${FORM}`],
    [['x'.repeat(65)], FORM],
    [Array.from({ length: 33 }, (_, i) => `s${i}`), 'must have at most 32 scopes'],
  ])('x-required-scopes: %j refuses the contract', (value, message) => {
    const get = { operationId: 'a', responses: done, 'x-required-scopes': value };
    expect(problemsOf(() => load({ '/': { get } }, {}, { leniency }))).toEqual([
      expect.stringMatching(/^\d+:\d+ \/paths\/~1\/get\/x-required-scopes: /),
    ]);
    expect(problemsOf(() => load({ '/': { get } }, {}, { leniency })).join()).toContain(message);
  });

  const get = { operationId: 'a', responses: done };
  const scopes = { 'x-required-scopes': ['a'] };
  test.each<[what: string, place: string, document: object]>([
    ['the document', '', { ...scopes, paths: { '/': { get } } }],
    ['info', '/info', { info: { ...head.info, ...scopes }, paths: { '/': { get } } }],
    ['a tag', '/tags/0', { tags: [{ name: 't', ...scopes }], paths: { '/': { get } } }],
    ['all paths', '/paths', { paths: { ...scopes, '/': { get } } }],
    ['a path', '/paths/~1', { paths: { '/': { get, ...scopes } } }],
  ])('scopes on %s, where they would keep out nobody, refuse it too', (_what, place, document) => {
    const text = JSON.stringify({ ...head, ...document });
    expect(problemsOf(() => loadText(text, { leniency }))).toEqual([
      expect.stringContaining(`${place}/x-required-scopes: has no effect here`),
    ]);
  });
});

test('a limit of a body that the operation does not take is noted', () => {
  const take = (method: string, fields: object) =>
    load({ '/': { [method]: { operationId: 'a', responses: done, 'x-max-body-bytes': 9, ...fields } } }).notes;
  const body = { requestBody: { content: { 'application/json': {} } } };
  const noted = [expect.objectContaining({ message: expect.stringContaining('takes no request body') })];
  expect(take('post', {})).toEqual(noted);
  expect(take('head', body)).toEqual(expect.arrayContaining(noted));
  expect(take('post', body)).toEqual([]);
});

test('a sunset before the deprecation is refused', () => {
  expect(problemsOf(() => contractOf({ 'x-deprecated-at': '2027-01-02', 'x-sunset': '2027-01-01' }))).toEqual([
    expect.stringContaining('must not be before x-deprecated-at (RFC 9745 section 4)'),
  ]);
});
