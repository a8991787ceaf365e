import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Refusal } from '../../../src/common/errors/refusals.ts';
import { afterSegments, parseTarget } from '../../../src/gateway/wire/target.ts';

const PASS = { encodedSlash: 'pass', semicolon: 'pass' } as const;

const refused = (message: string) =>
  expect.objectContaining({ code: 'malformed_request', status: 400, message }) as unknown as Error;

const DOTS = 'The path has a dot segment ("." or ".."). Send the path without it.';
const BEGINS_WITH_SEMICOLON =
  'The path has a segment that begins with ";". Remove the ";", or put text before it.';

describe('a request target', () => {
  test.each([
    ['/pets', '/pets', '/pets', ''],
    ['/', '/', '/', ''],
    ['/pets?', '/pets?', '/pets', ''],
    ['/pets??', '/pets??', '/pets', '?'],
    ['/pets?a=%7e&b=%c3%a9&', '/pets?a=%7e&b=%c3%a9&', '/pets', 'a=%7e&b=%c3%a9&'],
    ['/pets/', '/pets/', '/pets/', ''],
    ['/a%2Db%7e', '/a%2Db%7e', '/a-b~', ''],
    ['/%c3%a9%7E?', '/%c3%a9%7E?', '/%C3%A9~', ''],
    ["/a!$&'()*+,=:@b", "/a!$&'()*+,=:@b", "/a!$&'()*+,=:@b", ''],
    ['/a.b/..c/c..', '/a.b/..c/c..', '/a.b/..c/c..', ''],
    ['http://elsewhere.example/pets?x=1', '/pets?x=1', '/pets', 'x=1'],
    ['HTTP://user:pw@elsewhere.example:99/p%65ts?', '/p%65ts?', '/pets', ''],
    ['http://elsewhere.example', '/', '/', ''],
    ['http://elsewhere.example?x=1', '/?x=1', '/', 'x=1'],
  ])(
    '%s is forwarded as %s, and read as the path %s and the query "%s"',
    (url, raw, path, query) => {
      expect(parseTarget(url)).toEqual({ raw, path, written: path, query });
    },
  );

  test.each([
    ['/v1/keys%3apurge', '/v1/keys:purge', '/v1/keys%3Apurge'],
    [
      '/%61%21%24%26%27%28%29%2A%2B%2C%3D%3A%40',
      "/a!$&'()*+,=:@",
      '/a%21%24%26%27%28%29%2A%2B%2C%3D%3A%40',
    ],
    ['/a%2520%20%22', '/a%2520%20%22', '/a%2520%20%22'],
  ])('%s is compared as %s, and its values are read from %s', (url, path, written) => {
    expect(parseTarget(url)).toEqual({ raw: url, path, written, query: '' });
  });

  test.each([
    ['/a%2fb', 'an encoded "/" (%2F)', 'encodedSlash'],
    ['/a;b=c', 'a ";" (also as %3B)', 'semicolon'],
    ['/a%3bb', 'a ";" (also as %3B)', 'semicolon'],
  ])('%s is refused, and operators see the setting that lets it pass', (url, what, setting) => {
    const message = `The path has ${what}, which servers read in different ways. Remove it.`;
    const reason = `contract.${setting} is refuse`;
    expect(() => parseTarget(url)).toThrow(expect.objectContaining({ message, reason }));
    const others = { ...PASS, [setting]: 'refuse' };
    expect(() => parseTarget(url, others)).toThrow(refused(message));
  });

  test.each([
    ['/a%2fb', '/a%2Fb'],
    ['/a%2F%2Fb%2F', '/a%2F%2Fb%2F'],
    ['/a%2F..b/.c', '/a%2F..b/.c'],
    ['/%61%2f%7e;', '/a%2F~;'],
  ])('%s passes by setting, as the path %s', (url, path) => {
    expect(parseTarget(`${url}?`, PASS)).toEqual({
      raw: `${url}?`,
      path,
      written: path,
      query: '',
    });
  });

  test.each([
    ['/a%2F..%2Fb', DOTS],
    ['/..%2Fb', DOTS],
    ['/%2F./b', DOTS],
    ['/a;x/..;/b', DOTS],
    ['/a/..%3bx', DOTS],
    ['/a/;b', BEGINS_WITH_SEMICOLON],
    ['/a%2F;b', BEGINS_WITH_SEMICOLON],
    ['/a%5Cb', 'The path has an encoded "\\". Remove it, or send the value in the query.'],
    ['/a%3Fb', 'The path has an encoded "?". Remove it, or send the value in the query.'],
    ['/a%00', 'The path has an encoded control character. Remove it.'],
  ])('%s is refused whatever the settings are', (url, message) => {
    expect(() => parseTarget(url, PASS)).toThrow(refused(message));
  });

  const AMBIGUOUS = String.raw`
    * pets ftp://x/pets http:///pets http:// x:80 http://x/a/../b //pets /pets//1 /pets// /. /..
    /pets/./1 /pets/../admin /pets/%2e%2e/admin /pets/%2E%2e/a /pets/%2E. /pets/.%2e/x
    /a%2fb /a%2Fb /a%5cb /a%5C..%5Cb /a\b /a;b=c /a%3bb /a%3Fb /a%23b /a#b /a?a#b
    /a%00b /a%0d%0ab /a%0a /a%7f /a% /a%4 /a%zz /a%u0070 /a%ff /a%c3 /a/%c0%ae%c0%ae/b /a/%c0%af
    /a/%ed%a0%80 /a/%f4%90%80%80 /a"b /a<b /a|b /a^ /a{b} /pets?a=# /pets?a=\ /pets?" /é
  `;

  test.each(['', '/a b', '/a`', '/pets?a b', '/a\u0001', ...AMBIGUOUS.trim().split(/\s+/)])(
    '%j is refused, with what to do',
    (url) => {
      const message = expect.stringMatching(/\. (Send|Remove|Percent-encode|Encode) .+\.$/);
      expect(() => parseTarget(url)).toThrow(
        expect.objectContaining({
          code: 'malformed_request',
          status: 400,
          message,
        }) as unknown as Error,
      );
    },
  );

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
        expect(parseTarget(`${first.path}?${first.query}`)).toMatchObject({
          path: first.path,
          query: first.query,
        });
        expect(parseTarget(first.raw)).toEqual(first);
        const resolved = new URL(`http://x${first.path}`);
        expect(resolved.pathname).toBe(first.path);
      }),
    );
  });
});

