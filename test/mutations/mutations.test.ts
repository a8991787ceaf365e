import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { MUTATIONS } from './mutations.ts';

const root = resolve(import.meta.dirname, '../..');
const foldersIn = (path: string) =>
  readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${path}/${name}`);

describe.each(MUTATIONS)('the mistake in $file', ({ file, text, suite }) => {
  test('replaces a text that occurs once, and names a suite', () => {
    expect(readFileSync(join(root, file), 'utf8').split(text)).toHaveLength(2);
    expect(existsSync(join(root, suite))).toBe(true);
  });
});

test('each folder of src and each package has a mutation', () => {
  const folders = new Set(MUTATIONS.map(({ file }) => file.split('/').slice(0, 2).join('/')));
  expect(folders).toEqual(new Set([...foldersIn('packages'), ...foldersIn('src')]));
});

test('CONTRIBUTING.md describes each mutation', () => {
  const rows = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').matchAll(
    /^\| `(\S+)` \| .+ \| `(\S+)` \|$/gm,
  );
  const described = Array.from(rows, ([, file, suite]) => `${file} ${suite}`);
  expect(described.toSorted()).toEqual(
    MUTATIONS.map(({ file, suite }) => `${file} ${suite}`).toSorted(),
  );
});
