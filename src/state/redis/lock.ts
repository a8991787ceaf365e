import { setTimeout as pause } from 'node:timers/promises';
import { Outage } from '../../errors/outage.ts';
import type { Connection } from './client.ts';
import { keyOf, LOCK_TTL } from './key-names.ts';
import { allWithTimeout } from './timeouts.ts';

/** Milliseconds: longest wait for somebody else's change, and between two tries. */
const LOCK_WAIT = 2_000;
const RETRY_DELAY = 10;

/**
 * Runs `work` while no other process runs work under one of the same names. So what was checked first still holds when the
 * audit entry is written. The data itself needs no lock: each write of it checks for itself. A holder that died keeps a lock
 * for at most `LOCK_LIFE`. Throws `Outage` where somebody else holds one for too long.
 */
export async function withLocks<T>(redis: Connection, names: readonly string[], work: () => Promise<T>): Promise<T> {
  const keys = [...new Set(names)].map(keyOf.lock);
  const until = performance.now() + LOCK_TTL;
  await take(redis, keys);
  try {
    return await work();
  } finally {
    // Later they may be somebody else's.
    if (performance.now() < until) await release(redis, keys);
  }
}

/** Takes all of them at once or none: who waits holds nothing, so no two wait for each other. */
async function take(redis: Connection, keys: readonly string[]): Promise<void> {
  const giveUpAt = performance.now() + LOCK_WAIT;
  for (;;) {
    const answers = await allWithTimeout(
      redis,
      keys.map((key) => ['set', key, '', 'PX', `${LOCK_TTL}`, 'NX']),
    );
    const held = keys.filter((_, i) => answers[i] !== null);
    if (held.length === keys.length) return;
    await release(redis, held);
    if (performance.now() > giveUpAt) {
      const cause = `somebody else holds ${keys.find((_, i) => answers[i] === null)}`;
      throw new Outage('state_unavailable', { cause, headers: ['Retry-After', '1'] });
    }
    await pause(RETRY_DELAY * (0.5 + Math.random()));
  }
}

/** A lock that cannot be given back ends by itself. */
async function release(redis: Connection, keys: readonly string[]): Promise<void> {
  try {
    await allWithTimeout(
      redis,
      keys.map((key) => ['del', key]),
    );
  } catch (error) {
    if (!(error instanceof Outage)) throw error;
  }
}
