import { describe, expect, test } from '@jest/globals';
import { done, head } from '../../../packages/openapi/test/documents.ts';
import { loadContract } from '../../../src/config/contract/contract.ts';

const load = (document: object) =>
  loadContract(`${import.meta.dirname}/none.json`, { text: JSON.stringify({ ...head, ...document }) });

const apiKey = (name: string, where = 'header') => ({ type: 'apiKey', in: where, name });
const BEARER = { type: 'http', scheme: 'Bearer' };

describe('carriers of the key', () => {
  test.each<[string, object[], readonly string[], boolean, boolean]>([
    ['no schemes', [], ['X-API-Key'], true, false],
    ['X-API-Key', [apiKey('x-api-key')], ['x-api-key'], false, false],
    ['X-API-Key and bearer', [apiKey('X-API-Key'), BEARER], ['X-API-Key'], true, false],
    ['another header', [apiKey('api_key')], ['api_key', 'X-API-Key'], false, false],
    ['two headers', [apiKey('X-A'), apiKey('X-B')], ['X-A', 'X-B', 'X-API-Key'], false, false],
    ['bearer', [BEARER], ['X-API-Key'], true, true],
    ['Authorization as a header', [apiKey('Authorization')], ['X-API-Key'], true, true],
    ['basic', [{ type: 'http', scheme: 'basic' }], ['X-API-Key'], false, false],
    ['a key in the query', [apiKey('key', 'query')], ['X-API-Key'], false, false],
    ['a header of HTTP', [apiKey('Content-Type')], ['X-API-Key'], false, false],
    ['a name that is not a header', [apiKey('a b')], ['X-API-Key'], false, false],
    ['OpenID Connect', [{ type: 'openIdConnect', openIdConnectUrl: 'https://x.example' }], ['X-API-Key'], false, false],
  ])('%s', (_what, schemes, headers, bearer, sharesAuthorization) => {
    const securitySchemes = Object.fromEntries(schemes.map((scheme, i) => [`s${i}`, scheme]));
    const { carriers, sharesAuthorization: shares } = load({ paths: {}, components: { securitySchemes } });
    expect({ carriers, shares }).toEqual({ carriers: { headers, bearer }, shares: sharesAuthorization });
  });
});

describe('an operation is public', () => {
  const key = { key: [] };
  test.each<[string, object | undefined, object | undefined, boolean]>([
    ['neither names security', undefined, undefined, false],
    ['the document needs a key', [key], undefined, false],
    ['the document needs none', [], undefined, true],
    ['the operation needs none', [key], [], true],
    ['a key is optional', [key], [{}, key], true],
    ['the operation needs a key', [], [key], false],
    ['the security is not a list', undefined, { a: 1 }, false],
  ])('%s', (_what, security, own, isPublic) => {
    const get = { responses: done, ...(own !== undefined && { security: own }) };
    const document = { paths: { '/': { get } }, ...(security !== undefined && { security }) };
    expect(load(document).operations[0]!.isPublic).toBe(isPublic);
  });

  test('never if it requires scopes, which is noted', () => {
    const get = { operationId: 'a', responses: done, security: [], 'x-required-scopes': ['pets:read'] };
    const { operations, notes } = load({ paths: { '/': { get } } });
    expect(operations[0]!.isPublic).toBe(false);
    expect(notes.map(({ message }) => message)).toEqual([expect.stringContaining('requests without a key get 401')]);
  });
});
