import type { Answer, Task } from './call.ts';
import type { Desk } from './desk.ts';

/**
 * Does what is not kept with the journal in one step. It is noted first, so that nothing is done unnoticed; if it then
 * cannot be done, that is noted too, and the call may be repeated.
 */
export async function act(
  desk: Desk,
  task: Task,
  deed: { action: string; target: string; before: unknown; after: unknown },
  answer: Answer,
  work: () => Promise<void>,
): Promise<Answer> {
  const trail = task.trail(deed, answer);
  await desk.journal.append(trail);
  try {
    await work();
  } catch (error) {
    const undone = { ...trail.deed, action: `${deed.action}.failed`, after: deed.before };
    await desk.journal.append({ deed: undone, once: null });
    if (trail.once) await desk.journal.forget(trail.once.name);
    throw error;
  }
  return answer;
}
