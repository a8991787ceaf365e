import { expect, test } from '@jest/globals';
import { rewritingOf } from '../../../src/gateway/upstream/rewriting.ts';
import { parseTarget } from '../../../src/gateway/wire/target.ts';

const PASS = { encodedSlash: 'pass', semicolon: 'pass' } as const;

test.each<[string, readonly string[], readonly string[], string, string]>([
  ['no prefix', [''], ['http://a/v1'], '/pets', '/pets'],
  ['a backend at the root', ['/v1'], ['http://a'], '/v1/pets', '/v1/pets'],
  ['a backend at the prefix', ['/v1'], ['http://a/v1'], '/v1/pets', '/pets'],
  ['a backend below another path', ['/v1'], ['http://a/shop/v1'], '/v1/pets', '/pets'],
  ['a path with dot segments', ['/v1'], ['http://a/x/../v1/.'], '/v1/pets', '/pets'],
  ['an encoded slash', ['/v1'], ['http://a/x%2Fv1'], '/v1/pets', '/v1/pets'],
  ['a backend at another path', ['/v1'], ['http://a/shop'], '/v1/pets', '/v1/pets'],
  ['backends that differ', ['/v1'], ['http://a/v1', 'http://b'], '/v1/pets', '/v1/pets'],
  [
    'the longest of several prefixes',
    ['/api/v1', '/api'],
    ['http://a/api/v1'],
    '/api/v1/pets',
    '/pets',
  ],
  [
    'another of several prefixes',
    ['/api/v1', '/api'],
    ['http://a/api/v1'],
    '/api/pets',
    '/api/pets',
  ],
  ['the prefix alone', ['/v1'], ['http://a/v1'], '/v1', '/v1'],
  ['another spelling of the prefix', ['/v1'], ['http://a/v1'], '/%761/%7ea%c3%a9?', '/%7ea%c3%a9?'],
  ['another spelling of a long prefix', ['/a~/b'], ['http://a/a~/b'], '/%61%7E/b/c?/x', '/c?/x'],
  [
    'another spelling without a prefix',
    ['/v1'],
    ['http://a/v1'],
    '/%76/p%65ts?a=%7e',
    '/%76/p%65ts?a=%7e',
  ],
])('%s', (_what, prefixes, urls, path, sent) => {
  const rewriting = rewritingOf('', prefixes, urls);
  expect(rewriting === null ? path : rewriting.targetOf(parseTarget(path, PASS))).toBe(sent);
});

test('no path changes if the URL of one backend lacks the prefix', () => {
  expect(rewritingOf('', ['/v1'], ['http://a/v1', 'http://b'])).toBeNull();
});
