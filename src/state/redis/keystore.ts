import { Outage } from '../../errors/outage.ts';
import type { KeyRecord } from '../../keys/key.ts';
import type { AuditNote } from '../../keys/operators/audit-log.ts';
import type { KeyQuery, KeyStore } from '../../keys/store.ts';
import type { Bus } from '../shared/backend.ts';
import type { CircuitBreakers } from '../shared/circuit-breakers.ts';
import { OutageGrace, withDeadline } from '../shared/deadline.ts';
import type { AuditedChanges } from './audited-changes.ts';
import type { Connection } from './client.ts';
import type { LookUp } from './data-checks.ts';
import { type KeyChange, type NewKeys, planNewKeys, planNextRecord } from './key-change.ts';
import { keyOf } from './key-names.ts';
import { keysAt, keysOf, keyWithId, ownsHash, recordIn } from './key-records.ts';
import { checkShape, isInteger } from './replies.ts';
import { shardsOf } from './shards.ts';
import { orOutage, withTimeout } from './timeouts.ts';

/** Few enough not to delay requests. */
const PAGE_SIZE = 500;
/** Timeout in milliseconds for a key that is not cached. Without a reply its request fails with 503. */
const LOOKUP_TIMEOUT = 1_000;

export interface KeysInRedisOptions {
  readonly bus: Bus;
  readonly breakers: CircuitBreakers;
  /**
   * Milliseconds for a look-up with a fallback; if Redis is slow, it waits once more. Without a fallback it waits for
   * `LOOKUP_TIMEOUT`, even if a circuit breaker is open.
   */
  readonly deadline: number;
  readonly isFit: () => boolean;
  readonly lookUp: LookUp;
}

/**
 * In a Cluster a key's record, its id and the list of keys are in different slots and cannot be written in one step.
 * The record makes a key usable and is written last. During rotation, it is stored under both hashes.
 */
export function keysInRedis(
  redis: Connection,
  auditedChanges: Pick<AuditedChanges<KeyChange | NewKeys>, 'make'>,
  { bus, breakers, deadline, isFit, lookUp }: KeysInRedisOptions,
): KeyStore {
  const grace = new OutageGrace(deadline, shardsOf(redis).shardOf);
  const count = (what: string, work: Promise<number>) => withTimeout(checkShape(redis, what, work, isInteger));

  /** Pages by the last key, because positions change as keys are added. */
  async function* read({ account, newestFirst = false, after }: KeyQuery = {}): AsyncGenerator<readonly KeyRecord[]> {
    let last = after?.id;
    for (;;) {
      const { ids, isLast } = await idsAfter(redis, last, newestFirst);
      const records = await keysOf(redis, ids);
      yield account === undefined ? records : records.filter((record) => record.account === account);
      if (isLast) return;
      last = ids.at(-1) ?? last;
    }
  }

  function add(records: readonly KeyRecord[], note: AuditNote): Promise<void> {
    const locks = records.map(({ hash }) => hash);
    return auditedChanges.make({ note, locks, plan: () => planNewKeys(redis, records) });
  }

  return {
    async find(hash, hasFallback = false) {
      const breaker = breakers.of(hash);
      if (hasFallback ? breaker.isOpen : !isFit())
        throw new Outage('state_unavailable', { cause: 'Redis is down', headers: ['Retry-After', '1'] });
      try {
        const name = keyOf.apiKey(hash);
        const asked = lookUp(name);
        const text = await orOutage(
          hasFallback ? grace.wait(hash, asked) : withDeadline(asked, Math.max(deadline, LOOKUP_TIMEOUT)),
        );
        const found = recordIn(name, text);
        breaker.recordSuccess();
        return found && ownsHash(found, hash) ? found : null;
      } catch (error) {
        if (error instanceof Outage) breakers.recordFailure(breaker, error);
        throw error;
      }
    },
    get: async (id) => (await keyWithId(redis, id))?.record ?? null,
    findMany: (hashes) => keysAt(redis, hashes),
    read,
    isEmpty: async () => (await count('the number of keys', redis.zcard(keyOf.apiKeys))) === 0,
    add: (record, note) => add([record], note),
    addMany: add,
    replace: (record, note) =>
      auditedChanges.make({ note, locks: [record.id, record.hash], plan: () => planNextRecord(redis, record) }),
    hasImported: async () => (await withTimeout(lookUp(keyOf.imported))) !== null,
    watch(changed) {
      const stopListening = bus.listen((message) => {
        if (message.type === 'key') changed(message.hash);
        else if (message.type === 'anything') changed();
      });
      // Messages are received again before look-ups are: what was found in between may lack a change.
      const stopRecovering = breakers.onRecovery(() => changed());
      return () => {
        stopListening();
        stopRecovering();
      };
    },
  };
}

async function idsAfter(redis: Connection, last: string | undefined, newestFirst: boolean) {
  const { apiKeys } = keyOf;
  const placeOf = (id: string) => (newestFirst ? redis.zrevrank(apiKeys, id) : redis.zrank(apiKeys, id));
  for (;;) {
    const place = last === undefined ? 0 : await withTimeout(placeOf(last));
    if (place === null) return { ids: [], isLast: true };
    const [from, to] = [String(place), String(place + PAGE_SIZE)];
    const ids = await withTimeout(newestFirst ? redis.zrevrange(apiKeys, from, to) : redis.zrange(apiKeys, from, to));
    const isLast = ids.length <= PAGE_SIZE;
    if (last === undefined) return { ids, isLast };
    // Added keys may have moved `last` since its position was read.
    const found = ids.indexOf(last);
    if (found !== -1) return { ids: ids.slice(found + 1), isLast };
  }
}
