import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  formatScope,
  fullNameOf,
  inApi,
  isScope,
  readScope,
  scopeOfApi,
  scopeOfOperation,
  scopeOfTag,
  withScoped,
} from '../../src/limits/scopes.ts';
import { DAY, HOUR, MINUTE, scoped, window } from '../support/limits.ts';

const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });

test('a scope says whose it is, and has no character that divides lists and names', () => {
  fc.assert(
    fc.property(name, (given) => {
      const [operation, tag] = [scopeOfOperation(given), scopeOfTag(given)];
      expect(operation).toMatch(/^[\w!'()*.~%-]+$/);
      for (const api of [null, 'notes']) {
        const scopes = [inApi(api, operation), inApi(api, tag)];
        expect(scopes.map(readScope)).toEqual([
          { api, kind: 'operation', name: given },
          { api, kind: 'tag', name: given },
        ]);
        expect(scopes.every(isScope)).toBe(true);
      }
    }),
  );
});

test('no operation has the scope of a tag, and no window the full name of another', () => {
  expect(scopeOfOperation('tag:login')).not.toBe(scopeOfTag('login'));
  const names = ['login', 'tag:login', 'minute', 'a b'].flatMap((one) => [
    scopeOfOperation(one),
    scopeOfTag(one),
  ]);
  expect(new Set(names).size).toBe(8);
  names.push(scopeOfApi('login'));
  const windows = [window(1, MINUTE), ...names.map((scope) => scoped(scope, 1, MINUTE))];
  expect(new Set(windows.map(fullNameOf)).size).toBe(10);
  expect(fullNameOf(scoped('@login', 1, MINUTE))).toBe('60s@login');
  expect(fullNameOf(scoped('login', 1, MINUTE))).toBe('login:60s');
});

test.each([
  '',
  'tag:',
  'a,b',
  'a:b',
  '%',
  '%ff',
  'a@b',
  'notes/',
  'notes/a/b',
  'a'.repeat(338),
  '@',
  '@a/b',
])('%j is not a valid scope', (text) => {
  expect(isScope(text)).toBe(false);
});

test('a scope is described in words', () => {
  expect(formatScope('login')).toBe('for login');
  expect(formatScope('tag:to%20find')).toBe('for the tag to find');
  expect(formatScope('@notes')).toBe('for the API notes');
});

test('the scope of an API is that of no operation or tag', () => {
  expect(isScope(scopeOfApi('notes'))).toBe(true);
  expect(readScope('@notes')).toEqual({ api: null, kind: 'api', name: 'notes' });
  expect(scopeOfOperation('@notes')).not.toBe('@notes');
});

test('windows of a contract come among those of a client by their span, behind its own', () => {
  const own = [window(1, MINUTE), window(2, DAY)];
  const more = [scoped('login', 3, HOUR), scoped('tag:a', 4, MINUTE)];
  expect(withScoped(own, more)).toEqual([own[0], more[1], more[0], own[1]]);
  expect(withScoped(own, [])).toBe(own);
});
