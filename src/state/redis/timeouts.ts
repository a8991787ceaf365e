import { Cluster } from 'ioredis';
import { Outage } from '../../errors/outage.ts';
import { withDeadline } from '../shared/deadline.ts';
import { OutageGrace } from '../shared/outage-grace.ts';
import type { Connection } from './client.ts';
import { shardsOf } from './shards.ts';

/** Timeout of operators' commands in milliseconds. */
const COMMAND_TIMEOUT = 2_000;

const SERVICE = 'Redis';

/** Waits at most `deadline` milliseconds; then rejects with DeadlineError. */
export function withOutageDeadline<T>(work: Promise<T>, deadline: number): Promise<T> {
  return withDeadline(work, deadline, SERVICE);
}

/** How requests wait for Redis. `deadline` in milliseconds. */
export function graceWith(redis: Connection, deadline: number): OutageGrace {
  return new OutageGrace({ deadline, service: SERVICE, shardOf: shardsOf(redis).shardOf });
}

/** Rejects with `Outage` after `wait` milliseconds or an error. */
export async function withTimeout<T>(work: Promise<T>, wait = COMMAND_TIMEOUT): Promise<T> {
  return orOutage(withOutageDeadline(work, wait));
}

/** Converts errors to `Outage`. */
export async function orOutage<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new Outage('state_unavailable', { cause: error, headers: ['Retry-After', '1'] });
  }
}

/** The command name is lower case. */
export type Command = readonly [name: string, ...args: string[]];

/**
 * Returns the replies in the order of the commands. Throws `Outage`. A single Redis gets all commands in one write; in
 * a Cluster each goes to its own node.
 */
export async function allWithTimeout(redis: Connection, commands: readonly Command[]): Promise<unknown[]> {
  if (commands.length < 2 || redis instanceof Cluster)
    return Promise.all(commands.map(([name, ...args]) => withTimeout(redis.call(name, ...args))));
  const answers = await withTimeout(redis.pipeline(commands.map((command) => [...command])).exec());
  return Promise.all(
    (answers ?? []).map(([error, answer]) => orOutage(error ? Promise.reject(error) : Promise.resolve(answer))),
  );
}
