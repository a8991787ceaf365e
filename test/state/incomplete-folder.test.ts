import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Event } from '../../src/observe/events.ts';
import { openEmbedded } from '../../src/records/embedded/open.ts';
import { folderSource, folderTarget } from '../../src/records/transfer/folder.ts';
import { IncompleteFolder } from '../../src/state/embedded/inventory.ts';
import { repairFolder } from '../../src/state/embedded/repair.ts';
import { KEPT } from '../support/audit.ts';
import { HOUR, limits, MINUTE, window } from '../support/limits.ts';
import { keyRecord, note } from '../support/records.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { WITH_CLOCK } from '../support/transfer.ts';

const FREE = limits([window(5, MINUTE)]);
const folderOf = temporaryFolders();
const record = keyRecord();
let events: Event[];
let folder: string;

const open = (at = folder) =>
  openEmbedded(at, { clock: Date.now, audit: KEPT, observe: (event) => void events.push(event) });
/** Everything that reads a whole folder. */
const READERS: readonly ((at: string) => unknown)[] = [
  open,
  (at) => folderSource(at, WITH_CLOCK),
  (at) => folderTarget(at, WITH_CLOCK),
  (at) => folderTarget(at, { ...WITH_CLOCK, dryRun: true }),
];
/** Without the indices of logs, which belong to their readers. */
const files = (at: string) =>
  new Map(
    readdirSync(at)
      .filter((file) => !file.endsWith('-shm'))
      .map((file) => [file, readFileSync(join(at, file)).toString()]),
  );

/** The folder as a crash leaves it: with a key, a ban by an operator, and a count. */
async function crashed(): Promise<string> {
  const gateway = open();
  await gateway.keys.add(record, note());
  await gateway.state.ban('key:a', FREE, HOUR);
  const copy = folderOf();
  cpSync(folder, copy, { recursive: true });
  await gateway.close();
  return copy;
}

async function stopped(): Promise<string> {
  const gateway = open();
  await gateway.keys.add(record, note());
  await gateway.state.ban('key:a', FREE, HOUR);
  await gateway.close();
  return folder;
}

beforeEach(() => {
  folder = folderOf();
  events = [];
});

