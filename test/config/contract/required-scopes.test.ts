import { describe, expect, test } from '@jest/globals';
import type { Treatment } from '@storegate/openapi';
import { done, head, problemsOf } from '../../../packages/openapi/test/documents.ts';
import { loadContract } from '../../../src/config/contract/contract.ts';

const load = (document: object, leniency: 'refuse' | Treatment = 'refuse') =>
  loadContract(`${import.meta.dirname}/none.json`, {
    onUnsupported: leniency,
    text: JSON.stringify({ ...head, ...document }, null, 1),
  });

test('an operation needs no scopes, or the named ones', () => {
  const needing = ['pets:write', 'https://example.org/a?b=c'];
  const item = { get: { responses: done }, put: { responses: done, 'x-required-scopes': needing } };
  expect(
    load({ paths: { '/': item } }).operations.map(({ requiredScopes }) => requiredScopes),
  ).toEqual([[], needing]);
});

const LIST = 'must be a list of 1 to 32 names of scopes';
const FORM =
  'is not a valid scope name: 1 to 64 visible characters of ASCII without quotes, commas, semicolons and backslashes';

describe.each(['refuse', 'omit', 'report', 'pass'] as const)(
  'with onUnsupported %s',
  (leniency) => {
    test.each<[unknown, string]>([
      ['pets:write', LIST],
      [[], LIST],
      [['a', 1], LIST],
      [{ a: 'b' }, LIST],
      [['a', 'b', 'a'], 'has "a" twice'],
      [['a,b'], `"a,b" ${FORM}`],
      [['x'.repeat(65)], FORM],
      [Array.from({ length: 33 }, (_, i) => `s${i}`), 'must have at most 32 scopes'],
    ])('x-required-scopes: %j refuses the contract', (value, message) => {
      const get = { operationId: 'a', responses: done, 'x-required-scopes': value };
      expect(problemsOf(() => load({ paths: { '/': { get } } }, leniency))).toEqual([
        expect.stringMatching(/^\d+:\d+ \/paths\/~1\/get\/x-required-scopes: /),
      ]);
      expect(problemsOf(() => load({ paths: { '/': { get } } }, leniency)).join()).toContain(
        message,
      );
    });

    const get = { operationId: 'a', responses: done };
    const scopes = { 'x-required-scopes': ['a'] };
    test.each<[what: string, place: string, document: object]>([
      ['the document', '', { ...scopes, paths: { '/': { get } } }],
      ['a tag', '/tags/0', { tags: [{ name: 't', ...scopes }], paths: { '/': { get } } }],
      ['a path', '/paths/~1', { paths: { '/': { get, ...scopes } } }],
    ])('scopes on %s, where they would have no effect, refuse it too', (_what, place, document) => {
      expect(problemsOf(() => load(document, leniency))).toEqual([
        expect.stringContaining(`${place}/x-required-scopes: has no effect here`),
      ]);
    });
  },
);
