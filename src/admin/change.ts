import { createCoalescedWork } from '../common/coalesced-work.ts';
import { createDelayedRun, type DelayedRun } from '../common/delayed-run.ts';
import { Outage, unlessOutage } from '../common/errors/outage.ts';
import { createKeyedMutex } from '../common/keyed-mutex.ts';
import { SECOND } from '../common/time.ts';
import {
  type AuditAction,
  type AuditDraft,
  type AuditLog,
  type AuditNote,
  failedEntry,
  IdempotencyConflict,
} from '../records/operators/audit-log.ts';
import type { Task } from './call.ts';

const RETRY = SECOND;

export interface ChangeEntry
  extends Pick<AuditDraft, 'target' | 'before' | 'after'> {
  readonly action: AuditAction;
}

export interface ChangePart {
  readonly entry: ChangeEntry;
  readonly make: () => Promise<void>;
}

export interface ChangeAudit {
  /** For a store that writes change and note atomically. */
  note(entry: ChangeEntry, response: unknown): AuditNote;
  /**
   * For everything else. Each entry is written before its change. If a change fails,
   * `<action>.failed` retracts its entry, later parts are skipped, and the call may be repeated
   * with its Idempotency-Key. Rejects with the error of the failed part.
   */
  make<Body>(parts: readonly ChangePart[], response: Body): Promise<Body>;
}

/**
 * The only way for operators to change anything. Changes of one `target` are serialized. A repeated
 * Idempotency-Key returns the first response, and `work` does not run.
 */
export type Change = <Body>(
  task: Task,
  target: string,
  work: (audit: ChangeAudit) => Promise<Body>,
) => Promise<Body>;

/** `close` writes pending retractions to the audit log. */
export function createChanges(auditLog: AuditLog): {
  readonly change: Change;
  close(): Promise<void>;
} {
  const turns = createKeyedMutex();
  const retractions = createRetractions(auditLog);

  async function makeParts<Body>(
    task: Task,
    parts: readonly ChangePart[],
    response: Body,
  ): Promise<Body> {
    let open: AuditDraft | null = null;
    try {
      for (const [i, { entry, make }] of parts.entries()) {
        const note = noteOf(task, entry, i === 0 ? response : null);
        open = note.entry;
        await auditLog.append(note);
        await make();
        open = null;
      }
      return response;
    } catch (error) {
      // After a conflict the entry and response of the other call are valid.
      if (!(error instanceof IdempotencyConflict))
        await takeBack(task, open, error);
      throw error;
    }
  }

  async function takeBack(
    { idempotent }: Task,
    entry: AuditDraft | null,
    reason: unknown,
  ): Promise<void> {
    try {
      await retractions.add(entry, idempotent?.name ?? null);
    } catch (error) {
      throw new AggregateError(
        [reason, error],
        'A change failed, and its failure is not in the audit log yet.',
      );
    }
  }

  /** From the same operation, so its body has the same type. */
  async function earlierResult({ idempotent, now }: Task) {
    const kept = idempotent && (await auditLog.resultOf(idempotent.name, now));
    return kept ? (idempotent.open(kept) as never) : null;
  }

  /** Of the same call at another gateway, if this one has met its change. */
  async function resultOfOther(task: Task, error: unknown) {
    if (error instanceof IdempotencyConflict) return await earlierResult(task);
    // A failed change has a result until its retraction is written.
    if (error instanceof Outage || retractions.areWaiting) return null;
    return await unlessOutage(() => earlierResult(task), null);
  }

  const change: Change = (task, target, work) =>
    turns.take(target, async () => {
      await retractions.settle();
      const before = await earlierResult(task);
      if (before) return before;
      try {
        return await work({
          note: (entry, response) => noteOf(task, entry, response),
          make: (parts, response) => makeParts(task, parts, response),
        });
      } catch (error) {
        const first = await resultOfOther(task, error);
        if (!first) throw error;
        return first;
      }
    });

  return { change, close: () => retractions.close() };
}

function noteOf(
  { now, actor, requestId, reason, idempotent }: Task,
  entry: ChangeEntry,
  response: unknown,
): AuditNote {
  return {
    entry: {
      ...entry,
      at: now,
      actor,
      requestId,
      ...(reason !== null && { reason }),
    },
    idempotent:
      response !== null && idempotent ? idempotent.seal(response) : null,
  };
}

/** Retried while the log is unreachable. */
function createRetractions(auditLog: AuditLog) {
  const waiting: (() => Promise<void>)[] = [];
  const writing = createCoalescedWork(async () => {
    for (; waiting.length > 0; waiting.shift()) await waiting[0]!();
  });
  // The client has already received the error of its change.
  const later: DelayedRun = createDelayedRun(
    () => void settle().catch(() => later.plan()),
    RETRY,
  );

  /** Writes what is pending. Throws on failure: then no other change may be logged either. */
  async function settle(): Promise<void> {
    if (waiting.length > 0) await writing.next();
  }

  async function tryNow(): Promise<void> {
    try {
      await settle();
    } catch (error) {
      later.plan();
      if (!(error instanceof Outage)) throw error;
    }
  }

  return {
    settle,
    get areWaiting() {
      return waiting.length > 0;
    },
    /**
     * Retracts `entry` and deletes the result named `response`, so that the call can be repeated.
     * Throws errors other than an outage; retries later in either case.
     */
    async add(
      entry: AuditDraft | null,
      response: string | null,
    ): Promise<void> {
      if (entry)
        waiting.push(async () =>
          auditLog.append({ entry: failedEntry(entry), idempotent: null }),
        );
      if (response !== null)
        waiting.push(async () => auditLog.forget(response));
      await tryNow();
    },
    async close(): Promise<void> {
      later.close();
      await tryNow();
    },
  };
}
