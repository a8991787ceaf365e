import { setTimeout } from 'node:timers/promises';
import { describe, expect, jest, test } from '@jest/globals';
import { countersInFolder } from '../../src/state/embedded/counter-store.ts';
import { createEmbeddedState } from '../../src/state/embedded/counters.ts';
import { openStateFile } from '../../src/state/embedded/file.ts';
import { RowWriteError } from '../../src/state/rows/row-writer.ts';
import { DAY, limits, MINUTE, SECOND, TestClock, window } from '../support/limits.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { keepsThePromisesOfState } from './contract.ts';

const temporary = temporaryFolders();

describe('the embedded state', () => {
  keepsThePromisesOfState(async (clock) => createEmbeddedState({ clock: clock.read }));

  test('finds without requests that the disk cannot be written, and that it can again', async () => {
    const folder = temporary();
    const db = openStateFile(folder);
    const events: string[] = [];
    let isFull = false;
    const writer = {
      put: () => {},
      commit: async () => {
        if (isFull) throw new RowWriteError('the disk is full');
        events.push('written');
      },
      write: async () => {},
      read: async () => [],
      close: async () => {},
    };
    const unsaved = (error: unknown) => events.push((error as Error).message);
    const saved = () => events.push('saved');
    const store = countersInFolder(folder, db, writer, { unsaved, saved }, 1);
    store.begin(() => undefined);
    await until('it is written', () => events.includes('written'));
    isFull = true;
    await until('it is found', () => events.includes('the disk is full'));
    isFull = false;
    await until('it has recovered', () => events.includes('saved'));
    await store.close();
    const { length } = events;
    await setTimeout(20);
    expect(events).toHaveLength(length);
    expect(events.filter((event) => event === 'the disk is full')).toHaveLength(1);
    db.close();
  });

  test('keeps ban levels and strikes while requests without bans are counted', () => {
    const clock = new TestClock();
    const state = createEmbeddedState({ clock: clock.read });
    const short = limits([window(1, SECOND)]);
    void state.ban('key:a', short, SECOND);
    clock.pass(2 * SECOND);
    state.admit('address:192.0.2.1', limits([window(60, MINUTE)], null), 1);
    while (state.forget(500));
    expect(state.banLevel('key:a', short)).toBe(1);
  });

  test('forgets a subject once nothing of it matters, and not before', async () => {
    const clock = new TestClock();
    const state = createEmbeddedState({ clock: clock.read });
    const minute = limits([window(1, MINUTE)]);
    for (let i = 0; i < 2_000; i++) state.admit(`key:${i}`, minute, 1);
    const forgetAll = () => {
      while (state.forget(500));
    };
    clock.pass(MINUTE - 1);
    forgetAll();
    expect(state.size).toBe(2_000);
    state.admit('key:late', minute, 1);
    void state.ban('key:8', minute, DAY);
    clock.pass(2_001);
    forgetAll();
    expect(state.size).toBe(2);
    clock.pass(30 * DAY);
    forgetAll();
    expect(state.size).toBe(0);
    await state.close();
  });

  test('has a timer only while it has subjects, and forgets each after its windows', async () => {
    jest.useFakeTimers();
    try {
      const state = createEmbeddedState();
      expect(jest.getTimerCount()).toBe(0);
      state.admit('key:day', limits([window(1, DAY)]), 1);
      state.admit('key:minute', limits([window(1, MINUTE)]), 1);
      await jest.advanceTimersByTimeAsync(MINUTE - 1);
      expect(state.size).toBe(2);
      await jest.advanceTimersByTimeAsync(2_001);
      expect(state.size).toBe(1);
      await jest.advanceTimersByTimeAsync(DAY);
      expect(state.size).toBe(0);
      expect(jest.getTimerCount()).toBe(0);
      await state.close();
    } finally {
      jest.useRealTimers();
    }
  });
});
