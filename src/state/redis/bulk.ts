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
export async function scriptOnAll(
  redis: Connection,
  script: Script,
  all: readonly KeyWithArgs[],
): Promise<unknown[]> {
  const tagOf = ({ key }: KeyWithArgs) =>
    key.slice(key.indexOf('{') + 1, key.indexOf('}'));
  const placeOf = (i: number) =>
    redis instanceof Cluster
      ? slotOf(tagOf(all[i]!))
      : Math.floor(i / MAX_KEYS);
  const groups = Map.groupBy(all.keys(), placeOf);
  const replies = new Array<unknown>(all.length);
  const work = [...groups.values()].map(async (group) => {
    const keys = group.map((i) => all[i]!.key);
    const args = group.flatMap((i) => all[i]!.args ?? []);
    const reply = script(redis, keys, args);
    const found = await checkShape(redis, 'many commands', reply, isList);
    if (found.length !== group.length)
      throw new UnexpectedReply('many commands');
    for (const [n, reply] of found.entries()) replies[group[n]!] = reply;
  });
  await withTimeout(Promise.all(work), BULK_TIMEOUT);
  return replies;
}

/** An item may occur twice. Throws `Outage`. */
export async function* scan(
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
    for await (const names of scan((cursor) =>
      node.scan(cursor, 'MATCH', COUNTER_KEYS, 'COUNT', SCAN_COUNT),
    ))
      yield names.map(subjectIn);
  }
}

export function mastersOf(redis: Connection): Exclude<Connection, Cluster>[] {
  return redis instanceof Cluster ? redis.nodes('master') : [redis];
}
