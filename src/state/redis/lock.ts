import { unlessOutage } from '../../common/errors/outage.ts';
import type { Connection } from './client.ts';
import { keyOf, LOCK_TTL } from './key-names.ts';
import { limitLifetime } from './lifetimes.ts';
import { withTimeout } from './timeouts.ts';

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

/** An unreleased lock expires. */
export async function releaseLock(
  redis: Connection,
  name: string,
): Promise<void> {
  await unlessOutage(() => withTimeout(redis.del(keyOf.lock(name))), undefined);
}
