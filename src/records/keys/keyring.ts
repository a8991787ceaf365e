import { isDeepStrictEqual } from 'node:util';
import { createCache } from '../../common/cache.ts';
import { Outage } from '../../common/errors/outage.ts';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import { remembered } from '../../common/remembered.ts';
import type { Window } from '../../limits/limits.ts';
import {
  DEFAULT_WEIGHT,
  escalationIn,
  type Plan,
  type Plans,
} from '../../limits/plans.ts';
import type { Client, ClientAddresses, KeyRecord } from './key.ts';
import type { KeyStore } from './store.ts';
import { limitsOf, subjectOf, windowsOf } from './subjects.ts';

const MAX_CLIENTS = 50_000;
const MAX_UNKNOWN_KEYS = 20_000;
/** Milliseconds. */
const RETRY_DELAY = 1_000;

interface CachedClient {
  readonly record: KeyRecord | null;
  /** Infinity, unless the store was down. */
  readonly recheckAt: number;
  readonly generation: number;
  client: Client | null;
  plans: Plans;
}

/**
 * Clients by the hashes of their secrets. A result is valid until the store reports a change.
 * `clock`: monotonic milliseconds.
 */
export function createKeyring(
  store: KeyStore,
  plans: Plans,
  clock: () => number = () => performance.now(),
) {
  const clients = createCache<CachedClient>(MAX_CLIENTS);
  /** Separate from `clients`, so that guesses never displace real keys. */
  const unknown = createCache<CachedClient>(MAX_UNKNOWN_KEYS);
  /** Concurrent requests for the same key share a lookup. */
  const lookups = new Map<string, Promise<Client | null>>();
  let hasImported: boolean | null = null;
  let importedQuestion = 0;
  let importedTimer: NodeJS.Timeout | undefined;
  /** Increases with every change of keys; older results are then looked up again. */
  let currentGeneration = 0;
  let hasStarted = false;
  const ready = Promise.withResolvers<void>();

  let currentPlans = plans;
  /** Shared per set of windows, because counters compare limits by identity. */
  let limitsFor = limitsIn(plans);

  const stopWatching = store.watch(() => {
    currentGeneration += 1;
    unknown.clear();
    lookups.clear();
    void lookForImported();
  });
  const opened = lookForImported();

  function isFresh({ generation, recheckAt }: CachedClient) {
    return (
      generation === currentGeneration &&
      (recheckAt === Infinity || clock() < recheckAt)
    );
  }

  function clientIn(found: CachedClient, hash: string): Client | null {
    if (found.plans !== currentPlans) {
      found.client = found.record && clientOf(found.record, hash);
      found.plans = currentPlans;
    }
    return found.client;
  }

  async function lookForImported() {
    hasImported = null;
    const question = ++importedQuestion;
    clearTimeout(importedTimer);
    try {
      const imported = await store.hasImported();
      // The result of an earlier query may be older than a change.
      if (question === importedQuestion) hasImported = imported;
      hasStarted = true;
      ready.resolve();
    } catch (error) {
      if (!(error instanceof Outage)) throw error;
      if (question !== importedQuestion) return;
      importedTimer = setTimeout(
        () => void lookForImported(),
        RETRY_DELAY,
      ).unref();
    }
  }

  function lookUp(
    hash: string,
    stale: CachedClient | undefined,
  ): MaybePromise<Client | null> {
    const pending = store.find(hash);
    if (!(pending instanceof Promise))
      return remember(hash, withLimits(stale, pending));
    const lookup: Promise<Client | null> = pending.then(
      (record) => arrived(hash, lookup, withLimits(stale, record)),
      (error) => {
        // An outage must not lock out clients that are known.
        if (error instanceof Outage && stale?.record)
          return arrived(hash, lookup, stale.record, RETRY_DELAY);
        isCurrent(hash, lookup);
        throw error;
      },
    );
    lookups.set(hash, lookup);
    return lookup;
  }

  /** A result older than a change is not cached. */
  function arrived(
    hash: string,
    lookup: Promise<Client | null>,
    record: KeyRecord | null,
    recheckAfter?: number,
  ): Client | null {
    if (isCurrent(hash, lookup)) return remember(hash, record, recheckAfter);
    return record && clientOf(record, hash);
  }

  function isCurrent(hash: string, lookup: Promise<Client | null>) {
    return lookups.get(hash) === lookup && lookups.delete(hash);
  }

  function remember(
    hash: string,
    record: KeyRecord | null,
    recheckAfter = Infinity,
  ): Client | null {
    const found = {
      record,
      recheckAt: clock() + recheckAfter,
      generation: currentGeneration,
      client: record && clientOf(record, hash),
      plans: currentPlans,
    };
    if (record) clients.set(hash, found);
    else unknown.set(hash, found);
    return found.client;
  }

  function clientOf(record: KeyRecord, hash: string): Client {
    const { plans, concurrencies } = currentPlans;
    const plan = plans.get(record.plan);
    const windows = windowsOf(record, currentPlans);
    const subject = subjectOf(record, currentPlans);
    return {
      keyId: record.id,
      account: record.account,
      plan: record.plan,
      subject,
      limits: windows && limitsFor(plan!)(windows),
      concurrency:
        concurrencies?.get(record.account) ?? plan?.concurrency ?? null,
      owner: {
        group: record.plan,
        weight: plan?.weight ?? DEFAULT_WEIGHT,
        member: record.account,
      },
      expiresAt: record.expiresAt,
      withdrawn: withdrawnAs(record),
      addresses: addressesOf(record, plan),
      scopes: record.scopes,
      apis: record.apis ?? null,
      retiresAt:
        record.previous?.hash === hash && record.hash !== hash
          ? record.previous.until
          : null,
    };
  }

  return {
    whenReady: ready.promise,
    /** Resolves after the first attempt, even if it failed. */
    opened,
    get isReady() {
      return hasStarted;
    },
    /**
     * Foreign secrets have no checksum that rejects guesses early, so they are looked up only if some
     * key was imported, or while that is unknown.
     */
    get acceptsImported() {
      return hasImported !== false;
    },
    usePlans(plans: Plans) {
      currentPlans = plans;
      limitsFor = limitsIn(plans);
    },
    /** `null`: the key does not exist. Throws `Outage` if the store is down. */
    find(hash: string): MaybePromise<Client | null> {
      const found = clients.get(hash) ?? unknown.get(hash);
      if (found && isFresh(found)) return clientIn(found, hash);
      return lookups.get(hash) ?? lookUp(hash, found);
    },
    cached(hash: string): Client | null {
      const found = clients.get(hash);
      return found && isFresh(found) ? clientIn(found, hash) : null;
    },
    close() {
      stopWatching();
      importedQuestion++;
      clearTimeout(importedTimer);
    },
  };
}

export type Keyring = ReturnType<typeof createKeyring>;

function withdrawnAs({ revokedAt, disabledAt }: KeyRecord) {
  if (revokedAt !== null) return 'revoked';
  return disabledAt === null ? null : 'disabled';
}

function limitsIn(plans: Plans) {
  return remembered((plan: Plan) => {
    const own = { ...plans, escalation: escalationIn(plan, plans) };
    return remembered((windows: readonly Window[]) => limitsOf(windows, own));
  });
}

function withLimits(
  cached: CachedClient | undefined,
  record: KeyRecord | null,
): KeyRecord | null {
  const windows = cached?.record?.windows;
  return record && windows && isDeepStrictEqual(windows, record.windows)
    ? { ...record, windows }
    : record;
}

function addressesOf(
  { addresses: key }: KeyRecord,
  plan: Plan | undefined,
): ClientAddresses | null {
  const listed = plan?.addresses === undefined ? null : plan;
  return key === null && listed === null ? null : { key, plan: listed };
}
