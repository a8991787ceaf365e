import { setTimeout as pause } from 'node:timers/promises';
import { Outage } from '../../errors/outage.ts';
import { asked } from './asking.ts';
import type { Connection } from './client.ts';
import { keyOf, LOCK_LIFE } from './key-names.ts';

/** Milliseconds: longest wait for somebody else's change, and between two tries. */
const PATIENCE = 2_000;
const TRY_AGAIN = 10;

/**
 * Runs `work` while no other process runs work under one of the same names. So what was checked first still holds when the
 * audit entry is written. The data itself needs no lock: each write of it checks for itself. A holder that died keeps a lock
 * for at most `LOCK_LIFE`. Throws `Outage` where somebody else holds one for too long.
 */
export async function exclusively<T>(redis: Connection, names: readonly string[], work: () => Promise<T>): Promise<T> {
  // Everybody takes locks in the same order, so no two wait for each other.
  const keys = [...new Set(names)].sort().map(keyOf.lock);
  const held: string[] = [];
  const until = performance.now() + LOCK_LIFE;
  try {
    for (const key of keys) {
      await take(redis, key);
      held.push(key);
    }
    return await work();
  } finally {
    // Later they may be somebody else's. A lock that cannot be given back ends by itself.
    if (performance.now() < until) await Promise.all(held.map((key) => asked(redis.del(key)).catch(() => {})));
  }
}

async function take(redis: Connection, key: string): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE;
  while ((await asked(redis.set(key, '', 'PX', LOCK_LIFE, 'NX'))) === null) {
    if (performance.now() > giveUpAt)
      throw new Outage('state_unavailable', { cause: `somebody else holds ${key}`, headers: ['Retry-After', '1'] });
    await pause(TRY_AGAIN * (0.5 + Math.random()));
  }
}
