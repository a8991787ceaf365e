import { Cluster } from 'ioredis';
import type { Connection } from './client.ts';
import { COUNTER_KEYS, subjectIn } from './key-names.ts';
import { checkShape, isList, UnexpectedReply } from './replies.ts';
import type { Script } from './scripts.ts';
import { slotOf } from './shards.ts';
import { withTimeout } from './timeouts.ts';

/** Milliseconds. */
export const BULK_TIMEOUT = 20_000;
const SCAN_COUNT = 1_000;
/** More keys would delay requests. */
const MAX_KEYS = 100;

/** A key whose name contains the text in braces that decides its slot. */
interface KeyWithArgs {
  readonly key: string;
  readonly args?: readonly (string | number)[];
}

/**
 * In a Cluster a call contains keys of one slot. Throws `Outage` if a part fails; other parts may
 * have been applied.
 */
export function scriptOnAll(
  redis: Connection,
  script: Script,
  all: readonly KeyWithArgs[],
): Promise<unknown[]> {
  return inGroups(redis, all, (group) => {
    const keys = group.map(({ key }) => key);
    const args = group.flatMap((one) => one.args ?? []);
    return script(redis, keys, args) as Promise<unknown[]>;
  });
}

/** `null`: missing. Throws `Outage`. */
export async function getAll(
  redis: Connection,
  keys: readonly string[],
): Promise<(string | null)[]> {
  const all = keys.map((key) => ({ key }));
  return (await inGroups(redis, all, (group) =>
    redis.mget(group.map(({ key }) => key)),
  )) as (string | null)[];
}

async function inGroups(
  redis: Connection,
  all: readonly KeyWithArgs[],
  ask: (group: readonly KeyWithArgs[]) => Promise<unknown[]>,
): Promise<unknown[]> {
  const tagOf = ({ key }: KeyWithArgs) =>
    key.slice(key.indexOf('{') + 1, key.indexOf('}'));
  const placeOf = (i: number) =>
    redis instanceof Cluster
      ? slotOf(tagOf(all[i]!))
      : Math.floor(i / MAX_KEYS);
  const groups = Map.groupBy(all.keys(), placeOf);
  const answers = new Array<unknown>(all.length);
  const work = [...groups.values()].map(async (group) => {
    const work = ask(group.map((i) => all[i]!));
    const found = await checkShape(redis, 'many commands', work, isList);
    if (found.length !== group.length)
      throw new UnexpectedReply('many commands');
    for (const [n, answer] of found.entries()) answers[group[n]!] = answer;
  });
  await withTimeout(Promise.all(work), BULK_TIMEOUT);
  return answers;
}

/** An item may occur twice. Throws `Outage`. */
export async function* walk(
  step: (cursor: string) => Promise<[string, string[]]>,
): AsyncGenerator<string[]> {
  let cursor = '0';
  do {
    const [next, found] = await withTimeout(step(cursor), BULK_TIMEOUT);
    cursor = next;
    yield found;
  } while (cursor !== '0');
}

/** All subjects with counters; one may occur twice. Throws `Outage`. */
export async function* countedSubjects(
  redis: Connection,
): AsyncGenerator<string[]> {
  for (const node of mastersOf(redis)) {
    for await (const names of walk((cursor) =>
      node.scan(cursor, 'MATCH', COUNTER_KEYS, 'COUNT', SCAN_COUNT),
    ))
      yield names.map(subjectIn);
  }
}

export function mastersOf(redis: Connection): Exclude<Connection, Cluster>[] {
  return redis instanceof Cluster ? redis.nodes('master') : [redis];
}
