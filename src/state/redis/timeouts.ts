import { Cluster } from 'ioredis';
import { Outage } from '../../common/errors/outage.ts';
import { withDeadline } from '../shared/deadline.ts';
import type { Connection } from './client.ts';

/** Milliseconds. */
const COMMAND_TIMEOUT = 2_000;

/** Rejects with `Outage`. `wait` in milliseconds. */
export async function withTimeout<T>(
  work: Promise<T>,
  wait = COMMAND_TIMEOUT,
): Promise<T> {
  return orOutage(withDeadline(work, wait));
}

/** Rejects with `Outage`; its cause is not one. */
export async function orOutage<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Outage) throw error;
    throw new Outage('state_unavailable', { cause: error });
  }
}

/**
 * Each command is its name in lower case and its arguments. In the order of the commands. Rejects
 * with `Outage`. A single Redis gets all commands in one write.
 */
export async function allWithTimeout(
  redis: Connection,
  commands: readonly (readonly string[])[],
): Promise<unknown[]> {
  if (commands.length < 2 || redis instanceof Cluster)
    return Promise.all(
      commands.map(([name, ...args]) =>
        withTimeout(redis.call(name!, ...args)),
      ),
    );
  const replies = await withTimeout(
    redis.pipeline(commands.map((command) => [...command])).exec(),
  );
  return Promise.all(
    (replies ?? []).map(([error, reply]) =>
      orOutage(error ? Promise.reject(error) : Promise.resolve(reply)),
    ),
  );
}
