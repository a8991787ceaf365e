import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { openEmbedded } from '../../src/records/embedded/open.ts';
import { folderTarget } from '../../src/records/transfer/folder.ts';
import { repairFolder } from '../../src/state/embedded/repair.ts';
import { KEPT } from '../support/audit.ts';
import { commandLine } from '../support/command-line.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { WITH_CLOCK } from '../support/transfer.ts';

/** A user that owns nothing. */
const UNPRIVILEGED = 65_534;
const IS_ROOT = process.geteuid?.() === 0;
/** The system checks access for the real user, which stays root: then SQLite finds out. */
const FOREIGN = IS_ROOT ? 'it cannot be opened or created' : 'it is not writable';

const folderOf = temporaryFolders();
let cwd: string;
let folder: string;
let lock: string;
beforeEach(() => {
  cwd = folderOf();
  folder = join(cwd, 'data');
  lock = join(folder, 'gateway.lock');
  mkdirSync(folder);
});

const start = () => openEmbedded(folder, { clock: Date.now, audit: KEPT, observe: () => {} });

/** Runs `work` as a user who may do everything in the folder, but does not own its lock. */
function asOtherUser(work: () => void): void {
  chmodSync(cwd, 0o777);
  chmodSync(folder, 0o777);
  if (IS_ROOT) withoutRights(work);
  else asOwner(work);
}

function asOwner(work: () => void): void {
  chmodSync(lock, 0o000);
  work();
}

function withoutRights(work: () => void): void {
  const { mode } = statSync(tmpdir());
  chmodSync(tmpdir(), mode | 0o011);
  process.seteuid!(UNPRIVILEGED);
  try {
    work();
  } finally {
    process.seteuid!(0);
    chmodSync(tmpdir(), mode);
  }
}

const directly = (work: () => void) => work();

describe.each<[string, string, () => void, (work: () => void) => void]>([
  ['is a folder', 'it cannot be opened or created', () => mkdirSync(lock), directly],
  [
    'has other content',
    'file is not a database',
    () => writeFileSync(lock, 'x'.repeat(999)),
    directly,
  ],
  ['is of another user', FOREIGN, () => writeFileSync(lock, '', { mode: 0o600 }), asOtherUser],
])('a data folder whose gateway.lock %s', (_, reason, make, as) => {
  const message = () => `cannot lock the data folder ${folder} with ${lock}: ${reason}`;
  beforeEach(() => make());

  test('is refused by a start and as a target with the reason', () => {
    as(() => {
      expect(start).toThrow(message());
      expect(() => folderTarget(folder, WITH_CLOCK)).toThrow(message());
    });
  });
});

describe('a data folder whose lock cannot be made', () => {
  beforeEach(() => mkdirSync(lock));

  test('is refused by a repair with the reason', async () => {
    await expect(repairFolder(folder)).rejects.toThrow('it cannot be opened or created');
  });

  test('is refused by a command with the reason, in place of a running gateway', async () => {
    const { code, err } = await commandLine(cwd)(['bans', 'list']);
    expect({ code, err }).toEqual({
      code: 1,
      err: `cannot lock the data folder ${folder} with ${lock}: it cannot be opened or created\n`,
    });
  });
});
