import { KeyedMutex } from '../common/keyed-mutex.ts';
import { type AuditDraft, type AuditLog, type AuditNote, IdempotencyConflict } from '../keys/operators/audit-log.ts';
import { AuditRetractions } from './audit-retractions.ts';
import type { AdminAnswer, Task } from './call.ts';

/** What the audit log says about a change; who made it, when and why stands in the task. */
export type ChangeEntry = Pick<AuditDraft, 'action' | 'target' | 'before' | 'after'>;

/** One part of a change: an entry, and the work that it tells. */
export interface ChangePart {
  readonly entry: ChangeEntry;
  readonly make: () => Promise<void>;
}

/** The two ways to keep a change and its entry together. */
export interface ChangeAudit {
  /** For a store that takes the note with the change and keeps both or neither. */
  note(entry: ChangeEntry, answer: AdminAnswer): AuditNote;
  /**
   * For everything else. Each entry is written before its part is made, so that nothing changes unnoticed. When a part
   * cannot be made, an entry `<action>.failed` takes its entry back, the parts after it are neither told nor made, and
   * the call may be repeated with its Idempotency-Key. Rejects with what kept the part from being made.
   */
  make<Body>(parts: readonly ChangePart[], answer: AdminAnswer<Body>): Promise<AdminAnswer<Body>>;
}

/**
 * Makes a change of an operator; the only way to make one. Changes of one `target` take turns, so `work` finds things
 * as the change before has left them. A call whose Idempotency-Key was answered before gets that answer, and `work` is
 * not run.
 */
export type Change = <Body>(
  task: Task,
  target: string,
  work: (audit: ChangeAudit) => Promise<AdminAnswer<Body>>,
) => Promise<AdminAnswer<Body>>;

export interface Changes {
  readonly change: Change;
  /** Tells the audit log what it could not be told yet. */
  close(): Promise<void>;
}

export function createChanges(auditLog: AuditLog): Changes {
  const turns = new KeyedMutex();
  const retractions = new AuditRetractions(auditLog);

  async function makeParts<Body>(
    task: Task,
    parts: readonly ChangePart[],
    answer: AdminAnswer<Body>,
  ): Promise<AdminAnswer<Body>> {
    let open: AuditDraft | null = null;
    try {
      for (const [i, { entry, make }] of parts.entries()) {
        const note = noteOf(task, entry, i === 0 ? answer : null);
        open = note.entry;
        await auditLog.append(note);
        await make();
        open = null;
      }
      return answer;
    } catch (error) {
      // Then another call has the entry and the answer, and both are right.
      if (!(error instanceof IdempotencyConflict)) await takeBack(task, open, error);
      throw error;
    }
  }

  async function takeBack({ idempotent }: Task, entry: AuditDraft | null, reason: unknown): Promise<void> {
    try {
      await retractions.add(entry, idempotent?.name ?? null);
    } catch (error) {
      throw new AggregateError([reason, error], 'A change failed, and its failure is not in the audit log yet.');
    }
  }

  /** The same call was answered before, so the answer has the same type. */
  async function answerOfBefore<Body>({ idempotent, now }: Task): Promise<AdminAnswer<Body> | null> {
    const kept = idempotent && (await auditLog.answered(idempotent.name, now));
    return kept ? (idempotent.open(kept) as AdminAnswer<Body>) : null;
  }

  return {
    change: <Body>(task: Task, target: string, work: (audit: ChangeAudit) => Promise<AdminAnswer<Body>>) =>
      turns.take(target, async () => {
        await retractions.settle();
        const before = await answerOfBefore<Body>(task);
        if (before) return before;
        try {
          return await work({
            note: (entry, answer) => noteOf(task, entry, answer),
            make: (parts, answer) => makeParts(task, parts, answer),
          });
        } catch (error) {
          // The same call at another gateway was faster: its answer is ours.
          const first = error instanceof IdempotencyConflict ? await answerOfBefore<Body>(task) : null;
          if (!first) throw error;
          return first;
        }
      }),
    close: () => retractions.close(),
  };
}

/** `answer`: kept with the note, so that a repeated call gets it; `null` where it is kept with another note of the call. */
function noteOf(
  { now, actor, requestId, reason, idempotent }: Task,
  entry: ChangeEntry,
  answer: AdminAnswer | null,
): AuditNote {
  return {
    entry: { ...entry, at: now, actor, requestId, ...(reason !== null && { reason }) },
    idempotent: answer && idempotent ? idempotent.seal(answer) : null,
  };
}
