import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Refusal } from '../../../src/common/errors/refusals.ts';
import type { Target } from '../../../src/gateway/results.ts';
import { targetBelow } from '../../../src/gateway/stages/request-guard.ts';
import { type Rewriting, rewritingOf } from '../../../src/gateway/upstream/rewriting.ts';
import {
  afterSegments,
  parseTarget,
  type RequestTarget,
} from '../../../src/gateway/wire/target.ts';

const PASS = { encodedSlash: 'pass', semicolon: 'pass' } as const;

/** Of an API at /files without prefixes in its contract. */
const rewriting = (...urls: string[]): Rewriting => rewritingOf('/files', [''], urls)!;

function atTarget({ targetOf: send }: Rewriting, target: string): string {
  return send(targetBelow(parseTarget(target, PASS) as Target, '/files'));
}

/** `null`: refused. */
function readOrNull(target: string): RequestTarget | null {
  try {
    return parseTarget(target, PASS);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

function returned({ response: answered }: Rewriting, name: string, value: string): string {
  const { headers } = answered!({
    status: 302,
    reason: '',
    headers: ['x-other', '/v2/a', name, value],
    body: Buffer.of(),
  });
  expect(headers.slice(0, 3)).toEqual(['x-other', '/v2/a', name]);
  return headers[3]!;
}

const stripped = rewriting('http://store.example:3001');
const moved = rewriting('http://store.example:3001/v2');
const based = rewriting('https://a.example/base/v2', 'https://b.example/v2/');

test('a path that is kept has no rewriting', () => {
  expect(rewritingOf('', [''], ['http://a'])).toBeNull();
});

describe('the path at the target', () => {
  test.each<[Rewriting, string, string]>([
    [stripped, '/files', '/'],
    [stripped, '/files/', '/'],
    [stripped, '/files/a/b?c=/files', '/a/b?c=/files'],
    [stripped, '/files/files', '/files'],
    [stripped, '/%66iles/%61?%7e&', '/%61?%7e&'],
    [stripped, '/%66iles?', '/?'],
  ])('%# is, of %s', (one, target, there) => expect(atTarget(one, target)).toBe(there));

  test('is equivalent to the rest of the canonical path, however the client spells it', () => {
    const common = fc.constantFrom(
      '/a',
      '/v2',
      '/files',
      '/%41',
      '/%c3%A9',
      '%7e',
      '.',
      '%2f',
      ';',
      '%3b',
      '?',
      '@',
      ':',
    );
    const rare = fc.constantFrom('/', '..', '%2e', '%2E%2e', '%5c', '\\', '%00', '//', '#');
    const pieces = fc.oneof({ weight: 9, arbitrary: common }, { weight: 1, arbitrary: rare });
    const spellings = fc.constantFrom(
      '/files',
      '/%66iles',
      '/fil%65%73',
      '/%66%69%6C%65%73',
      '/files%2f',
    );
    let passed = 0;
    const property = fc.property(spellings, fc.array(pieces, { maxLength: 10 }), (spelt, parts) => {
      const read = readOrNull(`${spelt}${parts.join('')}`);
      if (read === null || !`${read.path}/`.startsWith('/files/')) return;
      passed++;
      const below = targetBelow(read as Target, '/files');
      const there = parseTarget(below.raw, PASS);
      expect(there).toEqual(below);
      expect(there.path).toBe(read.path.slice('/files'.length) || '/');
      expect(there.query).toBe(read.query);
      expect(there.raw.endsWith(afterSegments(read.raw, 1))).toBe(true);
      expect(new URL(`http://a${there.path}`).pathname).toBe(there.path);
    });
    fc.assert(property, { numRuns: 5_000 });
    expect(passed).toBeGreaterThan(50);
  });
});

describe('locations in a response', () => {
  test.each<[string, Rewriting, string, string]>([
    ['a path', stripped, '/a/b?c#d', '/files/a/b?c#d'],
    ['one that is public already', stripped, '/files/a', '/files/a'],
    ['one that only begins alike', stripped, '/filesystem', '/files/filesystem'],
    ['an address of the target', stripped, 'http://store.example:3001/a?b', '/files/a?b'],
    ['one for sure of the target', stripped, 'http://STORE.example:3001/files/a', '/files/files/a'],
    ['one without a scheme', stripped, '//store.example:3001/a', '/files/a'],
    ['a path below the prefix', moved, '/v2/a', '/files/a'],
    ['a path beside the prefix', moved, '/v20/a', '/v20/a'],
    ['one above it', moved, '/login', '/login'],
    ['a relative one', moved, 'b?c', 'b?c'],
    ['one that goes up', moved, '/v2/../admin', '/v2/../admin'],
    ['another port', moved, 'http://store.example/v2/a', 'http://store.example/v2/a'],
    ['another scheme', moved, 'https://store.example:3001/v2/a', 'https://store.example:3001/v2/a'],
    ['elsewhere', moved, 'https://login.example/v2', 'https://login.example/v2'],
    ['nothing', moved, '', ''],
    ['a base path', based, '/base/v2/a', '/files/a'],
    ['an address of a backend', based, 'https://a.example/base/v2/a', '/files/a'],
    ['an address beside its base path', based, 'https://a.example/v2/a', 'https://a.example/v2/a'],
  ])('%s', (_what, one, there, here) => {
    expect(returned(one, 'location', there)).toBe(here);
    expect(returned(one, 'content-location', there)).toBe(here);
    expect(returned(one, 'link', there)).toBe(there);
  });

  test.each<[Rewriting, string, string]>([
    [stripped, 'a=/b; Path=/; HttpOnly', 'a=/b; Path=/files; HttpOnly'],
    [stripped, '__Host-a=b; Path=/; Secure', '__Host-a=b; Path=/; Secure'],
    [stripped, '__Secure-a=b; Path=/; Secure', '__Secure-a=b; Path=/files; Secure'],
    [stripped, 'a=b; Path=/files', 'a=b; Path=/files'],
    [moved, 'a=b;Path = /v2/x ;Secure', 'a=b;Path = /files/x;Secure'],
    [moved, 'a=b; Path=/v2', 'a=b; Path=/files'],
    [moved, 'a=b; Path=/', 'a=b; Path=/'],
    [moved, 'path=/v2; Max-Age=1', 'path=/v2; Max-Age=1'],
  ])('cookie %# is %s at the target and %s at the gateway', (one, there, here) => {
    expect(returned(one, 'set-cookie', there)).toBe(here);
  });
});
