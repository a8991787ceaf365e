import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { MaybePromise } from '../../src/common/maybe-promise.ts';
import { type Counters, newCounters } from '../../src/limits/counters.ts';
import type { Event } from '../../src/observe/events.ts';
import { openEmbedded } from '../../src/records/embedded/open.ts';
import type { Storage } from '../../src/records/storage.ts';
import { readCounters, replaceCounters } from '../../src/state/embedded/counter-store.ts';
import { openStateFile, StateFileError } from '../../src/state/embedded/file.ts';
import { lockFolder } from '../../src/state/embedded/lock.ts';
import { openRowFile } from '../../src/state/rows/row-file.ts';
import type { State } from '../../src/state/state.ts';
import { KEPT } from '../support/audit.ts';
import { storedCounters } from '../support/counters.ts';
import { calendar, DAY, HOUR, limits, MINUTE, TestClock, window } from '../support/limits.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const folderOf = temporaryFolders();
let folder: string;
let clock: TestClock;
let events: Event[];
beforeEach(() => {
  folder = folderOf();
  clock = new TestClock();
  events = [];
});

const open = () =>
  openEmbedded(folder, { clock: clock.read, audit: KEPT, observe: (event) => events.push(event) });
const kept = () => storedCounters(folder, clock.now);
const FREE = limits([window(5, MINUTE), window(100, DAY, 'sliding')]);

describe('stored counters', () => {
  const time = fc.nat();
  const lists = fc.constantFrom(
    [window(5, MINUTE)],
    [window(5, MINUTE), { ...window(5, MINUTE), scope: 'login' }],
    [window(5, MINUTE), window(100, DAY, 'sliding')],
    [calendar(5, 31 * DAY, 'Europe/Berlin', 15)],
  );
  const strikeState = fc.record({
    refused: fc.record({ at: time, until: time, refusals: time }),
    strikes: fc.array(time, { maxLength: 4 }),
    bannedUntil: time,
    bannedSince: time,
    bannedFor: fc.option(fc.constant(window(5, MINUTE))),
    level: fc.nat(5),
    cleanSince: time,
    forgottenAt: time,
  });
  const counters = lists.chain((windows) => {
    const { length } = newCounters(windows).cells;
    return fc.record<Counters>({
      windows: fc.constant(windows),
      cells: fc.array(fc.maxSafeNat(), { minLength: length, maxLength: length }),
      strikeState: fc.option(strikeState),
    });
  });
  const bySubject = fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 30 }), counters, {
    maxKeys: 20,
    noNullPrototype: true,
  });

  test('are read as they were written, and share their lists of windows', () => {
    const db = openStateFile(folder);
    fc.assert(
      fc.property(bySubject, (written) => {
        replaceCounters(folder, db, new Map(Object.entries(written)));
        const read = readCounters(folder, db);
        expect(Object.fromEntries(read)).toEqual(written);
        const distinct = (values: Iterable<Counters>) =>
          new Set([...values].map(({ windows }) => windows)).size;
        expect(distinct(read.values())).toBe(distinct(Object.values(written)));
      }),
      { numRuns: 50 },
    );
    db.close();
  });
});

