import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';

const filter: (files: readonly string[]) => { readonly filtered: readonly string[] } =
  createRequire(import.meta.url)('./filter.js');
const root = resolve(import.meta.dirname, '../..');
const FILES = ['test/limits/windows.test.ts', 'packages/openapi/test/limits.test.ts'].map((file) =>
  resolve(root, file),
);
const { argv } = process;
afterEach(() => {
  process.argv = argv;
});

test.each([
  ['a folder', ['test/limits'], [0]],
  ['a file', ['packages/openapi/test/limits.test.ts'], [1]],
  ['two paths', ['test/limits', 'packages/openapi'], [0, 1]],
  ['a pattern', ['limits'], [0, 1]],
  ['a folder and the begin of a path', ['test/limits', 'packages/openapi/test/lim'], [0, 1]],
  ['a folder and a name of tests', ['test/limits', '-t', 'openapi'], [0]],
  ['no argument', [], [0, 1]],
])('%s selects its suites alone', (_what, args, selected) => {
  process.argv = ['node', 'jest', '--silent', ...args];
  expect(filter(FILES).filtered).toEqual(selected.map((i) => FILES[i]));
});
