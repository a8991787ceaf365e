import { setTimeout as pause } from 'node:timers/promises';
import { Outage, unlessOutage } from '../../common/errors/outage.ts';
import type { Connection } from './client.ts';
import { keyOf, LOCK_TTL } from './key-names.ts';
import { limitLifetime } from './lifetimes.ts';
import { allWithTimeout, withTimeout } from './timeouts.ts';

/** Milliseconds: maximum wait, and delay between attempts. */
const LOCK_WAIT = 2_000;
const RETRY_DELAY = 10;

/**
 * Runs `work` under exclusive locks, so that its checks still hold when the audit entry is written.
 * Each write of data checks its own condition and needs no lock. A dead holder's lock expires after
 * `LOCK_TTL`. Throws `Outage` if a lock stays taken too long.
 */
export async function withLocks<T>(
  redis: Connection,
  names: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const keys = [...new Set(names)].map(keyOf.lock);
  const until = performance.now() + LOCK_TTL;
  await take(redis, keys);
  try {
    return await work();
  } finally {
    // Later, the locks may belong to another process.
    if (performance.now() < until) await release(redis, keys);
  }
}

/** All or none: a waiting process holds no lock, which prevents deadlocks. */
async function take(redis: Connection, keys: readonly string[]): Promise<void> {
  const giveUpAt = performance.now() + LOCK_WAIT;
  const commands = keys.map((key) => [
    'set',
    key,
    '',
    'PX',
    `${LOCK_TTL}`,
    'NX',
  ]);
  for (let tries = 1; ; tries++) {
    const answers = await allWithTimeout(redis, commands);
    const held = keys.filter((_, i) => answers[i] !== null);
    if (held.length === keys.length) return;
    await release(redis, held);
    if (tries === 1)
      for (const key of keys)
        if (!held.includes(key)) await limitLifetime(redis, key, LOCK_TTL);
    if (performance.now() > giveUpAt) {
      const cause = `somebody else holds ${keys.find((_, i) => answers[i] === null)}`;
      throw new Outage('state_unavailable', { cause });
    }
    await pause(RETRY_DELAY * (0.5 + Math.random()));
  }
}

/** Unreleased locks expire. */
async function release(
  redis: Connection,
  keys: readonly string[],
): Promise<void> {
  const commands = keys.map((key) => ['del', key]);
  await unlessOutage(() => allWithTimeout(redis, commands), undefined);
}

/** A lock that its holder extends while it works. Returns false if another process has it. */
export async function tryLock(
  redis: Connection,
  name: string,
): Promise<boolean> {
  const key = keyOf.lock(name);
  if ((await withTimeout(redis.set(key, '', 'PX', LOCK_TTL, 'NX'))) !== null)
    return true;
  await limitLifetime(redis, key, LOCK_TTL);
  return false;
}

export async function holdLock(redis: Connection, name: string): Promise<void> {
  await withTimeout(redis.set(keyOf.lock(name), '', 'PX', LOCK_TTL));
}

export async function releaseLock(
  redis: Connection,
  name: string,
): Promise<void> {
  await release(redis, [keyOf.lock(name)]);
}
