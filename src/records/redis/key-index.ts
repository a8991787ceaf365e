import type { Connection } from '../../state/redis/client.ts';
import { keyOf } from '../../state/redis/key-names.ts';
import { checkShape, isTextList } from '../../state/redis/replies.ts';
import { loadScript } from '../../state/redis/scripts.ts';
import { allWithTimeout, withTimeout } from '../../state/redis/timeouts.ts';
import type { KeyRecord } from '../keys/key.ts';

const readPage = loadScript('page-1.lua');

/** Field of `keyOf.keyIndex`: 1 if every key is in its lists. */
export const WHOLE = 'whole';

/** A place in a list of keys; in the list of expiring keys, `createdAt` is the expiry. */
export type KeyPosition = Pick<KeyRecord, 'id' | 'createdAt'>;

/**
 * Lists of keys, so that a question about an account or a plan does not read all keys. Returns the
 * lists of a record, without `keyOf.apiKeys`, and its score in each.
 *
 * The record decides: a key is in all lists of its record before the record is written, and leaves
 * a list after that. A change that is interrupted thus leaves an entry too many, which readers
 * skip, and key-index-repair.ts removes.
 */
export function scoresOf({
  account,
  plan,
  createdAt,
  expiresAt,
  revokedAt,
}: KeyRecord): Map<string, number> {
  const scores = new Map([
    [keyOf.keysOfAccount(account), createdAt],
    [keyOf.keysOfPlan(plan), createdAt],
  ]);
  if (revokedAt !== null) scores.set(keyOf.revokedKeysOfPlan(plan), createdAt);
  else if (expiresAt !== null) scores.set(keyOf.expiringKeys, expiresAt);
  return scores;
}

export function isListed(record: KeyRecord, list: string): boolean {
  return scoresOf(record).has(list);
}

/** Idempotent. Call it before the records are written. */
export async function enterLists(
  redis: Connection,
  records: readonly KeyRecord[],
): Promise<void> {
  const members = new Map<string, string[]>();
  const put = (list: string, score: number, member: string) => {
    const all = members.get(list) ?? [];
    members.set(list, all);
    all.push(String(score), member);
  };
  for (const name of new Set(records.map(({ account }) => account)))
    put(keyOf.accounts, 0, name);
  for (const name of new Set(records.map(({ plan }) => plan)))
    put(keyOf.plans, 0, name);
  for (const record of records)
    for (const [list, score] of scoresOf(record)) put(list, score, record.id);
  await allWithTimeout(
    redis,
    [...members].map(([list, all]) => ['zadd', list, ...all]),
  );
}

/** The lists that a key leaves with a change. */
export function listsLeft(before: KeyRecord, after: KeyRecord): string[] {
  return [...scoresOf(before).keys()].filter((list) => !isListed(after, list));
}

/** Idempotent. Call it after the record is written. */
export async function leaveLists(
  redis: Connection,
  id: string,
  lists: readonly string[],
): Promise<void> {
  await allWithTimeout(
    redis,
    lists.map((list) => ['zrem', list, id]),
  );
}

/** The next `size` ids of a list of keys, in its order. */
export async function idsAfter(
  redis: Connection,
  list: string,
  {
    after,
    size,
    newestFirst = false,
  }: { after: KeyPosition | null; size: number; newestFirst?: boolean },
): Promise<KeyPosition[]> {
  const args = [
    after?.id ?? '',
    after?.createdAt ?? 0,
    size,
    Number(newestFirst),
  ];
  const found = await withTimeout(
    checkShape(redis, 'a page', readPage(redis, [list], args), isTextList),
  );
  return found.flatMap((id, i) =>
    i % 2 === 0 ? [{ id, createdAt: Number(found[i + 1]) }] : [],
  );
}

export async function isIndexWhole(redis: Connection): Promise<boolean> {
  return (await withTimeout(redis.hexists(keyOf.keyIndex, WHOLE))) === 1;
}

/** At most `limit` names of a list of names, sorted, after this name. */
export function namesAfter(
  redis: Connection,
  list: string,
  after: string,
  limit: number,
): Promise<string[]> {
  return withTimeout(
    redis.zrangebylex(list, `(${after}`, '+', 'LIMIT', 0, limit),
  );
}

/** Keys that are not revoked, by plan. */
export async function countInUse(
  redis: Connection,
  plans: readonly string[],
): Promise<Map<string, number>> {
  const lists = plans.flatMap((plan) => [
    keyOf.keysOfPlan(plan),
    keyOf.revokedKeysOfPlan(plan),
  ]);
  const sizes = await allWithTimeout(
    redis,
    lists.map((list) => ['zcard', list]),
  );
  const sizeAt = (i: number) => sizes[i] as number;
  return new Map(
    plans.map((plan, i) => [
      plan,
      Math.max(0, sizeAt(2 * i) - sizeAt(2 * i + 1)),
    ]),
  );
}

/**
 * Some keys may have been lost, and their entries or those of others: the index must be built
 * again.
 */
export async function forgetIndex(redis: Connection): Promise<void> {
  await withTimeout(redis.del(keyOf.keyIndex));
}
