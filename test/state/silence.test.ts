import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Redis } from 'ioredis';

// Connections of other suites in this process have the timer of the shared module.
const FRESH = '../../src/state/redis/silence.ts?fresh';
const { watchSilence }: typeof import('../../src/state/redis/silence.ts') = await import(FRESH);

const NEVER = new Promise<string>(() => {});

describe('connections to Redis', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  function connection(reply: Promise<string>) {
    let pings = 0;
    const ping = () => {
      pings++;
      return reply;
    };
    return { redis: { status: 'ready', ping } as unknown as Redis, pings: () => pings };
  }

  test('are looked at together, with one timer until the last one is closed', async () => {
    const [one, other] = [connection(Promise.resolve('PONG')), connection(Promise.resolve('PONG'))];
    const stops = [one, other].map(({ redis }) => watchSilence(redis, () => {}));
    expect(jest.getTimerCount()).toBe(1);
    await jest.advanceTimersByTimeAsync(3_100);
    stops[0]!();
    await jest.advanceTimersByTimeAsync(2_000);
    expect([one.pings(), other.pings()]).toEqual([3, 5]);
    stops[1]!();
    expect(jest.getTimerCount()).toBe(0);
  });

  test('are dropped after two seconds without a reply, the others stay', async () => {
    const [silent, other] = [connection(NEVER), connection(Promise.resolve('PONG'))];
    const dropped: Redis[] = [];
    const stops = [silent, other].map(({ redis }) =>
      watchSilence(redis, (node) => void dropped.push(node)),
    );
    await jest.advanceTimersByTimeAsync(2_900);
    expect(dropped).toEqual([]);
    await jest.advanceTimersByTimeAsync(1_200);
    expect([...new Set(dropped)]).toEqual([silent.redis]);
    for (const stop of stops) stop();
  });
});