/** Another spelling of the same characters. */
const spelt = (character: string, spelling: 'plain' | 'lower' | 'upper'): string => {
  const isFree = /[A-Za-z0-9._~-]/.test(character);
  if (character === '/' || (isFree && spelling === 'plain') || "!$&'()*+,=:@".includes(character))
    return character;
  const bytes = [...Buffer.from(character)]
    .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
    .join('');
  return spelling === 'upper' ? bytes.toUpperCase() : bytes;
};

const characters = fc.constantFrom(...'ab9-._~!:@é%/');
const spellings = fc.array(fc.tuple(characters, fc.constantFrom('plain', 'lower', 'upper')), {
  maxLength: 20,
});

describe('a path without its first segments', () => {
  test.each([
    ['/files', 1, ''],
    ['/files?a=/b', 1, '?a=/b'],
    ['/files/a%2Fb/c?/d', 1, '/a%2Fb/c?/d'],
    ['/%66iles/a', 1, '/a'],
    ['/a/b/c/d', 3, '/d'],
    ['/?', 0, '/?'],
    ['/files?', 1, '?'],
  ])('%s without %d is "%s"', (raw, count, rest) => expect(afterSegments(raw, count)).toBe(rest));

  test('is the rest of the canonical path, however it is spelt', () => {
    fc.assert(
      fc.property(spellings, fc.webQueryParameters(), fc.nat(3), (parts, query, count) => {
        const raw = `/${parts.map(([character, how]) => spelt(character, how)).join('')}?${query}`;
        let target: ReturnType<typeof parseTarget>;
        try {
          target = parseTarget(raw, PASS);
        } catch (refusal) {
          expect(refusal).toBeInstanceOf(Refusal);
          return;
        }
        const rest = afterSegments(raw, count);
        expect(raw.endsWith(rest)).toBe(true);
        const restOfPath = afterSegments(target.path, count);
        if (rest.startsWith('/'))
          expect(parseTarget(rest, PASS)).toMatchObject({ path: restOfPath, query });
        else expect([rest, restOfPath]).toEqual([`?${query}`, '']);
      }),
      { numRuns: 2_000 },
    );
  });
});
