import { isDeepStrictEqual } from 'node:util';
import { Cache } from '../../common/cache.ts';
import { Outage } from '../../common/errors/outage.ts';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import { remembered } from '../../common/remembered.ts';
import type { Limits, Window } from '../../limits/limits.ts';
import { DEFAULT_WEIGHT, type Plan, type Plans } from '../../limits/plans.ts';
import type { Client, ClientAddresses, KeyRecord } from './key.ts';
import type { KeyStore } from './store.ts';
import { limitsOf, subjectOf, windowsOf } from './subjects.ts';

const MAX_CLIENTS = 50_000;
const MAX_UNKNOWN_KEYS = 20_000;
/** Milliseconds. */
const RETRY_DELAY = 1_000;

interface KeyringOptions {
  /**
   * Milliseconds, for stores whose announcements can be lost. If absent, a result stays valid until
   * the store announces a change.
   */
  readonly recheckAfter?: number;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
}

interface CachedClient {
  readonly record: KeyRecord | null;
  readonly recheckAt: number;
  readonly generation: number;
  client: Client | null;
  plans: Plans;
}

export class Keyring {
  readonly #store: KeyStore;
  #plans: Plans;
  readonly #recheckAfter: number;
  readonly #clock: () => number;
  readonly #clients = new Cache<CachedClient>(MAX_CLIENTS);
  /** Separate from `#clients`, so that guesses never displace real keys. */
  readonly #strangers = new Cache<CachedClient>(MAX_UNKNOWN_KEYS);
  /** Concurrent requests for the same key share a lookup. */
  readonly #lookups = new Map<string, Promise<Client | null>>();
  /** Shared per set of windows, because counters compare limits by identity. */
  #limitsOf: (windows: readonly Window[]) => Limits;
  #imported: boolean | null = null;
  #importedQuestion = 0;
  #importedTimer: NodeJS.Timeout | undefined;
  /** Increases when a change may have been missed; older results are then looked up again. */
  #generation = 0;
  readonly #stopWatching: () => void;
  #isReady = false;
  readonly #ready = Promise.withResolvers<void>();
  readonly whenReady = this.#ready.promise;
  /** Resolves after the first attempt, even if it failed. */
  readonly opened: Promise<void>;