describe('a folder with counters', () => {
  test('has what requests changed without a stop, and a running gateway lets others read it', async () => {
    const gateway = open();
    for (let i = 0; i < 4; i++) await gateway.state.admit('key:a', FREE, 1);
    await until('the count is on disk', () => kept().get('key:a')?.cells[1] === 4);
    await gateway.state.admit('key:a', FREE, 1);
    for (let i = 0; i < 3; i++) {
      await gateway.state.admit('key:a', FREE, 1);
      clock.pass(200);
    }
    await until(
      'the strikes are on disk',
      () => kept().get('key:a')?.strikeState?.strikes.length === 2,
    );
    expect(kept().get('key:a')?.cells[1]).toBe(5);
    await gateway.close();
  });

  test.each<[string, (state: State) => MaybePromise<void>]>([
    ['ban', (state) => state.ban('key:a', FREE, 2 * HOUR)],
    ['ban of a key that never came', (state) => state.ban('key:new', FREE, HOUR)],
    ['lifted ban', (state) => state.liftBan('key:a')],
    ['reset', (state) => state.reset('key:a')],
    ['grant', (state) => state.grant('key:a', FREE, 2, null)],
    [
      'ban that is lifted at once',
      (state) => both(state.ban('key:new', FREE, HOUR), state.liftBan('key:new')),
    ],
  ])('has a %s by an operator when that resolves', async (_, action) => {
    const { state, close } = open();
    for (let i = 0; i < 3; i++) await state.admit('key:a', FREE, 1);
    await state.ban('key:a', FREE, HOUR);
    clock.pass(1_000);
    await action(state);
    const looks = async (one: State) =>
      await Promise.all(['key:a', 'key:new'].map((subject) => one.look(subject, FREE)));
    const after = afterCrash();
    expect(await looks(after.state)).toEqual(await looks(state));
    expect(await after.state.bans()).toEqual(await state.bans());
    await Promise.all([close(), after.close()]);
  });

  test('refuses what operators do while it cannot be written, and decides on', async () => {
    const { state, close, unsavedFor } = open();
    await state.ban('key:b', FREE, HOUR);
    const rows = openRowFile(folder);
    rows.exec(
      "CREATE TRIGGER full BEFORE INSERT ON rows BEGIN SELECT RAISE(ABORT, 'the disk is full'); END",
    );
    await state.admit('key:a', FREE, 1);
    for (const action of [state.ban('key:a', FREE, HOUR), state.liftBan('key:b')]) {
      await expect(action).rejects.toMatchObject({
        code: 'state_unavailable',
        cause: { message: 'nothing was changed, because the data folder cannot be written' },
      });
    }
    expect((await state.bans()).map(({ subject }) => subject)).toEqual(['key:b']);
    expect(await state.admit('key:a', FREE, 1)).toMatchObject({ verdict: 'admitted' });
    expect(events.map(({ type }) => type)).toContain('state.write_failed');
    expect(unsavedFor()).toBeGreaterThan(0);
    rows.exec('DROP TRIGGER full');
    rows.close();
    await until('it works again', () =>
      events.some(({ type }) => type === 'state.write_recovered'),
    );
    expect(unsavedFor()).toBe(0);
    await close();
    expect(kept().get('key:a')?.cells[1]).toBe(2);
    expect(kept().get('key:a')?.strikeState).toBeNull();
  });

  test('leaves out a row that is damaged, and names it', async () => {
    const first = open();
    await first.state.ban('key:a', FREE, HOUR);
    await first.state.ban('key:b', FREE, HOUR);
    await first.close();
    const rows = openRowFile(folder);
    rows.exec("UPDATE rows SET value = '[' WHERE name = 'key:a'");
    rows.close();
    const second = open();
    expect((await second.state.bans()).map(({ subject }) => subject)).toEqual(['key:b']);
    expect(events).toEqual([{ type: 'state.warning', warning: expect.stringContaining('key:a') }]);
    await second.close();
  });

  test('is refused if another version has written it', async () => {
    await open().close();
    const rows = openRowFile(folder);
    rows.exec('PRAGMA user_version = 7');
    rows.close();
    expect(open).toThrow(/counters\.db was written by another storegate \(format 7\)/);
  });

  test('forgets strikes and levels by the escalation of its plans, and not before it has one', async () => {
    const first = open();
    await first.state.ban('key:a', FREE, MINUTE);
    await first.state.admit('key:b', limits([window(5, MINUTE)]), 1);
    await first.close();
    clock.pass(2 * MINUTE);
    const second = open();
    expect(second.state.size).toBe(1);
    expect(await second.state.banLevel('key:a', FREE)).toBe(1);
    await second.close();
    expect([...kept().keys()]).toEqual(['key:a']);
  });

  test('is not touched by a gateway that finds another one running', () => {
    const lock = lockFolder(folder);
    expect(open).toThrow(StateFileError);
    expect(existsSync(join(folder, 'state.db'))).toBe(false);
    lock.release();
  });
});

const logs = () => readdirSync(folder).filter((file) => file.startsWith('counters.'));

async function both(...actions: MaybePromise<void>[]): Promise<void> {
  await Promise.all(actions);
}

/** What a gateway finds that starts after the one that runs was killed. */
function afterCrash(): Storage {
  const copy = folderOf();
  for (const file of logs()) copyFileSync(join(folder, file), join(copy, file));
  for (const file of ['state.db', 'state.db-wal'])
    copyFileSync(join(folder, file), join(copy, file));
  return openEmbedded(copy, {
    clock: clock.read,
    audit: KEPT,
    observe: (event) => events.push(event),
  });
}
