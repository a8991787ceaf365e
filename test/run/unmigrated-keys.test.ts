import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Outage } from '../../src/common/errors/outage.ts';
import type { Event } from '../../src/observe/events.ts';
import { folderTarget } from '../../src/records/transfer/folder.ts';
import { reportUnmigratedKeys } from '../../src/run/unmigrated-keys.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { movable, moveAll, sourceOf, WITH_CLOCK } from '../support/transfer.ts';

const newFolder = temporaryFolders();
beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Redis does not answer the first `late` queries for keys, and then has none. */
async function start(late: number) {
  const data = newFolder();
  await moveAll(sourceOf({ key: [movable(1)] }), folderTarget(data, WITH_CLOCK));
  const stop = new AbortController();
  const events: Event[] = [];
  const requested = { count: 0 };
  const keys = {
    async get() {
      if (++requested.count <= late) throw new Outage('state_unavailable');
      return null;
    },
  };
  const config = { redis: {}, data } as unknown as Parameters<typeof reportUnmigratedKeys>[0];
  const observe = (event: Event) => void events.push(event);
  const first = await reportUnmigratedKeys(config, keys, { observe, stopped: stop.signal });
  return { first, events, asked: requested, stop, data };
}

test('unmigrated keys are reported once Redis answers, however late that is', async () => {
  const { first, events, data } = await start(10);
  expect([first, events]).toEqual([null, []]);
  await jest.advanceTimersByTimeAsync(5_000);
  expect(events).toEqual([
    expect.objectContaining({ type: 'state.unmigrated_keys', folder: data, keys: 1, unknown: 1 }),
  ]);
  await jest.advanceTimersByTimeAsync(5_000);
  expect(events).toHaveLength(1);
});

test('a gateway that stops sends no more queries', async () => {
  const { asked: requested, stop, events } = await start(10);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(requested.count).toBe(6);
  stop.abort();
  await jest.advanceTimersByTimeAsync(10_000);
  expect([requested.count, events]).toEqual([6, []]);
});
