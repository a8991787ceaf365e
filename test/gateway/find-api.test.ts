import { expect, test } from '@jest/globals';
import { createApiFinder, hostIn } from '../../src/gateway/find-api.ts';

const API = (host: string | null, path: string) => ({
  host,
  path,
  value: `${host ?? 'any'} ${path}`,
});

const find = createApiFinder([
  API(null, '/'),
  API(null, '/notes'),
  API(null, '/notes/v2'),
  API('a.example', '/'),
  API('a.example', '/notes'),
  API('b.example', '/only'),
  API('*.b.example', '/'),
  API('*.c.b.example', '/deep'),
  API('xn--bcher-kva.example', '/'),
]);

test.each([
  [undefined, '/', 'any /'],
  [undefined, '/notes', 'any /notes'],
  ['other.example', '/notes/', 'any /notes'],
  ['other.example', '/notes/v20', 'any /notes'],
  ['other.example', '/notesx', 'any /'],
  ['a.example', '/notes/v2', 'a.example /notes'],
  ['A.Example.:8443', '/x', 'a.example /'],
  ['xa.example', '/x', 'any /'],
  ['b.example', '/only/x', 'b.example /only'],
  // A host without the path leaves it to the next one.
  ['b.example', '/notes', 'any /notes'],
  ['x.b.example', '/notes', '*.b.example /'],
  ['x.c.b.example', '/deep', '*.c.b.example /deep'],
  ['bücher.example', '/', 'xn--bcher-kva.example /'],
  // Nothing that is not a host name matches one.
  ['a.example@evil.example', '/x', 'any /'],
  ['*.b.example', '/x', 'any /'],
  ['', '/x', 'any /'],
])('%s %s belongs to %s', (host, path, expected) => {
  // The second time from memory.
  expect([find(host, path), find(host, path)]).toEqual([expected, expected]);
});

test('a host that is longer than a name matches none', () => {
  expect(find(`${'a.'.repeat(121)}b.example`, '/x')).toBe('*.b.example /');
  expect(find(`${'a.'.repeat(5_000)}b.example`, '/x')).toBe('any /');
});

test('no API has a path that none names', () => {
  const few = createApiFinder([API('a.example', '/'), API(null, '/notes')]);
  expect([few('b.example', '/x'), few(undefined, '/')]).toEqual([null, null]);
});

test.each([
  ['/x', 'a.example', 'a.example'],
  ['http://b.example:80/x', 'a.example', 'b.example:80'],
  ['HTTPS://b.example?x', undefined, 'b.example'],
  ['/http://b.example/', undefined, undefined],
])('the host of %s beside Host %s is %s', (target, host, expected) => {
  expect(hostIn({ target }, { host })).toBe(expected);
});
