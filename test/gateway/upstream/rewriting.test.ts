import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Refusal } from '../../../src/common/errors/refusals.ts';
import type { Mount } from '../../../src/config/config.ts';
import { isInMount } from '../../../src/gateway/routes.ts';
import { mountRewriting, type Rewriting } from '../../../src/gateway/upstream/rewriting.ts';
import {
  afterSegments,
  parseTarget,
  type RequestTarget,
} from '../../../src/gateway/wire/target.ts';

const PASS = { encodedSlash: 'pass', semicolon: 'pass' } as const;

function rewriting(path: string, rewrite: string, ...urls: string[]): Rewriting {
  const mount: Mount = { path, rewrite, target: null, upstream: null, websocket: false } as never;
  return mountRewriting(mount, urls)!;
}

function atTarget({ targetOf: send }: Rewriting, target: string): string {
  return send(parseTarget(target, PASS));
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

const stripped = rewriting('/files', '', 'http://store.example:3001');
const moved = rewriting('/files', '/v2', 'http://store.example:3001');
const based = rewriting('/files', '/v2', 'https://a.example/base', 'https://b.example');

describe('a mount at /', () => {
  test.each([
    ['/v2', '/a/%62?c', '/v2/a/%62?c'],
    ['/v2', '/', '/v2/'],
  ])('with the path %s sends %s as %s', (rewrite, target, sent) => {
    const one = rewriting('/', rewrite, 'http://a');
    expect([atTarget(one, target), one.prefix]).toEqual([sent, '']);
  });

  test('returns the paths of clients', () => {
    const headers = [
      'location',
      '/v2/a',
      'location',
      'http://a/v2',
      'set-cookie',
      'c=1; Path=/v2',
      'set-cookie',
      'd=1; Path=/',
    ];
    const response = { status: 200, reason: '', headers, body: null } as never;
    expect(
      rewriting('/', '/v2', 'http://a').response!(response).headers.filter((_, i) => i % 2 === 1),
    ).toEqual(['/a', '/', 'c=1; Path=/', 'd=1; Path=/']);
  });
});

test('a mount without a rewrite has no rewriting', () => {
  expect(mountRewriting({ path: '/files', rewrite: null } as Mount, ['http://a'])).toBeNull();
});

describe('the path at the target', () => {
  test.each<[Rewriting, string, string]>([
    [stripped, '/files', '/'],
    [stripped, '/files/', '/'],
    [stripped, '/files/a/b?c=/files', '/a/b?c=/files'],
    [stripped, '/files?c', '/?c'],
    [stripped, '/files/files', '/files'],
    [moved, '/files', '/v2'],
    [moved, '/files/', '/v2/'],
    [moved, '/files/a%20b?c', '/v2/a%20b?c'],
    [moved, '/files?c', '/v2?c'],
    [moved, '/files?', '/v2?'],
    [stripped, '/%66iles/%61?%7e&', '/%61?%7e&'],
    [stripped, '/%66%69les', '/'],
    [stripped, '/%66iles?', '/?'],
    [moved, '/f%69les/%c3%a9%7E?', '/v2/%c3%a9%7E?'],
  ])('%# is, of %s', (one, target, there) => expect(atTarget(one, target)).toBe(there));

  test('is below the prefix and equivalent to the rewritten canonical path, however the client spells it', () => {
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
    const mounts = fc.constantFrom(
      '/files',
      '/%66iles',
      '/fil%65%73',
      '/%66%69%6C%65%73',
      '/files%2f',
    );
    const prefixes = fc.constantFrom('', '/v2', '/files', '/a/b');
    let passed = 0;
    const property = fc.property(
      mounts,
      fc.array(pieces, { maxLength: 10 }),
      prefixes,
      (mount, parts, prefix) => {
        const read = readOrNull(`${mount}${parts.join('')}`);
        if (read === null || !isInMount({ path: '/files' } as Mount, read.path)) return;
        passed++;
        const one = rewriting('/files', prefix, 'http://a');
        const there = parseTarget(one.targetOf(read), PASS);
        expect(there.path).toBe(atTarget(one, read.path));
        expect(there.query).toBe(read.query);
        expect(there.raw.endsWith(afterSegments(read.raw, 1))).toBe(true);
        expect(there.path === prefix || there.path.startsWith(`${prefix}/`)).toBe(true);
        expect(new URL(`http://a${there.path}`).pathname).toBe(there.path);
      },
    );
    fc.assert(property, { numRuns: 5_000 });
    expect(passed).toBeGreaterThan(50);
  });
});

describe('locations in a response', () => {
  test.each<[string, Rewriting, string, string]>([
    ['a path', stripped, '/a/b?c#d', '/files/a/b?c#d'],
    ['the root', stripped, '/', '/files/'],
    ['one that is public already', stripped, '/files/a', '/files/a'],
    ['one that only begins alike', stripped, '/filesystem', '/files/filesystem'],
    ['an address of the target', stripped, 'http://store.example:3001/a?b', '/files/a?b'],
    ['one without a path', stripped, 'http://store.example:3001?b', '/files/?b'],
    ['one for sure of the target', stripped, 'http://STORE.example:3001/files/a', '/files/files/a'],
    ['one without a scheme', stripped, '//store.example:3001/a', '/files/a'],
    ['a path below the prefix', moved, '/v2/a', '/files/a'],
    ['the prefix', moved, '/v2?a', '/files?a'],
    ['a path beside the prefix', moved, '/v20/a', '/v20/a'],
    ['one above it', moved, '/login', '/login'],
    [
      'an address beside it',
      moved,
      'http://store.example:3001/login',
      'http://store.example:3001/login',
    ],
    ['a relative one', moved, 'b?c', 'b?c'],
    ['one that goes up', moved, '/v2/../admin', '/v2/../admin'],
    ['another port', moved, 'http://store.example/v2/a', 'http://store.example/v2/a'],
    ['another scheme', moved, 'https://store.example:3001/v2/a', 'https://store.example:3001/v2/a'],
    ['elsewhere', moved, 'https://login.example/v2', 'https://login.example/v2'],
    ['no address', moved, 'http://[::/v2', 'http://[::/v2'],
    ['nothing', moved, '', ''],
    ['a base path', based, '/base/v2/a', '/files/a'],
    ['that of another backend', based, '/v2/a', '/files/a'],
    ['an address of a backend', based, 'https://a.example/base/v2/a', '/files/a'],
    ['its default port', based, 'https://b.example:443/v2/a', '/files/a'],
    ['an address beside its base path', based, 'https://a.example/v2/a', 'https://a.example/v2/a'],
  ])('%s', (_what, one, there, here) => {
    expect(returned(one, 'location', there)).toBe(here);
    expect(returned(one, 'content-location', there)).toBe(here);
    expect(returned(one, 'link', there)).toBe(there);
  });

  test.each<[Rewriting, string, string]>([
    [stripped, 'a=/b; Path=/; HttpOnly', 'a=/b; Path=/files; HttpOnly'],
    [stripped, 'a=b; path=/x', 'a=b; path=/files/x'],
    [stripped, '__Host-a=b; Path=/; Secure', '__Host-a=b; Path=/; Secure'],
    [stripped, '__Secure-a=b; Path=/; Secure', '__Secure-a=b; Path=/files; Secure'],
    [stripped, 'a=b; Path=/files', 'a=b; Path=/files'],
    [moved, 'a=b;Path = /v2/x ;Secure', 'a=b;Path = /files/x;Secure'],
    [moved, 'a=b; Path=/v2', 'a=b; Path=/files'],
    [moved, 'a=b; Path=/', 'a=b; Path=/'],
    [moved, 'path=/v2; Max-Age=1', 'path=/v2; Max-Age=1'],
    [moved, 'a=b', 'a=b'],
  ])('cookie %# is %s at the target and %s at the gateway', (one, there, here) => {
    expect(returned(one, 'set-cookie', there)).toBe(here);
  });
});
