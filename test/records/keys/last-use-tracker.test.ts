import { expect, jest, test } from '@jest/globals';
import {
  createLastUseTracker,
  type LastUseStore,
} from '../../../src/records/keys/last-use-tracker.ts';
import { TestClock } from '../../support/limits.ts';

function open() {
  const kept = new Map<string, number>();
  const store: LastUseStore & { isDown: boolean; saves: number } = {
    isDown: false,
    saves: 0,
    save(uses) {
      if (this.isDown) throw new Error('down');
      this.saves++;
      for (const [id, at] of uses) kept.set(id, Math.max(at, kept.get(id) ?? 0));
    },
    load: (ids) => new Map(ids.filter((id) => kept.has(id)).map((id) => [id, kept.get(id)!])),
  };
  const clock = new TestClock();
  const failures: unknown[] = [];
  const uses = createLastUseTracker(store, {
    clock: clock.read,
    failed: (error) => failures.push(error),
  });
  return { store, kept, clock, uses, failures };
}

test('the last use is known before it is written, and after', async () => {
  const { uses, clock, kept } = open();
  uses.note('key_1');
  expect(await uses.lastUsed(['key_1', 'key_2'])).toEqual(new Map([['key_1', clock.now]]));
  await uses.close();
  expect(kept).toEqual(new Map([['key_1', clock.now]]));
});

test('a timer runs only while a use is not stored', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  try {
    const { uses, kept, store } = open();
    expect(jest.getTimerCount()).toBe(0);
    uses.note('key_1');
    store.isDown = true;
    await jest.advanceTimersByTimeAsync(5_000);
    expect(kept.size).toBe(0);
    store.isDown = false;
    await jest.advanceTimersByTimeAsync(5_000);
    expect(kept.size).toBe(1);
    expect(jest.getTimerCount()).toBe(0);
    await uses.close();
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test('many are written in batches', async () => {
  const { uses, kept, store } = open();
  for (let i = 0; i < 1_700; i++) uses.note(`key_${i}`);
  await uses.close();
  expect(kept.size).toBe(1_700);
  expect(store.saves).toBe(4);
});

test('a failed write is reported, kept, and repeated later', async () => {
  const { uses, kept, store, clock, failures } = open();
  uses.note('key_1');
  store.isDown = true;
  await uses.flush();
  expect(failures).toHaveLength(1);
  expect((await uses.lastUsed(['key_1'])).get('key_1')).toBe(clock.now);
  store.isDown = false;
  await uses.close();
  expect(kept.get('key_1')).toBe(clock.now);
});

test('deprecated calls are remembered per key, within bounds', async () => {
  const { uses, clock } = open();
  for (let i = 0; i < 60; i++) uses.noteDeprecated('key_1', `operation${i}`);
  expect(uses.deprecatedBy('key_1').size).toBe(50);
  clock.pass(5);
  uses.noteDeprecated('key_1', 'operation1');
  expect(uses.deprecatedBy('key_1').get('operation1')).toBe(clock.now);
  for (let i = 0; i < 10_000; i++) uses.noteDeprecated(`other_${i}`, 'one');
  expect(uses.deprecatedBy('key_1').size).toBe(0);
  await uses.close();
});
