import { Outage } from '../../errors/outage.ts';
import type { KeyRecord } from '../../keys/key.ts';
import type { AuditNote } from '../../keys/operators/audit-log.ts';
import type { KeyQuery, KeyStore } from '../../keys/store.ts';
import type { Bus } from '../shared/bus.ts';
import type { CircuitBreakers } from '../shared/circuit-breakers.ts';
import type { AuditedChanges } from './audited-changes.ts';
import type { Connection } from './client.ts';
import type { LookUp } from './data-mark.ts';
import { type KeyChange, type NewKeys, planNewKeys, planNextRecord } from './key-change.ts';
import { keyOf } from './key-names.ts';
import { hashOf, keysAt, keysOf, ownsHash, recordAt, recordIn } from './key-records.ts';
import { checkShape, isInteger } from './shapes.ts';
import { graceWith, orOutage, withOutageDeadline, withTimeout } from './timeouts.ts';

/** Keys read at once: what they cost the event loop must not be felt by requests. */
const PAGE_SIZE = 500;
/** Milliseconds that a look-up takes at most of a key that is known nowhere else: without an answer its request is 503. */
const LOOKUP_TIMEOUT = 1_000;

export interface KeysInRedisOptions {
  readonly bus: Bus;
  readonly breakers: CircuitBreakers;
  /**
   * Milliseconds that a look-up on the request path may take if a fallback is known. In a hiccup of Redis it waits once more. Without a
   * fallback it waits for `UNSEEN`, also while a circuit breaker is open.
   */
  readonly deadline: number;
  /** Whether Redis has passed the checks of a start. */
  readonly isFit: () => boolean;
  /** For what requests need. */
  readonly lookUp: LookUp;
}

/**
 * API keys in Redis. In a Cluster a key's record, its id and the list of all are in different slots, and no step covers
 * them together. So the record, which alone makes a key usable, is written last: half a key is no key. A key between two
 * secrets has its record under the hash of each.
 */
export function keysInRedis(
  redis: Connection,
  auditedChanges: Pick<AuditedChanges<KeyChange | NewKeys>, 'make'>,
  { bus, breakers, deadline, isFit, lookUp }: KeysInRedisOptions,
): KeyStore {
  const grace = graceWith(redis, deadline);
  const count = (what: string, work: Promise<number>) => withTimeout(checkShape(redis, what, work, isInteger));

  async function get(id: string): Promise<KeyRecord | null> {
    const hash = await hashOf(redis, id);
    const found = hash === null ? null : await recordAt(redis, hash);
    // An id whose key was never finished may point to a hash that became another key's.
    return found?.id === id ? found : null;
  }

  /** By their places in the list of all, which change while keys are added: so each part is found by the last key before it. */
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
        throw new Outage('state_unavailable', { cause: 'Redis is away', headers: ['Retry-After', '1'] });
      try {
        const name = keyOf.apiKey(hash);
        const asked = lookUp(name);
        const text = await orOutage(
          hasFallback ? grace.wait(hash, asked) : withOutageDeadline(asked, Math.max(deadline, LOOKUP_TIMEOUT)),
        );
        const found = recordIn(name, text);
        breaker.recordSuccess();
        return found && ownsHash(found, hash) ? found : null;
      } catch (error) {
        if (error instanceof Outage) breakers.recordFailure(breaker, error);
        throw error;
      }
    },
    get,
    findMany: (hashes) => keysAt(redis, hashes),
    read,
    list: async () => (await Array.fromAsync(read())).flat(),
    isEmpty: async () => (await count('the number of keys', redis.zcard(keyOf.apiKeys))) === 0,
    add: (record, note) => add([record], note),
    addMany: add,
    replace: (record, note) =>
      auditedChanges.make({ note, locks: [record.id, record.hash], plan: () => planNextRecord(redis, record) }),
    hasImported: async () => (await withTimeout(lookUp(keyOf.imported))) !== null,
    watch: (changed) =>
      bus.listen((message) => {
        if (message.type === 'key') changed(message.hash);
        else if (message.type === 'anything') changed();
      }),
  };
}

interface Part {
  readonly ids: readonly string[];
  readonly isLast: boolean;
}

/** Ids of the next part; `last`: of the last key before it. */
async function idsAfter(redis: Connection, last: string | undefined, newestFirst: boolean): Promise<Part> {
  const { apiKeys } = keyOf;
  const placeOf = (id: string) => (newestFirst ? redis.zrevrank(apiKeys, id) : redis.zrank(apiKeys, id));
  for (;;) {
    const place = last === undefined ? 0 : await withTimeout(placeOf(last));
    if (place === null) return { ids: [], isLast: true };
    const [from, to] = [String(place), String(place + PAGE_SIZE)];
    const ids = await withTimeout(newestFirst ? redis.zrevrange(apiKeys, from, to) : redis.zrange(apiKeys, from, to));
    const isLast = ids.length <= PAGE_SIZE;
    if (last === undefined) return { ids, isLast };
    // Keys that were added between the two questions have moved it.
    const found = ids.indexOf(last);
    if (found !== -1) return { ids: ids.slice(found + 1), isLast };
  }
}
