import { Outage } from '../../errors/outage.ts';
import { type KeyRecord, readRecord } from '../../keys/key.ts';
import { KeyConflict, type KeyStore, KeyTaken } from '../../keys/store.ts';
import type { Bus } from '../shared/bus.ts';
import type { CircuitBreakers } from '../shared/circuit-breakers.ts';
import { changeOutcome } from './answers.ts';
import { asked } from './asking.ts';
import type { AuditedChanges } from './audit-log.ts';
import type { Connection } from './client.ts';
import { CHANNEL, keyOf } from './key-names.ts';
import { keyChanged } from './messages.ts';
import { loadScript, runScript } from './scripts.ts';

/** Records fetched at once when all keys are listed. */
const PAGE = 200;
const CHANGE = loadScript('change-1.lua');

export interface KeysInRedisOptions {
  readonly bus: Bus;
  readonly breakers: CircuitBreakers;
  /** Milliseconds a look-up on the request path may take. */
  readonly deadline: number;
}

/** A change of a key that can be made again if it is not known to have been made. */
export interface KeyChange {
  readonly record: KeyRecord;
  /** Where the record stands, by its hash; `null`: the key is new. */
  readonly at: string | null;
  /** The secrets that the key forgets. */
  readonly forgotten: readonly string[];
}

/**
 * API keys in Redis. In a Cluster a key's record, its id and the list of all are in different slots, and no step covers
 * them together; so the record, which alone makes a key usable, is written last: half a key is no key. A key between two
 * secrets has its record under the hash of each.
 */
export function keysInRedis(
  redis: Connection,
  auditedChanges: Pick<AuditedChanges<KeyChange>, 'make'>,
  { bus, breakers, deadline }: KeysInRedisOptions,
): KeyStore {
  const place = (id: string) => asked(redis.get(keyOf.apiKeyId(id)));

  async function get(id: string): Promise<KeyRecord | null> {
    const hash = await place(id);
    const found = hash === null ? null : await recordAt(redis, hash);
    // An id whose key was never finished may point to a hash that became another key's.
    return found?.id === id ? found : null;
  }

  return {
    async find(hash) {
      const breaker = breakers.of(hash);
      if (breaker.isOpen)
        throw new Outage('state_unavailable', { cause: 'Redis is away', headers: ['Retry-After', '1'] });
      try {
        const found = await recordAt(redis, hash, deadline);
        breaker.hit();
        return found && ownsHash(found, hash) ? found : null;
      } catch (error) {
        if (error instanceof Outage) breaker.miss(error.cause);
        throw error;
      }
    },
    get,
    async list() {
      const ids = await asked(redis.zrange(keyOf.apiKeys, '0', '-1'));
      const records: (KeyRecord | null)[] = [];
      for (let at = 0; at < ids.length; at += PAGE)
        records.push(...(await Promise.all(ids.slice(at, at + PAGE).map(get))));
      return records.filter((found) => found !== null);
    },
    isEmpty: async () => (await asked(redis.zcard(keyOf.apiKeys))) === 0,
    async add(record, note = null) {
      await auditedChanges.make(note, { record, at: null, forgotten: [] });
    },
    async replace(record, note = null) {
      const at = await place(record.id);
      const before = at === null ? null : await recordAt(redis, at);
      if (at === null || before?.id !== record.id) throw new Error(`there is no key ${record.id}`);
      const forgotten = [before.hash, before.previous?.hash].filter(
        (hash): hash is string => hash !== undefined && hash !== record.hash && hash !== record.previous?.hash,
      );
      await auditedChanges.make(note, { record, at, forgotten });
    },
    hasImported: async () => (await asked(redis.exists(keyOf.imported))) === 1,
    watch: (changed) =>
      bus.listen((message) => {
        if (message.type === 'key') changed(message.hash);
        else if (message.type === 'anything') changed();
      }),
  };
}

/** Makes a change that may have been made already, whole or in part. Throws KeyTaken, KeyConflict. */
export async function applyChange(redis: Connection, { record, at, forgotten }: KeyChange): Promise<void> {
  if (record.imported) await asked(redis.set(keyOf.imported, '1'));
  if (at === null) await addKey(redis, record);
  else await moveKey(redis, record, at);
  for (const hash of forgotten) await asked(redis.del(keyOf.apiKey(hash)));
  for (const hash of new Set([record.hash, record.previous?.hash, at, ...forgotten])) {
    if (hash) await asked(redis.publish(CHANNEL, keyChanged(hash)));
  }
}

async function addKey(redis: Connection, record: KeyRecord): Promise<void> {
  const id = keyOf.apiKeyId(record.id);
  if ((await asked(redis.set(id, record.hash, 'NX'))) === null && (await asked(redis.get(id))) !== record.hash) {
    throw new KeyTaken(`the key id ${record.id} is taken`);
  }
  await asked(redis.zadd(keyOf.apiKeys, String(record.createdAt), record.id));
  await take(redis, record);
}

/** The record is changed where it stands, which decides between two changes at once; then it moves with its secret. */
async function moveKey(redis: Connection, record: KeyRecord, at: string): Promise<void> {
  const answer = await asked(
    runScript(redis, CHANGE, [keyOf.apiKey(at)], [record.version - 1, JSON.stringify(record)]),
  );
  if (changeOutcome(answer) !== 'changed' && !(await wasMade(redis, record, at))) {
    throw new KeyConflict(`key ${record.id} was changed meanwhile`);
  }
  if (record.hash !== at) {
    await take(redis, record);
    await asked(redis.set(keyOf.apiKeyId(record.id), record.hash));
  }
  if (record.previous && record.previous.hash !== at) {
    // Its copy must not come after that of a later change.
    await asked(runScript(redis, CHANGE, [keyOf.apiKey(record.previous.hash)], ['', JSON.stringify(record)]));
  }
}

async function wasMade(redis: Connection, record: KeyRecord, at: string): Promise<boolean> {
  const text = JSON.stringify(record);
  for (const hash of [at, record.hash]) if (JSON.stringify(await recordAt(redis, hash)) === text) return true;
  return false;
}

async function take(redis: Connection, record: KeyRecord): Promise<void> {
  const name = keyOf.apiKey(record.hash);
  if ((await asked(redis.set(name, JSON.stringify(record), 'NX'))) !== null) return;
  if ((await recordAt(redis, record.hash))?.id !== record.id) throw new KeyTaken('the hash of the key is taken');
}

async function recordAt(redis: Connection, hash: string, wait?: number): Promise<KeyRecord | null> {
  const text = await asked(redis.get(keyOf.apiKey(hash)), wait);
  return text === null ? null : readRecord(text);
}

/** A half-finished change may have left a record under a secret that it no longer names. */
function ownsHash({ hash, previous }: KeyRecord, asked: string): boolean {
  return hash === asked || previous?.hash === asked;
}
