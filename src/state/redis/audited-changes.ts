import { Outage } from '../../errors/outage.ts';
import {
  type AuditDraft,
  type AuditNote,
  failedEntry,
  IDEMPOTENCY_LIFETIME,
  IdempotencyConflict,
  type IdempotentAnswer,
} from '../../keys/operators/audit-log.ts';
import type { AuditEntries } from './audit-entries.ts';
import type { Connection } from './client.ts';
import { keyOf } from './key-names.ts';
import { withLocks } from './lock.ts';
import { withTimeout } from './timeouts.ts';

export interface AuditedChange<C> {
  readonly note: AuditNote;
  readonly locks: readonly string[];
  /** Returns the change or throws the refusal. Writes nothing. */
  readonly plan: () => Promise<C>;
}

/** Until its change is complete, it contains everything needed to apply the change. */
type StoredAnswer<C> = IdempotentAnswer & {
  readonly pending?: C;
  readonly entry?: AuditDraft;
  readonly locks?: readonly string[];
};

/**
 * Makes changes across slots of a Cluster, which Redis cannot apply in one step. The order:
 * 1. Plan the change. A refused change has written nothing.
 * 2. If the call must not be repeated, store its answer with the audit entry and the change.
 * 3. Write the audit entry first, so that every change is logged.
 * 4. Apply the change.
 *
 * A repeated call completes a change that failed after step 2.
 */
export class AuditedChanges<C> {
  readonly #redis: Connection;
  readonly #entries: Pick<AuditEntries, 'append' | 'appendOnce'>;
  readonly #apply: (change: C) => Promise<void>;

  /** `apply` must be idempotent. */
  constructor(
    redis: Connection,
    entries: Pick<AuditEntries, 'append' | 'appendOnce'>,
    apply: (change: C) => Promise<void>,
  ) {
    this.#redis = redis;
    this.#entries = entries;
    this.#apply = apply;
  }

  /** Throws IdempotencyConflict, before any error of `plan` or `apply`. */
  async make({ note, locks, plan }: AuditedChange<C>): Promise<void> {
    const { entry, idempotent } = note;
    const all = idempotent ? [...locks, idempotent.name] : locks;
    await withLocks(this.#redis, all, async () => {
      if (idempotent && (await this.#read(idempotent.name))) throw idempotencyConflict();
      const change = await plan();
      if (idempotent) await this.#claim({ ...idempotent, pending: change, entry, locks: all });
      try {
        await this.#entries.append(entry);
        await this.#apply(change);
      } catch (error) {
        // The result is unknown. The change stays pending until the next call completes it.
        if (!(error instanceof Outage)) await this.#takeBack(note);
        throw error;
      }
      if (idempotent) await this.#settle(idempotent);
    });
  }

  /** Completes a pending change first. */
  async answered(name: string): Promise<IdempotentAnswer | null> {
    const kept = await this.#read(name);
    if (kept?.pending === undefined) return kept;
    return withLocks(this.#redis, kept.locks ?? [name], async () => {
      // The previous holder of the locks has finished or died.
      const still = await this.#read(name);
      if (still?.pending === undefined) return still;
      return this.#finish(still);
    });
  }

  async forget(name: string): Promise<void> {
    await withTimeout(this.#redis.del(keyOf.idempotentAnswer(name)));
  }

  async #takeBack({ entry, idempotent }: AuditNote): Promise<void> {
    await this.#entries.append(failedEntry(entry));
    if (idempotent) await this.forget(idempotent.name);
  }

  async #finish({ pending, entry, locks: _, ...idempotent }: StoredAnswer<C>): Promise<IdempotentAnswer> {
    await this.#apply(pending!);
    if (entry) await this.#entries.appendOnce(entry);
    await this.#settle(idempotent);
    return idempotent;
  }

  async #read(name: string): Promise<StoredAnswer<C> | null> {
    const text = await withTimeout(this.#redis.get(keyOf.idempotentAnswer(name)));
    return text === null ? null : (JSON.parse(text) as StoredAnswer<C>);
  }

  async #claim(kept: StoredAnswer<C>): Promise<void> {
    const name = keyOf.idempotentAnswer(kept.name);
    const taken = await withTimeout(this.#redis.set(name, JSON.stringify(kept), 'PX', IDEMPOTENCY_LIFETIME, 'NX'));
    if (taken === null) throw idempotencyConflict();
  }

  async #settle(idempotent: IdempotentAnswer): Promise<void> {
    const name = keyOf.idempotentAnswer(idempotent.name);
    await withTimeout(this.#redis.set(name, JSON.stringify(idempotent), 'PX', IDEMPOTENCY_LIFETIME, 'XX'));
  }
}

function idempotencyConflict(): IdempotencyConflict {
  return new IdempotencyConflict('this call was answered before');
}
