import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { MISTAKES } from './mistakes.ts';

const root = resolve(import.meta.dirname, '../..');
const foldersIn = (path: string) =>
  readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${path}/${name}`);

describe.each(MISTAKES)('the planted mistake in $file', ({ file, text, suite }) => {
  test('replaces a text that occurs once, and names a suite', () => {
    expect(readFileSync(join(root, file), 'utf8').split(text)).toHaveLength(2);
    expect(existsSync(join(root, suite))).toBe(true);
  });
});

test('each room and package has a planted mistake', () => {
  const folders = new Set(MISTAKES.map(({ file }) => file.split('/').slice(0, 2).join('/')));
  expect(folders).toEqual(new Set([...foldersIn('packages'), ...foldersIn('src')]));
});

test('CONTRIBUTING.md describes each planted mistake', () => {
  const rows = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').matchAll(
    /^\| `(\S+)` \| .+ \| `(\S+)` \|$/gm,
  );
  const described = Array.from(rows, ([, file, suite]) => `${file} ${suite}`);
  expect(described.toSorted()).toEqual(
    MISTAKES.map(({ file, suite }) => `${file} ${suite}`).toSorted(),
  );
});
