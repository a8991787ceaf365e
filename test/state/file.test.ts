import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { shippedFiles } from '../../src/config/load.ts';
import { openEmbedded } from '../../src/records/embedded/open.ts';
import { createKey } from '../../src/records/keys/manage.ts';
import { folderSource, folderTarget } from '../../src/records/transfer/folder.ts';
import { openStateFile } from '../../src/state/embedded/file.ts';
import { repairFolder } from '../../src/state/embedded/repair.ts';
import { KEPT } from '../support/audit.ts';
import { commandLine } from '../support/command-line.ts';
import { loadPlans } from '../support/load-plans.ts';
import { editOf } from '../support/records.ts';
import { WITH_CLOCK } from '../support/transfer.ts';

const MOVE_OF = (format: number) =>
  `an unreleased storegate (format ${format}): run "storegate state export FILE" with that version, ` +
  'and "storegate state import FILE" with this one and an empty data folder';

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'storegate-')), 'data');
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

describe('the embedded state file', () => {
  /** Each is a file of the same folder, as some version left it. */
  test.each<[string, string, string]>([
    [
      'a newer version',
      'PRAGMA user_version = 99',
      'a newer storegate (format 99): use that version',
    ],
    ['an older format', 'PRAGMA user_version = 3', MOVE_OF(3)],
    ['the same format without the ban log', 'DROP TABLE bans', MOVE_OF(7)],
    ['the same format without reasons', 'ALTER TABLE audit DROP COLUMN reason', MOVE_OF(7)],
  ])('of %s is refused with what to do, and stays as it is', async (_, change, message) => {
    openStateFile(folder).close();
    const file = join(folder, 'state.db');
    const db = new DatabaseSync(file);
    db.exec(change);
    db.close();
    const before = readFileSync(file);
    const full = `the data folder ${folder} was written by ${message}`;
    expect(() => openEmbedded(folder, { clock: Date.now, audit: KEPT, observe: () => {} })).toThrow(
      full,
    );
    expect(() => folderSource(folder, WITH_CLOCK)).toThrow(full);
    expect(() => folderTarget(folder, WITH_CLOCK)).toThrow(full);
    await expect(repairFolder(folder)).rejects.toThrow(full);
    for (const command of ['keys list', 'bans list', 'state backup b.ndjson'])
      expect(await commandLine(join(folder, '..'))(command.split(' '))).toEqual({
        code: 1,
        out: '',
        err: `${full}\n`,
      });
    expect(readFileSync(file)).toEqual(before);
  });
});

describe('keys in the file', () => {
  const plans = loadPlans(shippedFiles.plans);

  test('leave their secret nowhere in the folder', async () => {
    const opened = openEmbedded(folder, { clock: Date.now, audit: KEPT, observe: () => {} });
    const { secret, record } = await createKey(editOf(opened.keys), plans, {
      account: 'acme',
      plan: 'pro',
    });
    await opened.close();
    const file = readFileSync(join(folder, 'state.db'));
    expect([file.includes(record.id), file.includes(secret)]).toEqual([true, false]);
  });
});
