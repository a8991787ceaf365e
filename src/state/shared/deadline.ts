export class DeadlineError extends Error {
  override name = 'DeadlineError';

  constructor(who: string, deadline: number) {
    super(`${who} gave no answer within ${deadline} ms`);
  }
}

/**
 * Waits up to `deadline` milliseconds for `work`, then rejects with DeadlineError. The work itself is not cancelled.
 * `who`: name of the service for operators.
 */
export function withDeadline<T>(work: Promise<T>, deadline: number, who: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = onTimeout(deadline, () => reject(new DeadlineError(who, deadline)));
    work.then(resolve, reject).finally(stop);
  });
}

/**
 * Calls `passed` after `wait` milliseconds. A busy or suspended process does not count as a slow peer: an early timer
 * (timers count from the start of an event loop turn) is set again, and a late timer first lets the event loop read
 * arrived data. Returns the cancel function.
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
