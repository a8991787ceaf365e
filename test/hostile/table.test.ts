import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const root = resolve(import.meta.dirname, '../..');
const rows = readFileSync(join(root, 'docs/security.md'), 'utf8').matchAll(
  /^\| .+ \| .+ \| `([a-z/-]+)`: (.+) \|$/gm,
);

test('every test that docs/security.md names exists', () => {
  const named = [...rows].map(([, file = '', title = '']) => ({
    // A name without a folder is in this folder.
    path: [`../${file}.test.ts`, `../${file}.ts`, `${file}.test.ts`]
      .map((path) => join(import.meta.dirname, path))
      .find((path) => existsSync(path)),
    title,
  }));
  expect(named.length).toBeGreaterThan(30);
  const text = (path: string | undefined) =>
    path !== undefined ? readFileSync(path, 'utf8').replaceAll("\\'", "'") : '';
  expect(named.filter(({ path, title }) => !text(path).includes(title))).toEqual([]);
});
