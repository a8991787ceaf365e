import { join } from 'node:path';
import { makeSecret } from '../src/records/keys/secret.ts';
import { checkOut } from '../test/support/checkout.ts';
import { startBackend } from './backend.ts';
import { Children } from './children.ts';
import { stepAside } from './processors.ts';
import { startRedis } from './redis-server.ts';
import {
  missingExecutable,
  type Running,
  type Surroundings,
  type Target,
} from './targets/target.ts';

type Checkout = ReturnType<typeof checkOut>;

export interface Started {
  readonly target: Target;
  readonly running: Running;
}

export async function withSurroundings<T>(
  work: (surroundings: Surroundings) => Promise<T>,
): Promise<T> {
  for (const name of ['nginx', 'wrk']) {
    const missing = missingExecutable(name);
    if (missing !== null) throw new Error(missing);
  }
  stepAside();
  const children = new Children();
  let surroundings: Surroundings | null = null;
  try {
    const backend = await startBackend(children);
    const redis = missingExecutable('redis-server') === null ? await startRedis(children) : null;
    const keys = {
      admitted: makeSecret('bench'),
      refused: makeSecret('bench'),
      unknown: makeSecret('bench'),
    };
    surroundings = { children, backend, redis, keys };
    return await work(surroundings);
  } catch (error) {
    for (const death of children.deaths) console.error(death);
    throw error;
  } finally {
    surroundings?.redis?.close();
    await children.close();
  }
}

export async function startAll(
  targets: readonly Target[],
  surroundings: Surroundings,
  skip: (target: Target, reason: string) => void,
): Promise<Started[]> {
  const started: Started[] = [];
  for (const target of targets) {
    const missing = target.missing();
    if (missing !== null) skip(target, missing);
    else started.push({ target, running: await target.start(surroundings) });
  }
  return started;
}

/** The commit `before`, if any, and this checkout. */
export function checkouts(before: string | null | undefined, parent: string): Checkout[] {
  const now = { name: 'now', folder: join(import.meta.dirname, '..') };
  return before ? [checkOut(before, parent), now] : [now];
}
