import { Outage } from '../../errors/outage.ts';
import { type KeyRecord, readRecord } from '../../keys/key.ts';
import { CountersError } from '../state.ts';
import { getAll } from './bulk.ts';
import type { Connection } from './client.ts';
import type { LookUp } from './data-mark.ts';
import { keyOf } from './key-names.ts';
import { checkShape, isTextOrNull } from './shapes.ts';
import { withTimeout } from './timeouts.ts';

type Read = (name: string, text: string | null) => KeyRecord | null;

/** `null`: unknown id. */
export function hashOf(redis: Connection, id: string): Promise<string | null> {
  return withTimeout(textAt(redis, keyOf.apiKeyId(id)));
}

/** Throws as `recordIn`. */
export async function recordAt(redis: Connection, hash: string): Promise<KeyRecord | null> {
  const name = keyOf.apiKey(hash);
  return recordIn(name, await withTimeout(textAt(redis, name)));
}

/** In the order of the hashes. */
export async function recordsAt(
  redis: Connection,
  hashes: readonly string[],
  read: Read = recordIn,
): Promise<(KeyRecord | null)[]> {
  const named = hashes.map((hash) => ({ tag: hash, key: keyOf.apiKey(hash) }));
  const texts = await getAll(redis, named);
  return texts.map((text, i) => read(named[i]!.key, text));
}

/** In the order of the hashes. */
export async function keysAt(
  redis: Connection,
  hashes: readonly string[],
  read: Read = recordIn,
): Promise<(KeyRecord | null)[]> {
  const found = await recordsAt(redis, hashes, read);
  return found.map((record, i) => (record && ownsHash(record, hashes[i]!) ? record : null));
}

/** Omits incomplete keys. */
export async function keysOf(
  redis: Connection,
  ids: readonly string[],
  read: Read = recordIn,
): Promise<readonly KeyRecord[]> {
  const hashes = await getAll(
    redis,
    ids.map((id) => ({ tag: id, key: keyOf.apiKeyId(id) })),
  );
  const begun = ids.flatMap((id, i) => (hashes[i] == null ? [] : [{ id, hash: hashes[i] }]));
  const records = await recordsAt(
    redis,
    begun.map(({ hash }) => hash),
    read,
  );
  // The id of an incomplete key may point to a hash that now belongs to another key.
  return records.filter((record, i): record is KeyRecord => record?.id === begun[i]!.id);
}

/** Throws an Outage caused by a CountersError if the text is not a valid record. */
export function recordIn(name: string, text: string | null): KeyRecord | null {
  try {
    return text === null ? null : readRecord(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const cause = new CountersError(`the Redis key ${name} holds something that is not the record of a key: delete it`);
    throw new Outage('state_unavailable', { cause });
  }
}

/** An incomplete change may have left a record under a secret that it does not list. */
export function ownsHash({ hash, previous }: KeyRecord, asked: string): boolean {
  return hash === asked || previous?.hash === asked;
}

function textAt(redis: Connection, name: string): Promise<string | null> {
  return checkShape(redis, 'a look-up of a key', redis.get(name), isTextOrNull);
}

/** Does not check for lost data. */
export const textIn =
  (redis: Connection): LookUp =>
  (name) =>
    textAt(redis, name);
