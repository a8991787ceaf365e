import { Outage } from '../../common/errors/outage.ts';
import type { Connection } from '../../state/redis/client.ts';
import { keyOf } from '../../state/redis/key-names.ts';
import { limitLifetime } from '../../state/redis/lifetimes.ts';
import { withLocks } from '../../state/redis/lock.ts';
import { withTimeout } from '../../state/redis/timeouts.ts';
import {
  type AuditDraft,
  type AuditNote,
  failedEntry,
  IDEMPOTENCY_LIFETIME,
  IdempotencyConflict,
  type IdempotentAnswer,
} from '../operators/audit-log.ts';
import type { AuditEntries } from './audit-entries.ts';

interface AuditedChange<C> {
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

export type AuditedChanges<C> = ReturnType<typeof auditedChangesIn<C>>;

/**
 * Makes changes across slots of a Cluster, which Redis cannot apply in one step. The order:
 * 1. Plan the change. A refused change has written nothing.
 * 2. If the call must not be repeated, store its answer with the audit entry and the change.
 * 3. Write the audit entry first, so that every change is logged.
 * 4. Apply the change.
 *
 * A repeated call completes a change that failed after step 2. `apply` must be idempotent.
 */
export function auditedChangesIn<C>(
  redis: Connection,
  entries: Pick<AuditEntries, 'append' | 'appendOnce'>,
  apply: (change: C) => Promise<void>,
) {
  async function read(name: string): Promise<StoredAnswer<C> | null> {
    const key = keyOf.idempotentAnswer(name);
    const text = await withTimeout(redis.get(key));
    if (text === null) return null;
    await limitLifetime(redis, key, IDEMPOTENCY_LIFETIME);
    return JSON.parse(text) as StoredAnswer<C>;
  }

  /**
   * `condition` `NX`: only a first answer; `XX`: only in place of one. Returns whether it was
   * stored.
   */
  async function store(answer: StoredAnswer<C>, condition: 'NX' | 'XX') {
    const name = keyOf.idempotentAnswer(answer.name);
    const text = JSON.stringify(answer);
    return (
      (await withTimeout(
        redis.call('set', name, text, 'PX', IDEMPOTENCY_LIFETIME, condition),
      )) !== null
    );
  }

  async function forget(name: string) {
    await withTimeout(redis.del(keyOf.idempotentAnswer(name)));
  }

  return {
    /** Throws IdempotencyConflict, before any error of `plan` or `apply`. */
    async make({ note: { entry, idempotent }, locks, plan }: AuditedChange<C>) {
      const all = idempotent ? [...locks, idempotent.name] : locks;
      await withLocks(redis, all, async () => {
        if (idempotent && (await read(idempotent.name)))
          throw new IdempotencyConflict();
        const change = await plan();
        if (
          idempotent &&
          !(await store(
            { ...idempotent, pending: change, entry, locks: all },
            'NX',
          ))
        )
          throw new IdempotencyConflict();
        try {
          await entries.append(entry);
          await apply(change);
        } catch (error) {
          // The result is unknown. The change stays pending until the next call completes it.
          if (error instanceof Outage) throw error;
          await entries.append(failedEntry(entry));
          if (idempotent) await forget(idempotent.name);
          throw error;
        }
        if (idempotent) await store(idempotent, 'XX');
      });
    },
    /** Completes a pending change first. */
    async answered(name: string): Promise<IdempotentAnswer | null> {
      const kept = await read(name);
      if (kept?.pending === undefined) return kept;
      return withLocks(redis, kept.locks ?? [name], async () => {
        // The previous holder of the locks has finished or died.
        const still = await read(name);
        if (still?.pending === undefined) return still;
        const { pending, entry, locks: _, ...idempotent } = still;
        await apply(pending);
        if (entry) await entries.appendOnce(entry);
        await store(idempotent, 'XX');
        return idempotent;
      });
    },
    forget,
  };
}
