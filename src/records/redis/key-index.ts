import type { Connection } from '../../state/redis/client.ts';
import { keyOf } from '../../state/redis/key-names.ts';
import { checkShape, isTextList } from '../../state/redis/replies.ts';
import { loadScript } from '../../state/redis/scripts.ts';
import { allWithTimeout, withTimeout } from '../../state/redis/timeouts.ts';
import type { KeyRecord } from '../keys/key.ts';

const readPage = loadScript('page-1.lua');

/** Field of `keyOf.keyIndex`: 1 if every key is in its lists. */
export const WHOLE = 'whole';

/**
 * Lists of keys, so that a question about an account or a plan does not read all keys.
 *
 * The record decides: a key is in all lists of its record before the record is written, and leaves
 * a list after that. A change that is interrupted thus leaves an entry too many, which readers
 * skip, and key-index-repair.ts removes.
 */
interface ListEntry {
  readonly list: string;
  readonly id: string;
  readonly score: number;
}

/** A place in a list of keys; in the list of expiring keys, `createdAt` is the expiry. */
export type KeyPosition = Pick<KeyRecord, 'id' | 'createdAt'>;

/** The lists of a record, without `keyOf.apiKeys`. */
export function entriesOf({
  id,
  account,
  plan,
  createdAt,
  expiresAt,
  revokedAt,
}: KeyRecord): ListEntry[] {
  const entries = [
    { list: keyOf.keysOfAccount(account), id, score: createdAt },
    { list: keyOf.keysOfPlan(plan), id, score: createdAt },
  ];
  if (revokedAt !== null)
    entries.push({ list: keyOf.revokedKeysOfPlan(plan), id, score: createdAt });
  else if (expiresAt !== null)
    entries.push({ list: keyOf.expiringKeys, id, score: expiresAt });
  return entries;
}

export function isListed(record: KeyRecord, list: string): boolean {
  return entriesOf(record).some((entry) => entry.list === list);
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
  for (const { list, id, score } of records.flatMap(entriesOf))
    put(list, score, id);
  await allWithTimeout(
    redis,
    [...members].map(([list, all]) => ['zadd', list, ...all]),
  );
}

/** The lists that a key leaves with a change. */
export function listsLeft(before: KeyRecord, after: KeyRecord): string[] {
  return entriesOf(before).flatMap(({ list }) =>
    isListed(after, list) ? [] : [list],
  );
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
