import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Event } from '../../src/observe/events.ts';
import { openEmbedded } from '../../src/records/embedded/open.ts';
import { folderSource, folderTarget } from '../../src/records/transfer/folder.ts';
import { openStateFile } from '../../src/state/embedded/file.ts';
import {
  COUNTER_FILES,
  IncompleteFolder,
  missingCounterFiles,
  nameGenerations,
} from '../../src/state/embedded/inventory.ts';
import { repairFolder } from '../../src/state/embedded/repair.ts';
import { KEPT } from '../support/audit.ts';
import { DAY, HOUR, limits, MINUTE, window } from '../support/limits.ts';
import { keyRecord, note } from '../support/records.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { WITH_CLOCK } from '../support/transfer.ts';
import { until } from '../support/until.ts';

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
const logs = (at = folder) => readdirSync(at).filter((file) => /^counters\.\d+\.log$/.test(file));
const files = (at: string) =>
  new Map(readdirSync(at).map((file) => [file, readFileSync(join(at, file)).toString()]));

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

  test.each<[string, (file: string) => void]>([
    ['deleted', (file) => rmSync(file)],
    ['emptied', (file) => writeFileSync(file, '')],
  ])(
    'is refused with its file of counters %s, until it is there again or repaired',
    async (_, lose) => {
      const copy = await crashed();
      const [name] = logs(copy);
      const file = join(copy, name!);
      const text = readFileSync(file);
      lose(file);
      for (const read of READERS) {
        expect(() => read(copy)).toThrow(IncompleteFolder);
        expect(() => read(copy)).toThrow(
          `${file} is missing or empty, with counters and bans: put it back, or run "storegate state repair" to continue without it`,
        );
      }
      writeFileSync(file, text);
      const again = open(copy);
      expect(await again.state.bans()).toHaveLength(1);
      await again.close();

      const lost = logs(copy);
      for (const each of lost) lose(join(copy, each));
      expect(await repairFolder(copy)).toEqual({ files: lost, changes: 0 });
      const repaired = open(copy);
      expect(await repaired.state.bans()).toEqual([]);
      expect(await repaired.keys.find(record.hash)).toEqual(record);
      await repaired.close();
    },
  );

  test('is refused with one of several files of counters deleted', async () => {
    const first = await crashed();
    // Another start writes all counters into a second file; the first one is removed when that has
    // everything.
    const gateway = open(first);
    await gateway.state.ban('key:b', FREE, HOUR);
    await until(
      'the first file is gone',
      () => logs(first).length === 1 && !logs(first).includes(`${COUNTER_FILES}.1.log`),
    );
    const copy = folderOf();
    cpSync(first, copy, { recursive: true });
    await gateway.close();
    const [name] = logs(copy);
    rmSync(join(copy, name!));
    expect(() => open(copy)).toThrow(`${join(copy, name!)} is missing`);
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

  test('whose state.db is lost starts again once it is repaired', async () => {
    const copy = await crashed();
    for (const file of ['state.db', 'state.db-wal', 'state.db-shm'])
      rmSync(join(copy, file), { force: true });
    expect(await repairFolder(copy)).toEqual({ files: ['state.db'], changes: 1 });
    const gateway = open(copy);
    expect(await gateway.keys.find(record.hash)).toBeNull();
    expect(await gateway.state.bans()).toHaveLength(1);
    await gateway.close();
    expect(await repairFolder(copy)).toEqual({ files: [], changes: 0 });
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
      // SQLite's index of the WAL belongs to its readers.
      for (const each of [before, after]) each.delete('state.db-shm');
      expect(after).toEqual(before);
      const [name] = logs(whole);
      rmSync(join(whole, name!));
      expect(() => open(whole)).toThrow(IncompleteFolder);
    },
  );

  test('is whole although its gateway replaces a file of counters during the check', async () => {
    const copy = await crashed();
    const db = openStateFile(copy);
    cpSync(join(copy, `${COUNTER_FILES}.1.log`), join(copy, `${COUNTER_FILES}.2.log`));
    nameGenerations(db, [1, 2]);
    function dropOlder(): void {
      nameGenerations(db, [2]);
      rmSync(join(copy, `${COUNTER_FILES}.1.log`), { force: true });
    }
    const all = (query: string) => {
      const rows = db.prepare(query).all();
      dropOlder();
      return rows;
    };
    const read = { prepare: (query: string) => ({ all: () => all(query) }) };
    expect(missingCounterFiles(copy, read as unknown as DatabaseSync)).toEqual([]);
    rmSync(join(copy, `${COUNTER_FILES}.2.log`));
    expect(missingCounterFiles(copy, db)).toEqual([`${COUNTER_FILES}.2.log`]);
    db.close();
  });

  test('that is repaired must keep its remaining files', async () => {
    const copy = await crashed();
    const [first] = logs(copy);
    const gateway = open(copy);
    await gateway.state.ban('key:b', FREE, HOUR);
    const second = folderOf();
    cpSync(copy, second, { recursive: true });
    await gateway.close();
    const all = logs(second);
    expect(all).toEqual([first, `${COUNTER_FILES}.2.log`]);
    rmSync(join(second, first!));
    expect(await repairFolder(second)).toEqual({ files: [first], changes: 0 });
    await folderSource(second, WITH_CLOCK).close();
    rmSync(join(second, `${COUNTER_FILES}.2.log`));
    for (const read of READERS)
      expect(() => read(second)).toThrow(`${COUNTER_FILES}.2.log is missing`);
  });

  test('is copied with a report of damage, as a start reports it', async () => {
    const copy = await crashed();
    const file = join(copy, logs(copy)[0]!);
    const { size } = statSync(file);
    truncateSync(file, size - 1);
    const reports: string[] = [];
    const damaged = (damage: string) => void reports.push(damage);
    await folderSource(copy, { ...WITH_CLOCK, damaged }).close();
    await folderTarget(copy, { ...WITH_CLOCK, damaged }).close();
    await open(copy).close();
    const warnings = events.filter(({ type }) => type === 'state.warning');
    expect(reports).toEqual([expect.stringContaining(`${file} ends torn or damaged`), reports[0]]);
    expect(warnings).toEqual([expect.objectContaining({ warning: reports[0] })]);
  });

  test('that has nothing to remember any more needs no file of counters', async () => {
    const gateway = open();
    await gateway.state.admit('key:a', FREE, 1);
    await gateway.close();
    const later = openEmbedded(folder, {
      clock: () => Date.now() + 400 * DAY,
      audit: KEPT,
      observe: () => {},
    });
    await later.close();
    expect(logs()).toEqual([]);
    await open().close();
  });

  test('that a version has used which names no files of counters is taken as it is', async () => {
    const copy = await crashed();
    const [name] = logs(copy);
    // It wrote everything into a newer file, and removed the older one.
    cpSync(join(copy, name!), join(copy, `${COUNTER_FILES}.9.log`));
    rmSync(join(copy, name!));
    const gateway = open(copy);
    expect(await gateway.state.bans()).toHaveLength(1);
    await gateway.close();
  });
});
