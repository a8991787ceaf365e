import type { Connection } from '../../state/redis/client.ts';
import { keyOf } from '../../state/redis/key-names.ts';
import { checkShape } from '../../state/redis/replies.ts';
import { loadScript } from '../../state/redis/scripts.ts';
import { withTimeout } from '../../state/redis/timeouts.ts';
import type { KeyRecord } from '../keys/key.ts';
import { type Epoch, orReplica } from './epoch.ts';
import { brokenRecord, fieldOf } from './log.ts';
import { recordIn } from './texts.ts';

const findKeys = loadScript('find-3.lua');

const { head, keys, hashes } = keyOf.records;

/** Keys per call: more would delay requests. */
const MAX_KEYS = 500;

/**
 * Asks Redis itself for keys, by the hashes of their secrets or by ids, in the order of the names.
 * `null`: no such key. Throws an Outage caused by a CountersError if Redis may have lost it, or if
 * a record is invalid.
 */
export function lookUpIn(redis: Connection, epoch: Epoch) {
  async function part(by: 'hash' | 'id', names: readonly string[]) {
    const pending = findKeys(redis, [head, keys, hashes], [by, ...names]);
    const reply = await orReplica(
      withTimeout(
        checkShape(redis, 'a look-up of keys', pending, isFound(names.length)),
      ),
    );
    const [mark, ...texts] = reply;
    const found = texts.map((text, i) =>
      text === null ? null : readOr(text, by, names[i]!),
    );
    // A missing key is unknown only in the data that is known.
    if (found.includes(null)) await epoch.check(mark!);
    return found;
  }

  return async (
    by: 'hash' | 'id',
    names: readonly string[],
  ): Promise<(KeyRecord | null)[]> => {
    const found: (KeyRecord | null)[] = [];
    for (let at = 0; at < names.length; at += MAX_KEYS)
      found.push(...(await part(by, names.slice(at, at + MAX_KEYS))));
    return found;
  };
}

/** A record of another key may belong to another look-up. */
function readOr(text: string, by: 'hash' | 'id', name: string): KeyRecord {
  const record = recordIn(text);
  const isOfKey =
    by === 'id'
      ? record?.id === name
      : [record?.hash, record?.previous?.hash].includes(name);
  if (record === null || !isOfKey) throw brokenRecord(PLACES[by](name));
  return record;
}

const PLACES = {
  id: fieldOf,
  hash: (hash: string) =>
    `the record in ${keys} of the id in the field ${hash} of ${hashes}`,
};

const isFound =
  (count: number) =>
  (reply: unknown): reply is (string | null)[] =>
    Array.isArray(reply) &&
    reply.length === count + 1 &&
    reply.every((one) => one === null || typeof one === 'string');
