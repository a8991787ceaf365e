import { type KeyRecord, readRecord } from '../../keys/key.ts';
import { KeyTaken } from '../../keys/store.ts';
import { asked, askedMany } from './asking.ts';
import type { Connection } from './client.ts';
import { CHANNEL, keyOf } from './key-names.ts';
import { keyChanged } from './messages.ts';

/** Keys that are added together. It can be made again where nobody knows whether it was made. */
export interface NewKeys {
  readonly records: readonly KeyRecord[];
}

/** Plans how keys are added, all of them or none. Throws KeyTaken, as `planNewKey` does for one. */
export async function planNewKeys(redis: Connection, records: readonly KeyRecord[]): Promise<NewKeys> {
  const distinct = (of: (record: KeyRecord) => string) => new Set(records.map(of)).size === records.length;
  if (!distinct(({ hash }) => hash) || !distinct(({ id }) => id))
    throw new KeyTaken('two of the keys have one id or one hash');
  const taken = await askedMany(
    redis,
    records.map(({ id }) => ['exists', keyOf.apiKeyId(id)]),
  );
  if (taken.some((answer) => answer === 1)) throw new KeyTaken('the id of a key is taken');
  const owners = await recordsAt(
    redis,
    records.map(({ hash }) => hash),
  );
  if (owners.some((owner, i) => owner && owner.id !== records[i]!.id)) throw new KeyTaken('the hash of a key is taken');
  return { records };
}

/**
 * Makes a change that may have been made already, whole or in part. Throws KeyTaken. As with one key, the record is written
 * last.
 */
export async function applyNewKeys(redis: Connection, { records }: NewKeys): Promise<void> {
  if (records.length === 0) return;
  if (records.some(({ imported }) => imported)) await asked(redis.set(keyOf.imported, '1'));
  await takeAll(
    redis,
    records.map(({ id, hash }) => [keyOf.apiKeyId(id), hash]),
    (there, i) => there === records[i]!.hash,
  );
  await asked(redis.zadd(keyOf.apiKeys, ...records.flatMap(({ createdAt, id }) => [String(createdAt), id])));
  await takeAll(
    redis,
    records.map((record) => [keyOf.apiKey(record.hash), JSON.stringify(record)]),
    (there, i) => there !== null && readRecord(there).id === records[i]!.id,
  );
  await askedMany(
    redis,
    records.map(({ hash }) => ['publish', CHANNEL, keyChanged(hash)]),
  );
}

/** The records under hashes, in their order. */
export async function recordsAt(redis: Connection, hashes: readonly string[]): Promise<(KeyRecord | null)[]> {
  const texts = await askedMany(
    redis,
    hashes.map((hash) => ['get', keyOf.apiKey(hash)]),
  );
  return texts.map((text) => (text === null ? null : readRecord(text as string)));
}

/** Writes what is not there. `isOurs` tells whether what is there was written by an earlier try. Throws KeyTaken. */
async function takeAll(
  redis: Connection,
  pairs: readonly (readonly [name: string, text: string])[],
  isOurs: (there: string | null, i: number) => boolean,
): Promise<void> {
  const answers = await askedMany(
    redis,
    pairs.map(([name, text]) => ['set', name, text, 'NX']),
  );
  for (const [i, answer] of answers.entries()) {
    if (answer === null && !isOurs(await asked(redis.get(pairs[i]![0])), i))
      throw new KeyTaken('the id or hash of a key is taken');
  }
}
