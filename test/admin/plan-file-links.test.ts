import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { replacePlans, whileUnchanged } from '../../src/admin/plan-file.ts';
import { shippedFiles } from '../../src/config/load.ts';
import { temporaryFolders } from '../support/temporary.ts';

const folderOf = temporaryFolders();
const [OLD, NEW] = ['old plans', 'new plans'];

interface Layout {
  /** Makes `plans.yaml` in a folder. */
  readonly make: (at: (name: string) => string) => void;
  /** What a file has afterwards. */
  readonly after: Readonly<Record<string, string>>;
  readonly links?: Readonly<Record<string, string>>;
  readonly refused?: RegExp;
}

const repository = (at: (name: string) => string) => {
  mkdirSync(at('repository'));
  writeFileSync(at('repository/plans.yaml'), OLD, { mode: 0o640 });
};
const WRITTEN = { 'plans.yaml': NEW, 'repository/plans.yaml': NEW };

const LAYOUTS: readonly (readonly [name: string, layout: Layout])[] = [
  [
    'a relative symbolic link',
    {
      make(at) {
        repository(at);
        symlinkSync('repository/plans.yaml', at('plans.yaml'));
      },
      after: WRITTEN,
      links: { 'plans.yaml': 'repository/plans.yaml' },
    },
  ],
  [
    'a link to a link, through a linked folder',
    {
      make(at) {
        repository(at);
        symlinkSync('repository', at('folder'));
        symlinkSync('folder/plans.yaml', at('other.yaml'));
        symlinkSync('other.yaml', at('plans.yaml'));
      },
      after: WRITTEN,
      links: {
        'plans.yaml': 'other.yaml',
        'other.yaml': 'folder/plans.yaml',
        folder: 'repository',
      },
    },
  ],
  [
    'a link to nothing',
    {
      make: (at) => symlinkSync('missing.yaml', at('plans.yaml')),
      after: {},
      links: { 'plans.yaml': 'missing.yaml' },
      refused: /cannot be written: it, or the file that it links to, is missing\.$/,
    },
  ],
  [
    'links in a circle',
    {
      make(at) {
        symlinkSync('other.yaml', at('plans.yaml'));
        symlinkSync('plans.yaml', at('other.yaml'));
      },
      after: {},
      links: { 'plans.yaml': 'other.yaml', 'other.yaml': 'plans.yaml' },
      refused: /cannot be written: it is a symbolic link that leads back to itself\.$/,
    },
  ],
  [
    'a mounted ConfigMap',
    {
      make(at) {
        mkdirSync(at('..2026_11_28_10_00_00.123'));
        writeFileSync(at('..2026_11_28_10_00_00.123/plans.yaml'), OLD);
        symlinkSync('..2026_11_28_10_00_00.123', at('..data'));
        symlinkSync('..data/plans.yaml', at('plans.yaml'));
      },
      after: { 'plans.yaml': OLD },
      links: { 'plans.yaml': '..data/plans.yaml', '..data': '..2026_11_28_10_00_00.123' },
      refused: /is mounted from a ConfigMap or a Secret: change it there\.$/,
    },
  ],
  [
    'a file in a folder that cannot be written',
    {
      make(at) {
        writeFileSync(at('plans.yaml'), OLD);
        chmodSync(at('.'), 0o500);
      },
      after: { 'plans.yaml': OLD },
      refused: /cannot be locked with .*plans\.yaml\.lock \(EACCES\)\.$/,
    },
  ],
  [
    'a hard link, whose other name keeps the old plans',
    {
      make(at) {
        writeFileSync(at('backup.yaml'), OLD);
        linkSync(at('backup.yaml'), at('plans.yaml'));
      },
      after: { 'plans.yaml': NEW, 'backup.yaml': OLD },
    },
  ],
];

// Nothing is read-only for root.
const isRoot = process.getuid?.() === 0;
const possible = LAYOUTS.filter(([name]) => !(isRoot && name.includes('cannot be written')));

test.each(possible)('the plans file may be %s', async (_name, { make, after, links, refused }) => {
  const folder = folderOf();
  const at = (name: string) => join(folder, name);
  make(at);
  const file = at('plans.yaml');
  const modes = () =>
    Object.keys(after).map((name) => [name, lstatSync(at(name)).mode, lstatSync(at(name)).uid]);
  const before = modes();
  const change = Promise.try(() => whileUnchanged(file, OLD, () => replacePlans(file, NEW)));
  const failure = await change.then(
    () => null,
    (error: Error) => error.message,
  );
  chmodSync(folder, 0o700);
  if (refused) expect(failure).toMatch(refused);
  else expect(failure).toBeNull();
  for (const [name, text] of Object.entries(after))
    expect(readFileSync(at(name), 'utf8')).toBe(text);
  for (const [name, target] of Object.entries(links ?? {}))
    expect(readlinkSync(at(name))).toBe(target);
  expect(modes()).toEqual(before);
  expect(
    readdirSync(folder, { recursive: true }).filter((name) => /\.new$/.test(`${name}`)),
  ).toEqual([]);
});

test('the plans file of the program is changed in a clone alone', async () => {
  const { plans } = shippedFiles;
  const change = async () => await whileUnchanged(plans, 'another text', async () => 'changed');
  const cwd = jest.spyOn(process, 'cwd').mockReturnValue(folderOf());
  try {
    await expect(change()).rejects.toThrow('is part of the program, and an upgrade replaces it');
    cwd.mockReturnValue(dirname(plans));
    expect(await change()).toBeNull();
  } finally {
    cwd.mockRestore();
  }
});
