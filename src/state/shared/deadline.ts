/** Name of Redis for operators. */
const SERVICE = 'Redis';
/** Maximum second wait: milliseconds, and a multiple of the deadline. */
const MAX_SECOND_WAIT = 150;
const MAX_DEADLINES = 3;

export class DeadlineError extends Error {
  override name = 'DeadlineError';

  constructor(deadline: number) {
    super(`${SERVICE} gave no answer within ${deadline} ms`);
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

/**
 * Waits `deadline` for Redis, and once more during a short outage, because its response is
 * better than a local guess. The second wait begins when a shard misses its first deadline, ends
 * for all its requests at once, and is repeated only after a response in time. So Redis that
 * stays slow or down gets it once.
 */
export class OutageGrace {
  readonly #deadline: number;
  readonly #secondWait: number;
  readonly #shardOf: (name: string) => string;
  readonly #hiccups = new Map<string, number>();

  /** `deadline` in milliseconds. */
  constructor(deadline: number, shardOf: (name: string) => string) {
    this.#deadline = deadline;
    this.#secondWait = Math.min(MAX_SECOND_WAIT, MAX_DEADLINES * deadline);
    this.#shardOf = shardOf;
  }

  /** Rejects with DeadlineError on a timeout, without cancelling `work`. */
  wait<T>(name: string, work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let isLate = false;
      const giveUp = () => reject(new DeadlineError(this.#deadline));
      let stop = onTimeout(this.#deadline, () => {
        isLate = true;
        const rest = this.#hiccup(name) - performance.now();
        if (rest <= 0) giveUp();
        else stop = onTimeout(rest, giveUp);
      });
      work.then(
        (answer) => {
          stop();
          if (!isLate && this.#hiccups.size > 0)
            this.#hiccups.delete(this.#shardOf(name));
          resolve(answer);
        },
        (error) => {
          stop();
          reject(error);
        },
      );
    });
  }

  /** Starts the wait if needed. */
  #hiccup(name: string): number {
    const shard = this.#shardOf(name);
    let until = this.#hiccups.get(shard);
    if (until === undefined) {
      until = performance.now() + this.#secondWait;
      this.#hiccups.set(shard, until);
    }
    return until;
  }
}