describe('a data folder', () => {
  test('is used again after a crash and after a stop', async () => {
    const copy = await crashed();
    for (const at of [copy, folder, copy]) {
      const gateway = open(at);
      expect(await gateway.keys.find(record.hash)).toEqual(record);
      expect(await gateway.state.bans()).toHaveLength(1);
      await gateway.close();
    }
  });

  test.each<[string, string, (file: string) => void]>([
    ['counters.db deleted', 'counters.db', (file) => rmSync(file)],
    ['counters.db emptied', 'counters.db', (file) => writeFileSync(file, '')],
    ['counters.db damaged', 'counters.db', (file) => writeFileSync(file, 'x'.repeat(8_192))],
    ['the log of counters.db deleted', 'counters.db-wal', (file) => rmSync(file)],
  ])('is refused with %s, until it is there again or repaired', async (_, name, lose) => {
    const copy = await crashed();
    const file = join(copy, name);
    const others = new Map(
      ['counters.db', 'counters.db-wal'].map((one) => [one, readFileSync(join(copy, one))]),
    );
    const loseAll = () => {
      if (name === 'counters.db') rmSync(join(copy, 'counters.db-wal'), { force: true });
      rmSync(join(copy, 'counters.db-shm'), { force: true });
      lose(file);
    };
    loseAll();
    for (const read of READERS) {
      expect(() => read(copy)).toThrow(IncompleteFolder);
      expect(() => read(copy)).toThrow(
        /counters\.db(-wal)? is missing, damaged, or not of this folder, with counters and bans: put it back, or run "storegate state repair" to continue without it/,
      );
    }
    for (const [one, bytes] of others) writeFileSync(join(copy, one), bytes);
    const again = open(copy);
    expect(await again.state.bans()).toHaveLength(1);
    await again.close();

    folder = folderOf();
    const lost = await crashed();
    for (const one of ['counters.db', 'counters.db-wal', 'counters.db-shm'])
      rmSync(join(lost, one), { force: true });
    expect(await repairFolder(lost)).toMatchObject({
      changes: 0,
      files: [expect.stringContaining('counters')],
    });
    const repaired = open(lost);
    expect(await repaired.state.bans()).toEqual([]);
    expect(await repaired.keys.find(record.hash)).toEqual(record);
    await repaired.close();
  });

  test('is refused with the counters of another folder', async () => {
    const copy = await crashed();
    const other = folder;
    folder = folderOf();
    const foreign = await crashed();
    folder = other;
    for (const one of ['counters.db', 'counters.db-wal', 'counters.db-shm'])
      cpSync(join(foreign, one), join(copy, one));
    expect(() => open(copy)).toThrow(IncompleteFolder);
  });

  test.each<[string, readonly string[], string]>([
    ['state.db-wal and its number', ['state.db-wal', 'state.db-shm'], 'state.db-wal'],
    ['state.db and its number', ['state.db', 'state.db-wal', 'state.db-shm'], 'state.db'],
  ])('is refused without its %s of changes, until repaired', async (_, lost, named) => {
    const copy = await crashed();
    for (const file of [...lost, 'state.last-change']) rmSync(join(copy, file), { force: true });
    const before = files(copy);
    for (const read of READERS)
      expect(() => read(copy)).toThrow(
        `${join(copy, named)} is missing, with all keys: put it back, or run "storegate state repair"`,
      );
    expect(files(copy)).toEqual(before);
    expect(await repairFolder(copy)).toEqual({ files: [named], changes: 0 });
    const repaired = open(copy);
    expect(await repaired.keys.find(record.hash)).toBeNull();
    expect(await repaired.state.bans()).toHaveLength(1);
    await repaired.close();
  });

  // `state.db` alone does not show that changes in its WAL were lost, after some were moved into it.
  test.failing('is refused without changes after a stop, and the number of them', async () => {
    await stopped();
    const gateway = open();
    await gateway.keys.add(keyRecord({ id: 'key_2', hash: 'other' }), note());
    const copy = folderOf();
    cpSync(folder, copy, { recursive: true });
    await gateway.close();
    for (const file of ['state.db-wal', 'state.db-shm', 'state.last-change'])
      rmSync(join(copy, file));
    expect(() => folderSource(copy, WITH_CLOCK)).toThrow(IncompleteFolder);
  });

  test.each<[string, readonly string[], string]>([
    ['state.db-wal', ['state.db-wal', 'state.db-shm'], 'state.db-wal'],
    ['state.db', ['state.db', 'state.db-wal', 'state.db-shm'], 'state.db'],
  ])('is refused without its %s, and left as it is', async (_, lost, named) => {
    const copy = await crashed();
    expect(existsSync(join(copy, 'state.db-wal'))).toBe(true);
    const whole = folderOf();
    cpSync(copy, whole, { recursive: true });
    for (const file of lost) rmSync(join(copy, file), { force: true });
    const before = files(copy);
    for (const read of READERS)
      expect(() => read(copy)).toThrow(
        `${join(copy, named)} is missing or too old, with keys and the last change of operators`,
      );
    expect(files(copy)).toEqual(before);
    for (const file of lost) cpSync(join(whole, file), join(copy, file));
    const again = open(copy);
    expect(await again.keys.find(record.hash)).toEqual(record);
    await again.close();

    const other = await repairFolder(copy);
    expect(other).toEqual({ files: [], changes: 0 });
  });

  test.each<[string, () => Promise<string>]>([
    ['a crash', crashed],
    ['a stop', stopped],
  ])(
    'that is whole after %s stays as it is in a repair, which disarms no check',
    async (_, make) => {
      const whole = await make();
      const before = files(whole);
      expect(await repairFolder(whole)).toEqual({ files: [], changes: 0 });
      const after = files(whole);
      expect(after).toEqual(before);
      for (const one of ['counters.db', 'counters.db-wal'])
        rmSync(join(whole, one), { force: true });
      expect(() => open(whole)).toThrow(IncompleteFolder);
    },
  );
});
