/** Redis took longer than a request may wait. */
export class DeadlineError extends Error {
  override name = 'DeadlineError';
}

/**
 * Waits for `work`, but no longer than `deadline` milliseconds; what it does later is the caller's business.
 * An answer that has arrived while this process was busy counts as in time: it is read before the deadline is called.
 */
export function withDeadline<T>(work: Promise<T>, deadline: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new DeadlineError(`Redis gave no answer within ${deadline} ms`));
    const timer = setTimeout(() => setImmediate(late), deadline);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
