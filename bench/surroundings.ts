import { join } from 'node:path';
import { checkOut } from '../test/support/checkout.ts';
import { startBackend } from './backend.ts';
import { Children } from './children.ts';
import { missingExecutable, stepAside } from './processors.ts';
import { type RedisServer, startRedis } from './redis-server.ts';
import type { Surroundings } from './targets/target.ts';

type Checkout = ReturnType<typeof checkOut>;

export async function withSurroundings<T>(
  work: (surroundings: Surroundings) => Promise<T>,
  programs: readonly string[] = [],
): Promise<T> {
  for (const name of ['nginx', 'wrk', ...programs]) {
    const missing = missingExecutable(name);
    if (missing !== null) throw new Error(missing);
  }
  stepAside();
  const children = new Children();
  let redis: RedisServer | null = null;
  try {
    const backend = await startBackend(children);
    if (missingExecutable('redis-server') === null) redis = await startRedis(children);
    return await work({ children, backend, redis });
  } finally {
    redis?.client.disconnect();
    await children.close();
  }
}

/** The commit `before`, if any, and this checkout. */
export function checkouts(before: string | null | undefined, parent: string): Checkout[] {
  const now = { name: 'now', folder: join(import.meta.dirname, '..') };
  return before ? [checkOut(before, parent), now] : [now];
}
