import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { MaybePromise } from '../../src/common/maybe-promise.ts';
import type { Counters } from '../../src/limits/counters.ts';
import type { Window } from '../../src/limits/limits.ts';
import type { Event } from '../../src/observe/events.ts';
import { openEmbedded } from '../../src/records/embedded/open.ts';
import type { Storage } from '../../src/records/storage.ts';
import { replaceCounters } from '../../src/state/embedded/counter-store.ts';
import { openStateFile, StateFileError } from '../../src/state/embedded/file.ts';
import { lockFolder } from '../../src/state/embedded/lock.ts';
import { CounterPacker, CounterUnpacker } from '../../src/state/embedded/packing.ts';
import { JournalError } from '../../src/state/journal/format.ts';
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

describe('packed counters', () => {
  const windows = fc.constantFrom(
    [window(5, MINUTE)],
    [window(5, MINUTE), window(100, DAY, 'sliding')],
    [window(1, HOUR, 'sliding')],
  );
  const time = fc.nat();
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
  const entries = fc.array(
    fc.tuple(
      fc.string({ unit: 'binary', maxLength: 30 }),
      windows.chain((list) => {
        const size = list.reduce((sum, { kind }) => sum + (kind === 'fixed' ? 2 : 22), 0);
        return fc.record<Counters>({
          windows: fc.constant(list),
          cells: fc.array(fc.double({ noNaN: true }), { minLength: size, maxLength: size }),
          strikeState: fc.option(strikeState),
        });
      }),
    ),
    { minLength: 1, maxLength: 20 },
  );

  test('are read as they were written, whatever is in them', () => {
    const packer = new CounterPacker();
    fc.assert(
      fc.property(entries, (written) => {
        for (const [subject, counters] of written) packer.add(subject, counters);
        const read: [string, Counters][] = [];
        new CounterUnpacker().read(packer.take(), 'f', (subject, counters) =>
          read.push([subject, counters]),
        );
        expect(read).toEqual(
          written.map(([subject, counters]) => [subject.toWellFormed(), counters]),
        );
      }),
    );
  });

  test('say so where they have windows that earlier versions would read as others: of a scope, of the calendar', () => {
    const packer = new CounterPacker();
    const own = window(5, MINUTE);
    const formatOf = (...lists: (readonly Window[])[]) => {
      for (const windows of lists)
        packer.add('a', { windows, cells: windows.flatMap(() => [0, 0]), strikeState: null });
      return packer.take()[0];
    };
    expect(formatOf([own], [own, { ...own, scope: 'login' }])).toBe(2);
    expect(formatOf([own])).toBe(1);
    const month = calendar(5, 31 * DAY, 'Europe/Berlin', 15);
    expect(formatOf([{ ...own, scope: 'login' }, month], [own])).toBe(3);
  });

  test('share their lists of windows, like counters in memory', () => {
    const packer = new CounterPacker();
    const read: Counters[] = [];
    const unpacker = new CounterUnpacker();
    for (const name of ['a', 'b', 'c']) {
      packer.add(name, { windows: [window(5, MINUTE)], cells: [1, 2], strikeState: null });
      if (name !== 'b') unpacker.read(packer.take(), 'f', (_, counters) => read.push(counters));
    }
    expect(read).toHaveLength(3);
    expect(new Set(read.map(({ windows }) => windows)).size).toBe(1);
  });

  test.each([
    [Buffer.from([4, 0]), /f was written by another storegate \(counters 4\)/],
    [Buffer.from([1, 9]), /f holds a record that is not valid counters \(9\)/],
  ])('of another format are refused: %j', (payload, message) => {
    expect(() => new CounterUnpacker().read(payload, 'f', () => {})).toThrow(message);
    expect(() => new CounterUnpacker().read(payload, 'f', () => {})).toThrow(JournalError);
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
  ])('has a %s by an operator when that resolves', async (_, act) => {
    const { state, close } = open();
    for (let i = 0; i < 3; i++) await state.admit('key:a', FREE, 1);
    await state.ban('key:a', FREE, HOUR);
    clock.pass(1_000);
    await act(state);
    const looks = async (one: State) =>
      await Promise.all(['key:a', 'key:new'].map((subject) => one.look(subject, FREE)));
    const after = afterCrash();
    expect(await looks(after.state)).toEqual(await looks(state));
    expect(await after.state.bans()).toEqual(await state.bans());
    await Promise.all([close(), after.close()]);
  });

  test('refuses what operators do while it cannot be written, and decides on', async () => {
    const { state, close, unsavedFor } = open();
    await state.admit('key:a', FREE, 1);
    await state.ban('key:b', FREE, HOUR);
    // The next file has the number 2, and cannot be made.
    await close();
    const again = open();
    mkdirSync(join(folder, 'counters.2.log'));
    for (const act of [again.state.ban('key:a', FREE, HOUR), again.state.liftBan('key:b')]) {
      await expect(act).rejects.toMatchObject({
        code: 'state_unavailable',
        cause: { message: 'nothing was changed, because the data folder cannot be written' },
      });
    }
    expect((await again.state.bans()).map(({ subject }) => subject)).toEqual(['key:b']);
    expect(await again.state.admit('key:a', FREE, 1)).toMatchObject({ verdict: 'admitted' });
    expect(events.map(({ type }) => type)).toContain('state.write_failed');
    await until('it works again', () =>
      events.some(({ type }) => type === 'state.write_recovered'),
    );
    expect([unsavedFor(), again.unsavedFor()]).toEqual([0, 0]);
    await again.close();
    rmdirSync(join(folder, 'counters.2.log'));
    expect(kept().get('key:a')?.cells[1]).toBe(2);
  });

  test('reports a torn end, and continues with the records before it', async () => {
    const first = open();
    await first.state.ban('key:a', FREE, HOUR);
    await first.state.ban('key:b', FREE, HOUR);
    await first.close();
    const [log] = logs();
    const bytes = readFileSync(join(folder, log!));
    writeFileSync(join(folder, log!), bytes.subarray(0, -1));
    const second = open();
    expect((await second.state.bans()).length).toBeLessThan(2);
    expect(events).toEqual([{ type: 'state.warning', warning: expect.stringContaining(log!) }]);
    await second.close();
  });

  test('is refused where a newer version has written it, and left alone', async () => {
    await open().close();
    writeFileSync(join(folder, 'counters.7.log'), 'storegate journal 2 counters\n');
    expect(open).toThrow(JournalError);
    expect(open).toThrow(/counters\.7\.log was written by a newer storegate/);
    rmSync(join(folder, 'counters.7.log'));
    await open().close();
  });

  test('is refused where a folder has the name of one of its files', async () => {
    await open().close();
    mkdirSync(join(folder, 'counters.7.log'));
    expect(open).toThrow(JournalError);
    expect(open).toThrow(/counters\.7\.log is not a file: move it out of the way/);
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

  test('can be read and replaced as a whole', async () => {
    const counters = (used: number): Counters => ({
      windows: [window(5, DAY)],
      cells: [clock.now, used],
      strikeState: null,
    });
    const replaced = new Map([
      ['key:a', counters(1)],
      ['key:b', counters(2)],
    ]);
    openStateFile(folder).close();
    replaceCounters(folder, replaced);
    expect(kept()).toEqual(replaced);
    replaceCounters(folder, new Map([['key:c', counters(3)]]));
    const { state, close } = open();
    expect(state.size).toBe(1);
    expect(await state.look('key:c', limits([window(5, DAY)]))).toMatchObject({
      readings: [{ used: 3 }],
    });
    await close();
    replaceCounters(folder, new Map());
    expect(kept().size).toBe(0);
  });
});

const logs = () => readdirSync(folder).filter((file) => file.startsWith('counters.'));

async function both(...acts: MaybePromise<void>[]): Promise<void> {
  await Promise.all(acts);
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
