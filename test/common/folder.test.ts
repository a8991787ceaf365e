import { lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { PRIVATE, replaceFile } from '../../src/common/folder.ts';
import { temporaryFolders } from '../support/temporary.ts';

const folderOf = temporaryFolders();

test.each<[string, (folder: string) => string, string[], string | null]>([
  ['creates a missing file', () => 'new', ['new'], null],
  [
    'replaces the file that a link leads to',
    (folder) => {
      writeFileSync(join(folder, 'file'), 'old');
      symlinkSync('file', join(folder, 'link'));
      return 'link';
    },
    ['file', 'link'],
    null,
  ],
  [
    'refuses a link to nothing',
    (folder) => {
      symlinkSync('nothing', join(folder, 'link'));
      return 'link';
    },
    ['link'],
    'ENOENT',
  ],
  [
    'refuses a link to itself',
    (folder) => {
      symlinkSync('link', join(folder, 'link'));
      return 'link';
    },
    ['link'],
    'ELOOP',
  ],
])('replaceFile %s', async (_what, make, names, code) => {
  const folder = folderOf();
  const file = join(folder, make(folder));
  const replaced = replaceFile(file, 'new', PRIVATE);
  if (code === null) {
    await replaced;
    expect(readFileSync(file, 'utf8')).toBe('new');
  } else await expect(replaced).rejects.toMatchObject({ code });
  expect(readdirSync(folder).sort()).toEqual(names);
  expect(lstatSync(file).isSymbolicLink()).toBe(file.endsWith('link'));
});
