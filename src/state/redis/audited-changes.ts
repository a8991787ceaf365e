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

/** A change, with the note that is kept with it. */
export interface AuditedChange<C> {
  readonly note: AuditNote;
  /** Names of what nobody else may change meanwhile. */
  readonly locks: readonly string[];
  /** Reads what is there and answers the change, or throws why it is refused. Writes nothing. */
  readonly plan: () => Promise<C>;
}

/** An answer as it is kept. Until its change is known to be whole, it has all that is needed to make it. */
type StoredAnswer<C> = IdempotentAnswer & {
  readonly pending?: C;
  readonly entry?: AuditDraft;
  readonly locks?: readonly string[];
};

/**
 * Makes changes that no single step of Redis covers, because a Cluster keeps their parts in different places. The order:
 * 1. The change is planned. A refused one has written nothing.
 * 2. If the call must not be done twice, its answer is written, together with the entry and the change.
 * 3. The audit entry is written, before the change, so that no change goes unnoticed.
 * 4. The change is made.
 * A call that died after the second step is finished when it is made again.
 */
export class AuditedChanges<C> {
  readonly #redis: Connection;
  readonly #entries: Pick<AuditEntries, 'append' | 'appendOnce'>;
  readonly #apply: (change: C) => Promise<void>;

  /** `apply` makes a change; making it twice must be as good as once. */
  constructor(
    redis: Connection,
    entries: Pick<AuditEntries, 'append' | 'appendOnce'>,
    apply: (change: C) => Promise<void>,
  ) {
    this.#redis = redis;
    this.#entries = entries;
    this.#apply = apply;
  }

  /** Throws IdempotencyConflict, before anything that `plan` or `apply` throw. */
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
        // After an outage nobody knows what was done. The change stays pending, and the next call finishes it.
        if (!(error instanceof Outage)) await this.#takeBack(note);
        throw error;
      }
      if (idempotent) await this.#settle(idempotent);
    });
  }

  /** The answer that is kept under a name. Finishes its change where that died half-way. */
  async answered(name: string): Promise<IdempotentAnswer | null> {
    const kept = await this.#read(name);
    if (kept?.pending === undefined) return kept;
    return withLocks(this.#redis, kept.locks ?? [name], async () => {
      // Whoever held the locks has finished, or is dead.
      const still = await this.#read(name);
      if (still?.pending === undefined) return still;
      return this.#finish(still);
    });
  }

  async forget(name: string): Promise<void> {
    await withTimeout(this.#redis.del(keyOf.idempotentAnswer(name)));
  }

  /** The change could not be made after its entry was written. */
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
