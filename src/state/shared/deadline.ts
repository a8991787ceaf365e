/** No answer came in the time that a request may wait. */
export class DeadlineError extends Error {
  override name = 'DeadlineError';

  /** `who` gives no answer, in words for operators. */
  constructor(who: string, deadline: number) {
    super(`${who} gave no answer within ${deadline} ms`);
  }
}

/**
 * Waits for `work`, but at most `deadline` milliseconds, then rejects with DeadlineError. The work itself goes on.
 * `who` gives no answer, in words for operators.
 */
export function withDeadline<T>(work: Promise<T>, deadline: number, who: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = onTimeout(deadline, () => reject(new DeadlineError(who, deadline)));
    work.then(resolve, reject).finally(stop);
  });
}

/**
 * Calls back once `wait` milliseconds have passed without an answer. This process may have been busy, or did not run at
 * all; that says nothing about the other side. So a timer that fires early, because it counts from the beginning of its
 * turn of the event loop, is set again, and one that fires late lets the event loop read what has arrived first.
 * Returns a function that ends the waiting.
 */
export function onTimeout(wait: number, passed: () => void): () => void {
  const end = performance.now() + wait;
  let timer = setTimeout(fire, wait);
  let soon: NodeJS.Immediate | null = null;
  function fire(): void {
    const rest = end - performance.now();
    if (rest >= 1) timer = setTimeout(fire, rest);
    else soon = setImmediate(passed);
  }
  return () => {
    clearTimeout(timer);
    if (soon) clearImmediate(soon);
  };
}
