import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { MUTATIONS } from './mutations.ts';

const root = resolve(import.meta.dirname, '../..');
const foldersIn = (path: string) =>
  readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${path}/${name}`);

describe.each(MUTATIONS)('the mistake in $file: $replacement', ({ file, text, suite }) => {
  test('replaces a text that occurs once, and names a suite', () => {
    expect(readFileSync(join(root, file), 'utf8').split(text)).toHaveLength(2);
    expect(existsSync(join(root, suite))).toBe(true);
  });
});

const folderOf = (file: string) => file.split('/').slice(0, 2).join('/');
const folders = [...foldersIn('packages'), ...foldersIn('src')].toSorted();

test('each folder of src and each package has a mutation', () => {
  expect([...new Set(MUTATIONS.map(({ file }) => folderOf(file)))].toSorted()).toEqual(folders);
});

test('CONTRIBUTING.md describes mutations, and one of each folder', () => {
  const rows = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').matchAll(
    /^\| `(\S+)` \| .+ \| `(\S+)` \|$/gm,
  );
  const described = Array.from(rows, ([, file, suite]) => `${file} ${suite}`);
  const all = MUTATIONS.map(({ file, suite }) => `${file} ${suite}`);
  expect(described.filter((row) => !all.includes(row))).toEqual([]);
  expect([...new Set(described.map(folderOf))].toSorted()).toEqual(folders);
});
