import { describe, expect, test } from '@jest/globals';
import { done, head, problemsOf } from '../../../packages/openapi/test/documents.ts';
import { loadContract } from '../../../src/config/contract/contract.ts';

test('misspelt names of our extensions are refused, and those of other vendors are not', () => {
  const document = {
    ...head,
    'x-backend': 'fine',
    'x-gateway-upstream': 'fine',
    'x-unchecked': 'fine',
    tags: [{ name: 'pets', 'x-storegate-Upstream': 'stock' }],
    paths: {
      '/pets': {
        'x-storgate-upstream': 'stock',
        get: {
          operationId: 'pets',
          'x-storegate-uncheked-bodies': true,
          'x-storegate-cache': 60,
          'x-storegate-unchecked-body': false,
          responses: done,
        },
      },
    },
  };
  const text = JSON.stringify(document, null, 1);
  for (const leniency of ['refuse', 'pass'] as const) {
    const problems = problemsOf(() =>
      loadContract(`${import.meta.dirname}/none.json`, { text, onUnsupported: leniency }),
    );
    const unknown = 'is not an extension of storegate';
    expect(problems.map((problem) => problem.replace(/^[0-9:]+ /, ''))).toEqual([
      `/tags/0/x-storegate-Upstream: x-storegate-Upstream ${unknown}: did you mean x-storegate-upstream?`,
      `/paths/~1pets/x-storgate-upstream: x-storgate-upstream ${unknown}: did you mean x-storegate-upstream?`,
      `/paths/~1pets/get/x-storegate-uncheked-bodies: x-storegate-uncheked-bodies ${unknown}: did you mean x-storegate-unchecked-body?`,
      `/paths/~1pets/get/x-storegate-cache: x-storegate-cache ${unknown}: the extensions are x-storegate-unchecked-body and x-storegate-upstream`,
    ]);
  }
});

const read = (document: object) =>
  loadContract(`${import.meta.dirname}/none.json`, {
    text: JSON.stringify({ ...head, ...document }),
  });
const notesOf = (document: object) =>
  read(document).notes.map(({ place, message }) => `${place.split(' ')[1]}: ${message}`);
const withField = (field: string) => ({
  paths: { '/': { get: { operationId: 'a', responses: done, [field]: 1 } } },
});

test.each([
  ['x-rate-limit', 'x-ratelimit'],
  ['x-ratelimits', 'x-ratelimit'],
  ['X-RateLimit', 'x-ratelimit'],
  ['x-ratelimit-policy', 'x-ratelimit'],
  ['x-rate-limit-cost', 'x-ratelimit-cost'],
  ['x-maxBodyBytes', 'x-max-body-bytes'],
  ['x-reportOnly', 'x-report-only'],
  ['x-tryIt', 'x-try-it'],
  ['x-sunset-date', 'x-sunset'],
  ['x-deprecated', 'x-deprecated-at'],
  ['x-tag-groups', 'x-tagGroups'],
])('the field %s is noted with the name that has an effect', (field, meant) => {
  expect(notesOf(withField(field))).toEqual([
    `/paths/~1/get/${field}: ${field} has no effect: did you mean ${meant}?`,
  ]);
});

test.each(['x-required-scope', 'X-Required_scopes', 'x-require-scopes'])(
  'the field %s is a mistake, because the operation would be open to every key',
  (field) => {
    expect(problemsOf(() => read(withField(field)))).toEqual([
      expect.stringMatching(/^\d+:\d+ .*has no effect: did you mean x-required-scopes\?$/),
    ]);
  },
);

test.each(['x-internal', 'x-tags', 'x-amazon-apigateway-integration', 'x-limit', 'x-body'])(
  'the field %s of another vendor is not noted',
  (field) => {
    expect(notesOf(withField(field))).toEqual([]);
  },
);

describe('a field in the wrong place', () => {
  const get = { operationId: 'a', responses: done };

  test.each<[place: string, document: object]>([
    ['/paths/~1', { paths: { '/': { get, 'x-report-only': true } } }],
    ['', { paths: { '/': { get } }, 'x-report-only': true }],
    ['/tags/0', { paths: { '/': { get } }, tags: [{ name: 'a', 'x-report-only': true }] }],
    [
      '/paths/~1/get/responses/200',
      {
        paths: {
          '/': { get: { ...get, responses: { 200: { description: '', 'x-report-only': true } } } },
        },
      },
    ],
  ])('is a note at %s', (place, document) => {
    expect(notesOf(document)).toEqual([
      `${place}/x-report-only: has no effect here: it belongs on an operation`,
    ]);
  });

  test('is a mistake if it names scopes', () => {
    const requestBody = { content: { 'application/json': {} }, 'x-required-scopes': ['admin'] };
    expect(problemsOf(() => read({ paths: { '/': { post: { ...get, requestBody } } } }))).toEqual([
      expect.stringContaining('/paths/~1/post/requestBody/x-required-scopes: has no effect here'),
    ]);
  });
});
