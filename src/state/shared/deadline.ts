/** Name of Redis for operators. */
const SERVICE = 'Redis';
/** Maximum second wait: milliseconds, and a multiple of the deadline. */
const MAX_SECOND_WAIT = 150;
const MAX_DEADLINES = 3;

export class DeadlineError extends Error {
  override name = 'DeadlineError';

  constructor(deadline: number) {
    super(`${SERVICE} did not respond within ${deadline} ms`);
  }
}

/**
 * Rejects with DeadlineError if `work` takes longer than `deadline` milliseconds. Does not cancel
 * `work`.
 */
export function withDeadline<T>(
  work: Promise<T>,
  deadline: number,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = onTimeout(deadline, () => reject(new DeadlineError(deadline)));
    work.then(resolve, reject).finally(stop);
  });
}

/**
 * Calls `passed` after `wait` milliseconds. A busy or suspended process does not count as a slow
 * peer: an early timer (timers count from the start of an event loop turn) is set again, and a late
 * timer first lets the event loop read arrived data. Returns the cancel function.
 */
function onTimeout(wait: number, passed: () => void): () => void {
  const end = performance.now() + wait;
  let timer = setTimeout(fire, wait);
  let soon: NodeJS.Immediate | null = null;
  function fire() {
    const rest = end - performance.now();
    if (rest >= 1) timer = setTimeout(fire, rest);
    else soon = setImmediate(passed);
  }
  return () => {
    clearTimeout(timer);
    if (soon) clearImmediate(soon);
  };
}

/**
 * Waits `deadline` for Redis, and once more during a short outage, because its response is
 * better than a local guess. The second wait begins when a shard misses its first deadline, ends
 * for all its requests at once, and is repeated only after a response in time. So Redis that
 * stays slow or down gets it once. `deadline` in milliseconds.
 */
export function createOutageGrace(
  deadline: number,
  shardOf: (name: string) => string,
) {
  const hiccups = new Map<string, number>();

  const secondWait = Math.min(MAX_SECOND_WAIT, MAX_DEADLINES * deadline);

  /** Starts the wait if needed. */
  function hiccup(name: string) {
    const shard = shardOf(name);
    let until = hiccups.get(shard);
    if (until === undefined) {
      until = performance.now() + secondWait;
      hiccups.set(shard, until);
    }
    return until;
  }

  /** Rejects with DeadlineError on a timeout, without cancelling `work`. */
  return <T>(name: string, work: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      let isLate = false;
      const giveUp = () => reject(new DeadlineError(deadline));
      let stop = onTimeout(deadline, () => {
        isLate = true;
        const rest = hiccup(name) - performance.now();
        if (rest <= 0) giveUp();
        else stop = onTimeout(rest, giveUp);
      });
      work
        .then((result) => {
          if (!isLate && hiccups.size > 0) hiccups.delete(shardOf(name));
          resolve(result);
        }, reject)
        .finally(() => stop());
    });
}