  constructor(
    store: KeyStore,
    plans: Plans,
    {
      recheckAfter = Infinity,
      clock = () => performance.now(),
    }: KeyringOptions = {},
  ) {
    this.#store = store;
    this.#plans = plans;
    this.#limitsOf = limitsIn(plans);
    this.#recheckAfter = recheckAfter;
    this.#clock = clock;
    this.#stopWatching = store.watch((hash) => {
      this.#forget(hash);
      void this.#lookForImported();
    });
    this.opened = this.#lookForImported();
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /**
   * Foreign secrets have no checksum that rejects guesses early, so they are looked up only if some
   * key was imported, or while that is unknown.
   */
  get acceptsImported(): boolean {
    return this.#imported !== false;
  }

  usePlans(plans: Plans): void {
    this.#plans = plans;
    this.#limitsOf = limitsIn(plans);
  }

  /** `null`: the key does not exist. Throws `Outage` if the store is down. */
  find(hash: string): MaybePromise<Client | null> {
    const found = this.#clients.get(hash) ?? this.#strangers.get(hash);
    if (found && this.#isFresh(found)) return this.#clientIn(found, hash);
    return this.#lookups.get(hash) ?? this.#lookUp(hash, found);
  }

  known(hash: string): Client | null {
    const found = this.#clients.get(hash);
    return found && this.#isFresh(found) ? this.#clientIn(found, hash) : null;
  }

  close(): void {
    this.#stopWatching();
    this.#importedQuestion++;
    clearTimeout(this.#importedTimer);
  }

  #isFresh({ generation, recheckAt }: CachedClient): boolean {
    return (
      generation === this.#generation &&
      (recheckAt === Infinity || this.#clock() < recheckAt)
    );
  }

  #clientIn(found: CachedClient, hash: string): Client | null {
    if (found.plans !== this.#plans) {
      found.client = found.record && this.#clientOf(found.record, hash);
      found.plans = this.#plans;
    }
    return found.client;
  }

  /** Once a key was imported, the result never changes. */
  async #lookForImported(): Promise<void> {
    if (this.#imported) return;
    this.#imported = null;
    const question = ++this.#importedQuestion;
    clearTimeout(this.#importedTimer);
    try {
      const imported = await this.#store.hasImported();
      // The result of an earlier query may be older than a change.
      if (imported || question === this.#importedQuestion)
        this.#imported = imported;
      this.#isReady = true;
      this.#ready.resolve();
    } catch (error) {
      if (!(error instanceof Outage)) throw error;
      if (question !== this.#importedQuestion) return;
      this.#importedTimer = setTimeout(
        () => void this.#lookForImported(),
        RETRY_DELAY,
      ).unref();
    }
  }

  #forget(hash?: string): void {
    if (hash === undefined) {
      this.#generation += 1;
      this.#strangers.clear();
      this.#lookups.clear();
    } else {
      this.#clients.delete(hash);
      this.#strangers.delete(hash);
      this.#lookups.delete(hash);
    }
  }

  #lookUp(
    hash: string,
    stale: CachedClient | undefined,
  ): MaybePromise<Client | null> {
    const asked = this.#store.find(hash, stale !== undefined);
    if (!(asked instanceof Promise))
      return this.#remember(hash, asked, this.#recheckAfter);
    const lookup: Promise<Client | null> = asked.then(
      (record) =>
        this.#arrived(
          hash,
          lookup,
          withLimits(stale, record),
          this.#recheckAfter,
        ),
      (error) => {
        // An outage must not lock out all clients.
        const known =
          error instanceof Outage
            ? this.#knownWithoutBackend(hash, stale)
            : undefined;
        if (known !== undefined)
          return this.#arrived(
            hash,
            lookup,
            known,
            Math.min(this.#recheckAfter, RETRY_DELAY),
          );
        this.#isCurrent(hash, lookup);
        throw error;
      },
    );
    this.#lookups.set(hash, lookup);
    return lookup;
  }

  /** `undefined`: whether the key exists is unknown. */
  #knownWithoutBackend(
    hash: string,
    stale: CachedClient | undefined,
  ): KeyRecord | null | undefined {
    // Without a missed change, a copy has nothing newer.
    if (stale?.generation === this.#generation) return stale.record;
    const copied = this.#store.findCopy?.(hash) ?? null;
    return copied === null ? stale?.record : withLimits(stale, copied);
  }

  /** A result older than a change is not cached. */
  #arrived(
    hash: string,
    lookup: Promise<Client | null>,
    record: KeyRecord | null,
    recheckAfter: number,
  ): Client | null {
    if (this.#isCurrent(hash, lookup))
      return this.#remember(hash, record, recheckAfter);
    return record && this.#clientOf(record, hash);
  }

  #isCurrent(hash: string, lookup: Promise<Client | null>): boolean {
    return this.#lookups.get(hash) === lookup && this.#lookups.delete(hash);
  }

  #remember(
    hash: string,
    record: KeyRecord | null,
    recheckAfter: number,
  ): Client | null {
    const found = {
      record,
      recheckAt: this.#clock() + recheckAfter,
      generation: this.#generation,
      client: record && this.#clientOf(record, hash),
      plans: this.#plans,
    };
    if (record) this.#clients.set(hash, found);
    else this.#strangers.set(hash, found);
    return found.client;
  }

  #clientOf(record: KeyRecord, hash: string): Client {
    const { plans, concurrencies } = this.#plans;
    const plan = plans.get(record.plan);
    const windows = windowsOf(record, this.#plans);
    const subject = subjectOf(record, this.#plans);
    return {
      keyId: record.id,
      account: record.account,
      plan: record.plan,
      subject,
      limits: windows && this.#limitsOf(windows),
      concurrency:
        concurrencies?.get(record.account) ?? plan?.concurrency ?? null,
      owner: {
        group: record.plan,
        weight: plan?.weight ?? DEFAULT_WEIGHT,
        member: record.account,
      },
      expiresAt: record.expiresAt,
      revoked: record.revokedAt !== null || record.disabledAt !== null,
      addresses: addressesOf(record, plan),
      scopes: record.scopes,
      retiresAt:
        record.previous?.hash === hash && record.hash !== hash
          ? record.previous.until
          : null,
    };
  }
}

function limitsIn(plans: Plans) {
  return remembered((windows: readonly Window[]) => limitsOf(windows, plans));
}

function withLimits(
  known: CachedClient | undefined,
  record: KeyRecord | null,
): KeyRecord | null {
  const windows = known?.record?.windows;
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
