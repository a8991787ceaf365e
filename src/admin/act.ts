import type { AdminAnswer, Task } from './call.ts';
import type { AdminContext } from './context.ts';

/**
 * Does what is not kept with the audit log in one step. It is noted first, so that nothing is done unnoticed; if it then
 * cannot be done, that is noted too, and the call may be repeated.
 */
export async function act(
  context: AdminContext,
  task: Task,
  entry: { action: string; target: string; before: unknown; after: unknown },
  answer: AdminAnswer,
  work: () => Promise<void>,
): Promise<AdminAnswer> {
  const note = task.note(entry, answer);
  await context.auditLog.append(note);
  try {
    await work();
  } catch (error) {
    const undone = { ...note.entry, action: `${entry.action}.failed`, after: entry.before };
    await context.auditLog.append({ entry: undone, idempotent: null });
    if (note.idempotent) await context.auditLog.forget(note.idempotent.name);
    throw error;
  }
  return answer;
}
