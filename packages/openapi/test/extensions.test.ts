import { expect, test } from '@jest/globals';
import { done, load, notesOf, only, problemsOf } from './documents.ts';

const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }];
const contractOf = (fields: object) =>
  load({
    '/pets/{id}': { get: { parameters, responses: done, ...fields } },
    '/new': { get: { operationId: 'list', responses: done } },
    '/new/{id}': { get: { operationId: 'one', parameters, responses: done } },
  });

test('an operation that says nothing is stable and may be tried', () => {
  expect(only(contractOf({}))).toMatchObject({
    id: 'get /pets/{id}',
    method: 'GET',
    path: '/pets/{id}',
    summary: '',
    tags: [],
    stability: 'stable',
    deprecated: false,
    deprecatedAt: null,
    sunset: null,
    successor: null,
    reportOnly: false,
    uncheckedBody: false,
    maxBodyBytes: null,
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
      'x-stability-level': 'beta',
      'x-deprecated-at': '2026-10-01',
      'x-sunset': '2027-10-01T02:00:00+02:00',
      'x-successor': 'list',
      'x-try-it': false,
    }),
  );
  expect(operation).toMatchObject({
    id: 'getPet',
    summary: 'Get one pet',
    tags: ['Pets'],
    stability: 'beta',
    deprecated: true,
    deprecatedAt: 1790812800,
    sunset: 1822348800,
    successor: 'list',
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
  [
    'x-deprecated-at',
    '2026-02-30',
    'must be a date (2027-01-31) or a date and time (2027-01-31T12:00:00Z)',
  ],
  ['x-sunset', 20271001, 'must be a date (2027-01-31) or a date and time (2027-01-31T12:00:00Z)'],
  ['x-sunset', 'tomorrow', 'must be a date (2027-01-31) or a date and time (2027-01-31T12:00:00Z)'],
  ['x-successor', 'unknown', 'the operation unknown does not exist'],
  ['x-successor', 7, 'must be an operationId'],
  ['x-max-body-bytes', 0, 'must be a whole number of bytes, 1 or more'],
  ['x-max-body-bytes', -1, 'must be a whole number of bytes, 1 or more'],
  ['x-max-body-bytes', 1.5, 'must be a whole number of bytes, 1 or more'],
  ['x-max-body-bytes', '1MiB', 'must be a whole number of bytes, 1 or more'],
  ['x-max-body-bytes', 9007199254740993n, 'must be a whole number of bytes, 1 or more'],
  ['x-try-it', 'no', 'must be true or false'],
  ['x-unchecked-body', 'yes', 'must be true or false'],
])('%s: %p is refused', (field, value, message) => {
  const problems = problemsOf(() => contractOf({ [field]: value }));
  expect(problems).toEqual([
    expect.stringContaining(`/paths/~1pets~1{id}/get/${field}: ${message}`),
  ]);
});

test.each(['alpha', 7])('x-stability-level: %p, a level of other tools, is noted', (level) => {
  const contract = contractOf({ 'x-stability-level': level });
  expect(notesOf(contract)).toContain('has no effect: the levels are stable, beta, experimental');
  expect(only(contract)).toMatchObject({ stability: 'stable', replyHeaders: [] });
});

test('a limit of a body that the operation does not take is noted', () => {
  const take = (method: string, fields: object) =>
    load({
      '/': { [method]: { operationId: 'a', responses: done, 'x-max-body-bytes': 9, ...fields } },
    }).notes;
  const body = { requestBody: { content: { 'application/json': {} } } };
  const noted = [
    expect.objectContaining({ message: expect.stringContaining('takes no request body') }),
  ];
  expect(take('post', {})).toEqual(noted);
  expect(take('head', body)).toEqual(expect.arrayContaining(noted));
  expect(take('post', body)).toEqual([]);
});

test('a sunset before the deprecation is refused', () => {
  expect(
    problemsOf(() => contractOf({ 'x-deprecated-at': '2027-01-02', 'x-sunset': '2027-01-01' })),
  ).toEqual([expect.stringContaining('must not be before x-deprecated-at (RFC 9745 section 4)')]);
});
