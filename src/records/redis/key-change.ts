import type { Connection } from '../../state/redis/client.ts';
import { CHANNEL, keyOf } from '../../state/redis/key-names.ts';
import { isChanged } from '../../state/redis/replies.ts';
import { loadScript } from '../../state/redis/scripts.ts';
import { keyChanged } from '../../state/redis/subscriber.ts';
import { allWithTimeout, withTimeout } from '../../state/redis/timeouts.ts';
import { hashesOf, type KeyRecord, readRecord } from '../keys/key.ts';
import { KeyConflict, KeyTaken } from '../keys/store.ts';
import { enterLists, leaveLists, listsLeft } from './key-index.ts';
import { keyWithId, recordAt, recordsAt } from './key-records.ts';

const changeRecord = loadScript('change-1.lua');

/** Idempotent: it can be repeated if its result is unknown. */
export interface KeyChange {
  readonly record: KeyRecord;
  /**
   * Hash of the current record; `null`: the key is new, and an older gateway version started its
   * addition.
   */
  readonly at: string | null;
  readonly forgotten: readonly string[];
  /** Missing: an older gateway version started the change. */
  readonly listsLeft?: readonly string[];
}

export interface NewKeys {
  readonly records: readonly KeyRecord[];
}

/**
 * All keys or none. Throws KeyTaken, also for an id without a record: its unfinished addition may
 * still complete.
 */
export async function planNewKeys(
  redis: Connection,
  records: readonly KeyRecord[],
): Promise<NewKeys> {
  const distinct = (of: (record: KeyRecord) => string) =>
    new Set(records.map(of)).size === records.length;
  if (!distinct(({ hash }) => hash) || !distinct(({ id }) => id))
    throw new KeyTaken('two of the keys have one id or one hash');
  const exist = records.map(({ id }) => ['exists', keyOf.apiKeyId(id)]);
  if ((await allWithTimeout(redis, exist)).includes(1))
    throw new KeyTaken('the id of a key is taken');
  const hashes = records.map(({ hash }) => hash);
  const owners = await recordsAt(redis, hashes);
  if (owners.some((owner, i) => owner && owner.id !== records[i]!.id))
    throw new KeyTaken('the hash of a key is taken');
  return { records };
}

/** Idempotent. Writes the records last, under their secrets. Throws KeyTaken. */
export async function applyNewKeys(
  redis: Connection,
  { records }: NewKeys,
): Promise<void> {
  if (records.length === 0) return;
  if (records.some(({ imported }) => imported))
    await withTimeout(redis.set(keyOf.imported, '1'));
  const ids = records.map(
    ({ id, hash }) => [keyOf.apiKeyId(id), hash] as const,
  );
  await takeAll(redis, ids, (there, i) => there === records[i]!.hash);
  await enterLists(redis, records);
  await withTimeout(
    redis.zadd(
      keyOf.apiKeys,
      ...records.flatMap(({ createdAt, id }) => [String(createdAt), id]),
    ),
  );
  const entries = records.flatMap((record) =>
    hashesOf(record).map((hash) => ({ record, hash })),
  );
  const texts = entries.map(
    ({ record, hash }) => [keyOf.apiKey(hash), JSON.stringify(record)] as const,
  );
  await takeAll(
    redis,
    texts,
    (there, i) =>
      there !== null && readRecord(there).id === entries[i]!.record.id,
  );
  const messages = records.map(({ hash }) => [
    'publish',
    CHANNEL,
    keyChanged(hash),
  ]);
  await allWithTimeout(redis, messages);
}

/** Throws KeyConflict, KeyTaken, and Error for an unknown key. */
export async function planNextRecord(
  redis: Connection,
  record: KeyRecord,
): Promise<KeyChange> {
  const stored = await keyWithId(redis, record.id);
  if (!stored) throw new Error(`the key ${record.id} does not exist`);
  const { at, record: before } = stored;
  if (before.version !== record.version - 1) throw changedMeanwhile(record);
  await rejectUsedHash(redis, record);
  const kept = hashesOf(record);
  const forgotten = hashesOf(before).filter((hash) => !kept.includes(hash));
  return { record, at, forgotten, listsLeft: listsLeft(before, record) };
}

/** Idempotent. Throws KeyTaken and KeyConflict. */
export async function applyKeyChange(
  redis: Connection,
  change: KeyChange,
): Promise<void> {
  const { record, at, forgotten, listsLeft = [] } = change;
  if (at === null) return applyNewKeys(redis, { records: [record] });
  if (record.imported) await withTimeout(redis.set(keyOf.imported, '1'));
  await enterLists(redis, [record]);
  await moveKey(redis, record, at);
  await leaveLists(redis, record.id, listsLeft);
  for (const hash of forgotten)
    await withTimeout(redis.del(keyOf.apiKey(hash)));
  for (const hash of new Set([...hashesOf(record), at, ...forgotten]))
    await withTimeout(redis.publish(CHANNEL, keyChanged(hash)));
}

/**
 * Changes the record in place, which decides between concurrent changes, then moves it to its new
 * hash.
 */
async function moveKey(
  redis: Connection,
  record: KeyRecord,
  at: string,
): Promise<void> {
  const text = JSON.stringify(record);
  const answer = await withTimeout(
    changeRecord(redis, [keyOf.apiKey(at)], [record.version - 1, text]),
  );
  const isAt = async (hash: string) =>
    JSON.stringify(await recordAt(redis, hash)) === text;
  if (!isChanged(answer) && !(await isAt(at)) && !(await isAt(record.hash)))
    throw changedMeanwhile(record);
  if (record.hash !== at) {
    const isFree =
      (await withTimeout(redis.set(keyOf.apiKey(record.hash), text, 'NX'))) !==
      null;
    if (!isFree) await rejectUsedHash(redis, record);
    await withTimeout(redis.set(keyOf.apiKeyId(record.id), record.hash));
  }
  if (record.previous && record.previous.hash !== at) {
    // Must not overwrite the copy of a later change.
    await withTimeout(
      changeRecord(redis, [keyOf.apiKey(record.previous.hash)], ['', text]),
    );
  }
}

async function rejectUsedHash(
  redis: Connection,
  { id, hash }: KeyRecord,
): Promise<void> {
  const owner = await recordAt(redis, hash);
  if (owner && owner.id !== id)
    throw new KeyTaken('the hash of the key is taken');
}

function changedMeanwhile({ id }: KeyRecord): KeyConflict {
  return new KeyConflict(`key ${id} was changed meanwhile`);
}

/** `isOurs`: an earlier attempt wrote the existing text. Throws KeyTaken. */
async function takeAll(
  redis: Connection,
  pairs: readonly (readonly [name: string, text: string])[],
  isOurs: (there: string | null, i: number) => boolean,
): Promise<void> {
  const commands = pairs.map(([name, text]) => ['set', name, text, 'NX']);
  const answers = await allWithTimeout(redis, commands);
  for (const [i, answer] of answers.entries()) {
    if (
      answer === null &&
      !isOurs(await withTimeout(redis.get(pairs[i]![0])), i)
    )
      throw new KeyTaken('the id or hash of a key is taken');
  }
}
