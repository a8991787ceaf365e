import { randomUUID } from 'node:crypto';
import type { Connection } from './client.ts';
import { isReplyError, messages } from './error.ts';
import { keyOf } from './key-names.ts';

/** Increases with every incompatible change of the data in Redis; its mark begins with it. */
export const DATA_FORMAT = 4;

/** Field of `keyOf.records.head`. */
export const EPOCH = 'epoch';

/**
 * Marks the data as that of this version, unless it is marked. Resolves with its mark, the epoch: a
 * Redis that has lost its data has none, or another one.
 */
export async function markData(redis: Connection): Promise<string | null> {
  const { head } = keyOf.records;
  await redis.hsetnx(head, EPOCH, newMark());
  return redis.hget(head, EPOCH);
}

/** Marks data that takes the place of the data before: every copy reads all of it. */
export async function markNewData(redis: Connection): Promise<void> {
  await redis.hset(keyOf.records.head, EPOCH, newMark());
}

const newMark = () => `${DATA_FORMAT} ${randomUUID()}`;

/** An unmarked Redis that has one of them was written by another version. */
const WRITTEN = [
  keyOf.records.keys,
  keyOf.records.tokens,
  keyOf.records.audit,
  keyOf.records.bans,
  ...keyOf.unreleased,
];

/** Why this version must not use the data in Redis, and what to do; `null`: it may. */
export async function otherFormat(redis: Connection): Promise<string | null> {
  const mark = await redis
    .hget(keyOf.records.head, EPOCH)
    .catch((error: unknown) => {
      if (isReplyError(error) && /^WRONGTYPE/.test(messages(error))) return '';
      throw error;
    });
  if (mark !== null) return formatFault(mark);
  const found = await Promise.all(WRITTEN.map((name) => redis.exists(name)));
  return found.includes(1) ? UNMARKED : null;
}

export function formatFault(mark: string): string | null {
  const format = Number(/^(\d+) /.exec(mark)?.[1] ?? 0);
  if (format === DATA_FORMAT) return null;
  return format > DATA_FORMAT
    ? `the data in this Redis was written by a newer storegate (format ${format}): use that version`
    : UNMARKED;
}

const UNMARKED =
  'the data in this Redis was written by an unreleased storegate, or a part of it was lost: ' +
  'run "storegate state export FILE" with that version, ' +
  'and "storegate state import FILE" with this one and an empty Redis database';
