import { Cluster } from 'ioredis';
import { Outage } from '../../errors/outage.ts';
import { withDeadline } from '../shared/deadline.ts';
import { OutageGrace } from '../shared/outage-grace.ts';
import type { Connection } from './client.ts';
import { shardsOf } from './shards.ts';

/** Milliseconds that operators' commands may take. */
const COMMAND_TIMEOUT = 2_000;

const SERVICE = 'Redis';

/** Waits for Redis, but at most `deadline` milliseconds; then rejects with DeadlineError. */
export function withOutageDeadline<T>(work: Promise<T>, deadline: number): Promise<T> {
  return withDeadline(work, deadline, SERVICE);
}

/** How requests wait for Redis. `deadline` in milliseconds. */
export function graceWith(redis: Connection, deadline: number): OutageGrace {
  return new OutageGrace({ deadline, service: SERVICE, shardOf: shardsOf(redis).shardOf });
}

/** An answer of Redis in time, or an `Outage`. `wait` in milliseconds. */
export async function withTimeout<T>(work: Promise<T>, wait = COMMAND_TIMEOUT): Promise<T> {
  return orOutage(withOutageDeadline(work, wait));
}

/** What Redis answers, or an `Outage`. */
export async function orOutage<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new Outage('state_unavailable', { cause: error, headers: ['Retry-After', '1'] });
  }
}

/** A command, its name in small letters, with its arguments. */
export type Command = readonly [name: string, ...args: string[]];

/**
 * What Redis answers to many commands, in their order, in time, or an `Outage`. A single Redis gets them in one write; nodes
 * of a Cluster have to be asked each for its own.
 */
export async function allWithTimeout(redis: Connection, commands: readonly Command[]): Promise<unknown[]> {
  if (commands.length < 2 || redis instanceof Cluster)
    return Promise.all(commands.map(([name, ...args]) => withTimeout(redis.call(name, ...args))));
  const answers = await withTimeout(redis.pipeline(commands.map((command) => [...command])).exec());
  return Promise.all(
    (answers ?? []).map(([error, answer]) => orOutage(error ? Promise.reject(error) : Promise.resolve(answer))),
  );
}
