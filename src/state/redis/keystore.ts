import { Outage } from '../../errors/outage.ts';
import type { KeyRecord } from '../../keys/key.ts';
import type { KeyStore } from '../../keys/store.ts';
import type { Bus } from '../shared/bus.ts';
import type { CircuitBreakers } from '../shared/circuit-breakers.ts';
import { asked, orOutage, patienceWith } from './asking.ts';
import type { AuditedChanges } from './audited-changes.ts';
import type { Connection } from './client.ts';
import { hashOf, type KeyChange, planNewKey, planNextRecord, recordAt } from './key-change.ts';
import { keyOf } from './key-names.ts';
import { type NewKeys, planNewKeys, recordsAt } from './new-keys.ts';

/** Records read at once when all keys are listed. */
const PAGE = 200;

export interface KeysInRedisOptions {
  readonly bus: Bus;
  readonly breakers: CircuitBreakers;
  /** Milliseconds that a look-up on the request path may take. In a hiccup of Redis it waits once more. */
  readonly deadline: number;
}

/**
 * API keys in Redis. In a Cluster a key's record, its id and the list of all are in different slots, and no step covers
 * them together. So the record, which alone makes a key usable, is written last: half a key is no key. A key between two
 * secrets has its record under the hash of each.
 */
export function keysInRedis(
  redis: Connection,
  auditedChanges: Pick<AuditedChanges<KeyChange | NewKeys>, 'make'>,
  { bus, breakers, deadline }: KeysInRedisOptions,
): KeyStore {
  const patience = patienceWith(redis, deadline);

  async function get(id: string): Promise<KeyRecord | null> {
    const hash = await hashOf(redis, id);
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
        const found = await recordAt(redis, hash, (work) => orOutage(patience.wait(hash, work)));
        breaker.hit();
        return found && ownsHash(found, hash) ? found : null;
      } catch (error) {
        if (error instanceof Outage) breaker.miss(error.cause);
        throw error;
      }
    },
    get,
    async findMany(hashes) {
      const found = await recordsAt(redis, hashes);
      return found.map((record, i) => (record && ownsHash(record, hashes[i]!) ? record : null));
    },
    async list() {
      const ids = await asked(redis.zrange(keyOf.apiKeys, '0', '-1'));
      const records: (KeyRecord | null)[] = [];
      for (let at = 0; at < ids.length; at += PAGE)
        records.push(...(await Promise.all(ids.slice(at, at + PAGE).map(get))));
      return records.filter((found) => found !== null);
    },
    isEmpty: async () => (await asked(redis.zcard(keyOf.apiKeys))) === 0,
    add: (record, note = null) =>
      auditedChanges.make({ note, locks: [record.id, record.hash], plan: () => planNewKey(redis, record) }),
    addMany: (records, note = null) =>
      auditedChanges.make({
        note,
        locks: records.map(({ hash }) => hash),
        plan: () => planNewKeys(redis, records),
      }),
    replace: (record, note = null) =>
      auditedChanges.make({ note, locks: [record.id, record.hash], plan: () => planNextRecord(redis, record) }),
    hasImported: async () => (await asked(redis.exists(keyOf.imported))) === 1,
    watch: (changed) =>
      bus.listen((message) => {
        if (message.type === 'key') changed(message.hash);
        else if (message.type === 'anything') changed();
      }),
  };
}

/** A half-finished change may have left a record under a secret that it no longer names. */
export function ownsHash({ hash, previous }: KeyRecord, asked: string): boolean {
  return hash === asked || previous?.hash === asked;
}
