import { Outage } from '../../common/errors/outage.ts';
import { getAll } from '../../state/redis/bulk.ts';
import type { Connection } from '../../state/redis/client.ts';
import { keyOf } from '../../state/redis/key-names.ts';
import { lookedUp } from '../../state/redis/replies.ts';
import { withTimeout } from '../../state/redis/timeouts.ts';
import { CountersError } from '../../state/state.ts';
import { type KeyRecord, readRecord } from '../keys/key.ts';

/** `name` in Redis; `id`: the id that refers to the record, if known. */
type Read = (
  name: string,
  text: string | null,
  id?: string,
) => KeyRecord | null;

/**
 * The key, and the hash under which it is stored; `null`: unknown id, or an incomplete key. Throws
 * as `recordIn`.
 */
export async function keyWithId(
  redis: Connection,
  id: string,
  read: Read = recordIn,
): Promise<{ at: string; record: KeyRecord } | null> {
  const at = await withTimeout(textAt(redis, keyOf.apiKeyId(id)));
  const record = at === null ? null : await recordAt(redis, at, read);
  // The id of an incomplete key may point to a hash that now belongs to another key.
  return at !== null && record?.id === id ? { at, record } : null;
}

/** Throws as `recordIn`. */
export async function recordAt(
  redis: Connection,
  hash: string,
  read: Read = recordIn,
): Promise<KeyRecord | null> {
  const name = keyOf.apiKey(hash);
  return read(name, await withTimeout(textAt(redis, name)));
}

/** In the order of the hashes. */
export async function recordsAt(
  redis: Connection,
  hashes: readonly string[],
  read: Read = recordIn,
  ids: readonly string[] = [],
): Promise<(KeyRecord | null)[]> {
  const names = hashes.map(keyOf.apiKey);
  const texts = await getAll(redis, names);
  return texts.map((text, i) => read(names[i]!, text, ids[i]));
}

/** In the order of the hashes. */
export async function keysAt(
  redis: Connection,
  hashes: readonly string[],
  read: Read = recordIn,
) {
  const found = await recordsAt(redis, hashes, read);
  return found.map((record, i) =>
    record && ownsHash(record, hashes[i]!) ? record : null,
  );
}

/** Omits incomplete keys. */
export async function keysOf(
  redis: Connection,
  ids: readonly string[],
  read: Read = recordIn,
): Promise<KeyRecord[]> {
  const hashes = await getAll(redis, ids.map(keyOf.apiKeyId));
  const begun = ids.filter((_, i) => hashes[i] !== null);
  const found = hashes.filter((hash) => hash !== null);
  const records = await recordsAt(redis, found, read, begun);
  return records.filter(
    (record, i): record is KeyRecord => record?.id === begun[i],
  );
}

/** `broken` returns the record for a text that is not valid JSON. */
export function readWith(
  broken: (name: string, id?: string) => KeyRecord | null,
): Read {
  return (name, text, id) => {
    try {
      return text === null ? null : readRecord(text);
    } catch (error) {
      if (error instanceof SyntaxError) return broken(name, id);
      throw error;
    }
  };
}

/** Throws an Outage caused by a CountersError if the text is not a valid record. */
export const recordIn = readWith((name) => {
  const cause = new CountersError(
    `the Redis key ${name} holds something that is not the record of a key: delete it`,
  );
  throw new Outage('state_unavailable', { cause });
});

/** An invalid record is none: its key is unusable. */
export const lenient = readWith(() => null);

/** An incomplete change may have left a record under a secret that it does not list. */
export function ownsHash(
  { hash, previous }: KeyRecord,
  asked: string,
): boolean {
  return hash === asked || previous?.hash === asked;
}

/** Does not check for lost data. */
export function textAt(
  redis: Connection,
  name: string,
): Promise<string | null> {
  return lookedUp(redis, redis.get(name));
}
