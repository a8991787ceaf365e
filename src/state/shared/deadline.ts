/** No answer came in the time that a request may wait. */
export class DeadlineError extends Error {
  override name = 'DeadlineError';
}

/**
 * Waits for `work`, but at most `deadline` milliseconds, then rejects with DeadlineError. The work itself goes on.
 * An answer that arrived while this process was busy is in time: the event loop reads it before the deadline counts.
 * `who` gives no answer, in words for operators.
 */
export function withDeadline<T>(work: Promise<T>, deadline: number, who: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new DeadlineError(`${who} gave no answer within ${deadline} ms`));
    const timer = setTimeout(() => setImmediate(late), deadline);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
