import { expect, test } from '@jest/globals';
import type { Operation } from '../../../src/config/contract/contract.ts';
import { createStorePaths } from '../../../src/gateway/stages/forward.ts';

const pathOf = (prefixes: readonly string[], urls: readonly string[], path: string, upstream: string | null = null) => {
  const all = new Map([
    ['default', urls],
    ['stock', ['http://stock/api']],
  ]);
  return createStorePaths(prefixes, all)({ upstream } as Operation, path);
};

test.each<[string, readonly string[], readonly string[], string, string]>([
  ['no prefix', [''], ['http://a/v1'], '/pets', '/pets'],
  ['a store at the root', ['/v1'], ['http://a'], '/v1/pets', '/v1/pets'],
  ['a store at the prefix', ['/v1'], ['http://a/v1'], '/v1/pets', '/pets'],
  ['a store at the prefix, with a slash', ['/v1'], ['http://a/v1/'], '/v1/pets', '/pets'],
  ['a store below another path', ['/v1'], ['http://a/shop/v1'], '/v1/pets', '/pets'],
  ['a path with dot segments', ['/v1'], ['http://a/x/../v1/.'], '/v1/pets', '/pets'],
  ['an encoded slash', ['/v1'], ['http://a/x%2Fv1'], '/v1/pets', '/v1/pets'],
  ['empty segments', ['/v1'], ['http://a//v1//'], '/v1/pets', '/pets'],
  ['a store at another path', ['/v1'], ['http://a/shop'], '/v1/pets', '/v1/pets'],
  ['a longer segment', ['/v1'], ['http://a/xv1'], '/v1/pets', '/v1/pets'],
  ['stores that differ', ['/v1'], ['http://a/v1', 'http://b'], '/v1/pets', '/v1/pets'],
  ['the longest of several prefixes', ['/api/v1', '/api'], ['http://a/api/v1'], '/api/v1/pets', '/pets'],
  ['another of several prefixes', ['/api/v1', '/api'], ['http://a/api/v1'], '/api/pets', '/api/pets'],
  ['the prefix alone', ['/v1'], ['http://a/v1'], '/v1', '/v1'],
  ['the prefix with a slash', ['/v1'], ['http://a/v1'], '/v1/', '/'],
  ['encoded segments', ['/v1'], ['http://a/v1'], '/v1/a%2Fb', '/a%2Fb'],
])('%s', (_what, prefixes, urls, path, sent) => {
  expect(pathOf(prefixes, urls, path)).toBe(sent);
});

test('each upstream has its own stores', () => {
  expect(pathOf(['/v1'], ['http://a/v1'], '/v1/pets', 'stock')).toBe('/v1/pets');
});
