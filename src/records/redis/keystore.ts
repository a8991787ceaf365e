import { Outage } from '../../common/errors/outage.ts';
import type { Connection } from '../../state/redis/client.ts';
import { type LookUp, NotReported } from '../../state/redis/data-checks.ts';
import { keyOf } from '../../state/redis/key-names.ts';
import { checkShape, isInteger } from '../../state/redis/replies.ts';
import { shardsOf } from '../../state/redis/shards.ts';
import { orOutage, withTimeout } from '../../state/redis/timeouts.ts';
import type { CircuitBreakers } from '../../state/shared/circuit-breakers.ts';
import {
  createOutageGrace,
  withDeadline,
} from '../../state/shared/deadline.ts';
import type { Bus } from '../../state/shared/remote-state.ts';
import type { KeyRecord } from '../keys/key.ts';
import { isExpiring, type KeyQuery, type KeyStore } from '../keys/store.ts';
import type { AuditNote } from '../operators/audit-log.ts';
import type { AuditedChanges } from './audited-changes.ts';
import {
  type KeyChange,
  type NewKeys,
  planNewKeys,
  planNextRecord,
} from './key-change.ts';
import {
  countInUse,
  idsAfter,
  isIndexWhole,
  type KeyPosition,
  namesAfter,
} from './key-index.ts';
import {
  keysAt,
  keysOf,
  keyWithId,
  ownsHash,
  recordIn,
} from './key-records.ts';

/** Few enough not to delay requests. */
const PAGE_SIZE = 500;
/**
 * Timeout in milliseconds for a key that is not cached. Without a reply its request fails with 503.
 */
const LOOKUP_TIMEOUT = 1_000;

/** Sorts after every id. */
const LAST_ID = '\uffff';

interface PagesOptions {
  readonly after?: KeyPosition | null | undefined;
  readonly newestFirst?: boolean | undefined;
  readonly until?: number;
}

export interface KeysInRedisOptions {
  readonly bus: Bus;
  readonly breakers: CircuitBreakers;
  /**
   * Milliseconds for a look-up with a fallback; if Redis is slow, it waits once more. Without a
   * fallback it waits for `LOOKUP_TIMEOUT`, even if a circuit breaker is open.
   */
  readonly deadline: number;
  readonly isFit: () => boolean;
  readonly lookUp: LookUp;
}

/**
 * In a Cluster a key's record, its id and the list of keys are in different slots and cannot be
 * written in one step. The record makes a key usable and is written last. During rotation, it is
 * stored under both hashes.
 */
export function keysInRedis(
  redis: Connection,
  auditedChanges: Pick<AuditedChanges<KeyChange | NewKeys>, 'make'>,
  { bus, breakers, deadline, isFit, lookUp }: KeysInRedisOptions,
): KeyStore {
  const grace = createOutageGrace(deadline, shardsOf(redis).shardOf);

  /** The keys of a list after this place, up to this score. */
  async function* pagesOf(
    list: string,
    { after = null, newestFirst = false, until = Infinity }: PagesOptions = {},
  ) {
    for (let last = after; ; ) {
      const found = await idsAfter(redis, list, {
        after: last,
        size: PAGE_SIZE,
        newestFirst,
      });
      const ids = found.flatMap(({ id, createdAt }) =>
        createdAt > until ? [] : [id],
      );
      yield await keysOf(redis, ids);
      if (ids.length < PAGE_SIZE) return;
      last = found.at(-1)!;
    }
  }

  async function* read({
    account,
    plan,
    newestFirst,
    after,
  }: KeyQuery = {}): AsyncGenerator<readonly KeyRecord[]> {
    const isAsked = (record: KeyRecord) =>
      (account === undefined || record.account === account) &&
      (plan === undefined || record.plan === plan);
    for await (const records of pagesOf(await listFor({ account, plan }), {
      after,
      newestFirst,
    }))
      yield records.filter(isAsked);
  }

  /** The shortest list that has all these keys. */
  async function listFor({
    account,
    plan,
  }: Pick<KeyQuery, 'account' | 'plan'>): Promise<string> {
    if ((account ?? plan) === undefined || !(await isIndexWhole(redis)))
      return keyOf.apiKeys;
    return account === undefined
      ? keyOf.keysOfPlan(plan!)
      : keyOf.keysOfAccount(account);
  }

  function add(records: readonly KeyRecord[], note: AuditNote) {
    const locks = records.map(({ hash }) => hash);
    return auditedChanges.make({
      note,
      locks,
      plan: () => planNewKeys(redis, records),
    });
  }

  return {
    async find(hash, hasFallback = false) {
      const breaker = breakers.of(hash);
      if (hasFallback ? breaker.isOpen : !isFit())
        throw new Outage('state_unavailable', { cause: 'Redis is down' });
      try {
        const name = keyOf.apiKey(hash);
        const asked = lookUp(name);
        const text = await orOutage(
          hasFallback
            ? grace(hash, asked)
            : withDeadline(asked, Math.max(deadline, LOOKUP_TIMEOUT)),
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
    async *readAccounts(accounts) {
      const isWhole = await isIndexWhole(redis);
      const lists = isWhole
        ? accounts.map(keyOf.keysOfAccount)
        : [keyOf.apiKeys];
      const names = new Set(accounts);
      for (const list of lists) {
        for await (const records of pagesOf(list))
          yield records.filter(({ account }) => names.has(account));
      }
    },
    async *readExpiring(from, until) {
      const after = { id: LAST_ID, createdAt: from };
      const pages = (await isIndexWhole(redis))
        ? pagesOf(keyOf.expiringKeys, { after, until })
        : pagesOf(keyOf.apiKeys);
      for await (const records of pages)
        yield records.filter((record) => isExpiring(record, from, until));
    },
    async accounts(after, limit) {
      if (await isIndexWhole(redis))
        return namesAfter(redis, keyOf.accounts, after, limit);
      const names = new Set<string>();
      for await (const records of read())
        for (const { account } of records)
          if (account > after) names.add(account);
      return [...names].sort().slice(0, limit);
    },
    async countKeys(plans) {
      if (await isIndexWhole(redis)) return countInUse(redis, plans);
      const counts = new Map(plans.map((plan) => [plan, 0]));
      for await (const records of read()) {
        for (const { plan, revokedAt } of records) {
          const before = counts.get(plan);
          if (before !== undefined && revokedAt === null)
            counts.set(plan, before + 1);
        }
      }
      return counts;
    },
    async isEmpty() {
      const work = redis.zcard(keyOf.apiKeys);
      return (
        (await withTimeout(
          checkShape(redis, 'the number of keys', work, isInteger),
        )) === 0
      );
    },
    add: (record, note) => add([record], note),
    addMany: add,
    replace: (record, note) =>
      auditedChanges.make({
        note,
        locks: [record.id, record.hash],
        plan: () => planNextRecord(redis, record),
      }),
    async hasImported() {
      try {
        return (await withTimeout(lookUp(keyOf.imported))) !== null;
      } catch (error) {
        // Without this, a gateway would never be ready. Keys of every form are then looked up.
        if (error instanceof Outage && error.cause instanceof NotReported)
          return true;
        throw error;
      }
    },
    watch(changed) {
      const stopListening = bus.listen((message) => {
        if (message.type === 'key') changed(message.hash);
        else if (message.type === 'anything') changed();
      });
      // Messages are received again before look-ups are: what was found in between may lack a
      // change.
      const stopRecovering = breakers.onRecovery(() => changed());
      return () => {
        stopListening();
        stopRecovering();
      };
    },
  };
}
