import { DeadlineError, onTimeout } from './deadline.ts';

/** Maximum second wait: milliseconds, and a multiple of the deadline. */
const MAX_SECOND_WAIT = 150;
const MAX_DEADLINES = 3;

export interface OutageGraceOptions {
  /** Milliseconds. */
  readonly deadline: number;
  readonly service: string;
  readonly shardOf: (name: string) => string;
}

/**
 * Waits `deadline` for a backend, and once more during a short outage, because its response is better than a local
 * guess. The second wait begins when a shard misses its first deadline, ends for all its requests at once, and is
 * repeated only after a response in time. So a backend that stays slow or down gets it once.
 */
export class OutageGrace {
  readonly #options: OutageGraceOptions;
  readonly #secondWait: number;
  readonly #hiccups = new Map<string, number>();

  constructor(options: OutageGraceOptions) {
    this.#options = options;
    this.#secondWait = Math.min(MAX_SECOND_WAIT, MAX_DEADLINES * options.deadline);
  }

  /** Rejects with DeadlineError on a timeout, without cancelling `work`. */
  wait<T>(name: string, work: Promise<T>): Promise<T> {
    const { deadline, service: who } = this.#options;
    return new Promise((resolve, reject) => {
      let isLate = false;
      const giveUp = () => reject(new DeadlineError(who, deadline));
      let stop = onTimeout(deadline, () => {
        isLate = true;
        const rest = this.#hiccup(name) - performance.now();
        if (rest <= 0) giveUp();
        else stop = onTimeout(rest, giveUp);
      });
      work.then(
        (answer) => {
          stop();
          if (!isLate && this.#hiccups.size > 0) this.#hiccups.delete(this.#options.shardOf(name));
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
    const shard = this.#options.shardOf(name);
    let until = this.#hiccups.get(shard);
    if (until === undefined) {
      until = performance.now() + this.#secondWait;
      this.#hiccups.set(shard, until);
    }
    return until;
  }
}
