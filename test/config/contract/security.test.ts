import { describe, expect, test } from '@jest/globals';
import { done, head, problemsOf } from '../../../packages/openapi/test/documents.ts';
import { loadContract } from '../../../src/config/contract/contract.ts';

const load = (document: object) =>
  loadContract(`${import.meta.dirname}/none.json`, {
    text: JSON.stringify({ ...head, ...document }),
  });

const apiKey = (name: string, where = 'header') => ({ type: 'apiKey', in: where, name });
const BEARER = { type: 'http', scheme: 'Bearer' };

describe('keyHeaders of the key', () => {
  test.each<[string, object[], readonly string[], boolean, boolean]>([
    ['no schemes', [], ['X-API-Key'], true, false],
    ['X-API-Key', [apiKey('x-api-key')], ['x-api-key'], false, false],
    ['X-API-Key and bearer', [apiKey('X-API-Key'), BEARER], ['X-API-Key'], true, false],
    ['another header', [apiKey('api_key')], ['api_key', 'X-API-Key'], false, false],
    ['two headers', [apiKey('X-A'), apiKey('X-B')], ['X-A', 'X-B', 'X-API-Key'], false, false],
    ['bearer', [BEARER], ['X-API-Key'], true, true],
    ['Authorization as a header', [apiKey('Authorization')], ['X-API-Key'], true, true],
    ['a name that is not a header', [apiKey('a b')], ['X-API-Key'], false, false],
  ])('%s', (_what, schemes, headers, bearer, sharesAuthorization) => {
    const securitySchemes = Object.fromEntries(schemes.map((scheme, i) => [`s${i}`, scheme]));
    const { keyHeaders, sharesAuthorization: shares } = load({
      paths: {},
      components: { securitySchemes },
    });
    expect({ keyHeaders, shares }).toEqual({
      keyHeaders: { headers, bearer },
      shares: sharesAuthorization,
    });
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
  ])('%s', (_what, security, own, isPublic) => {
    const get = { responses: done, ...(own !== undefined && { security: own }) };
    const components = { securitySchemes: { key: apiKey('X-API-Key') } };
    const document = {
      paths: { '/': { get } },
      components,
      ...(security !== undefined && { security }),
    };
    expect(load(document).operations[0]!.isPublic).toBe(isPublic);
  });

  test('never if it requires scopes, which is noted', () => {
    const get = {
      operationId: 'a',
      responses: done,
      security: [],
      'x-required-scopes': ['pets:read'],
    };
    const { operations, notes } = load({ paths: { '/': { get } } });
    expect(operations[0]!.isPublic).toBe(false);
    expect(notes.map(({ message }) => message)).toEqual([
      expect.stringContaining('requests without a key get 401'),
    ]);
  });
});

describe('security', () => {
  const schemes = {
    key: apiKey('X-API-Key'),
    bearer: BEARER,
    query: apiKey('key', 'query'),
    cookie: apiKey('key', 'cookie'),
    host: apiKey('Host'),
    basic: { type: 'http', scheme: 'basic' },
    oauth: { type: 'oauth2', flows: {} },
    oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://x.example' },
    tls: { type: 'mutualTLS' },
    unused: { type: 'oauth2', flows: {} },
  };
  const read = (
    security: unknown,
    more: object = {},
    securitySchemes: object = schemes,
    options: object = {},
  ) => {
    const get = { operationId: 'a', responses: done, security, ...more };
    const text = JSON.stringify({
      ...head,
      paths: { '/': { get } },
      components: { securitySchemes },
    });
    return loadContract(`${import.meta.dirname}/none.json`, { text, ...options });
  };
  const notes = (security: unknown, more?: object) =>
    read(security, more).notes.map(({ place, message }) => `${place.split(' ')[1]}: ${message}`);

  test.each<[what: string, security: unknown, message: string]>([
    ['a text', 'none', 'must be a list of objects'],
    ['a list of names', ['key'], 'must be a list of objects'],
    [
      'a scheme that is not defined',
      [{ nope: [] }],
      'nope is not defined in components/securitySchemes',
    ],
    ['a scheme without a list', [{ key: true }], 'key must have a list of scopes, such as []'],
    [
      'a scheme with a list of numbers',
      [{ key: [1] }],
      'key must have a list of scopes, such as []',
    ],
  ])('is a mistake as %s, at its place', (_what, security, message) => {
    for (const responses of ['off', 'report']) {
      const problems = problemsOf(() => read(security, {}, schemes, { responses }));
      expect(problems).toEqual([expect.stringMatching(/^\d+:\d+ \/paths\/~1\/get\/security: /)]);
      expect(problems[0]).toContain(message);
    }
  });

  test('of the document is judged too', () => {
    expect(problemsOf(() => load({ paths: {}, security: 'none' }))).toEqual([
      expect.stringContaining('/security: must be a list of objects'),
    ]);
  });

  test('of a type that OpenAPI does not have is a mistake', () => {
    expect(problemsOf(() => read([{ odd: [] }], {}, { odd: { type: 'token' } }))).toEqual([
      expect.stringContaining(
        '/odd/type: must be apiKey, http, mutualTLS, oauth2 or openIdConnect',
      ),
    ]);
  });

  test.each<[scheme: string, note: string]>([
    ['query', 'in: keys in query are not read: clients send them in a header'],
    ['cookie', 'in: keys in cookie are not read: clients send them in a header'],
    ['host', 'name: the header Host cannot carry keys'],
    ['basic', 'scheme: basic is not checked: clients need an API key'],
    ['oauth', 'type: tokens of oauth2 are not checked: clients need an API key'],
    ['oidc', 'type: tokens of openIdConnect are not checked: clients need an API key'],
    ['tls', 'type: certificates of clients are not checked: clients need an API key'],
  ])('that is not checked is a note at the scheme %s', (scheme, note) => {
    expect(notes([{ [scheme]: [] }])).toEqual([`/components/securitySchemes/${scheme}/${note}`]);
  });

  test.each(['key', 'bearer'])('of the scheme %s is not noted', (scheme) => {
    expect(notes([{ [scheme]: [] }])).toEqual([]);
  });

  test('with scopes is a note, unless the operation names the scopes of keys', () => {
    const security = [{ bearer: ['admin:write'] }];
    expect(notes(security)).toEqual([
      '/paths/~1/get/security: scopes in `security` are not checked: name them in x-required-scopes',
    ]);
    expect(notes(security, { 'x-required-scopes': ['admin:write'] })).toEqual([]);
  });
});
