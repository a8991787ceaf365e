import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Refusal } from '../../../src/errors/refusals.ts';
import { parseTarget } from '../../../src/gateway/wire/target.ts';

describe('a request target', () => {
  test.each([
    ['/pets', '/pets', ''],
    ['/', '/', ''],
    ['/pets?limit=1', '/pets', 'limit=1'],
    ['/pets?', '/pets', ''],
    ['/pets?a=b?c', '/pets', 'a=b?c'],
    ['/pets/', '/pets/', ''],
    ['/%70ets', '/pets', ''],
    ['/a%2Db%7e', '/a-b~', ''],
    ['/caf%c3%a9', '/caf%C3%A9', ''],
    ['/a%20b', '/a%20b', ''],
    ["/a!$&'()*+,=:@b", "/a!$&'()*+,=:@b", ''],
    ['/a.b/..c/c..', '/a.b/..c/c..', ''],
    ['http://elsewhere.example/pets?x=1', '/pets', 'x=1'],
    ['HTTP://user:pw@elsewhere.example:99/pets', '/pets', ''],
    ['http://elsewhere.example', '/', ''],
    ['http://elsewhere.example?x=1', '/', 'x=1'],
  ])('%s is read as the path %s and the query "%s"', (url, path, query) => {
    expect(parseTarget(url)).toEqual({ path, query });
  });

  test.each([
    '',
    '*',
    'pets',
    'ftp://x/pets',
    'http:///pets',
    '//pets',
    '/pets//1',
    '/.',
    '/..',
    '/pets/../admin',
    '/pets/%2e%2e/admin',
    '/pets/%2E.',
    '/pets/.%2e/x',
    '/a%2fb',
    '/a%5cb',
    '/a\\b',
    '/a%00b',
    '/a%0d%0ab',
    '/a%7f',
    '/a;b=c',
    '/a%3bb',
    '/a%3Fb',
    '/a%23b',
    '/a#b',
    '/a%',
    '/a%4',
    '/a%zz',
    '/a%ff',
    '/a%c3',
    '/a b',
    '/a"b',
    '/a<b',
    '/a|b',
    '/a{b}',
    '/pets?a b',
    '/pets?a=#',
    '/pets?a=\\',
    '/pets?"',
    '/é',
  ])('%j is refused', (url) => {
    expect(() => parseTarget(url)).toThrow(
      expect.objectContaining({ code: 'malformed_request', status: 400 }) as unknown as Error,
    );
  });

  test('has one canonical form: parsing it again changes nothing', () => {
    fc.assert(
      fc.property(fc.webPath(), fc.webQueryParameters(), (path, query) => {
        let first: ReturnType<typeof parseTarget>;
        try {
          first = parseTarget(`${path || '/'}?${query}`);
        } catch (refusal) {
          expect(refusal).toBeInstanceOf(Refusal);
          return;
        }
        expect(parseTarget(`${first.path}?${first.query}`)).toEqual(first);
        const resolved = new URL(`http://x${first.path}`);
        expect(resolved.pathname).toBe(first.path);
      }),
    );
  });
});
