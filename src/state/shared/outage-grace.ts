import { DeadlineError, onTimeout } from './deadline.ts';

/** Longest second wait: milliseconds, and so many deadlines. */
const MAX_SECOND_WAIT = 150;
const MAX_DEADLINES = 3;

export interface OutageGraceOptions {
  /** Milliseconds that an answer may take. */
  readonly deadline: number;
  /** Who answers, in words for operators. */
  readonly service: string;
  /** The part of the backend that `name` is asked about, which fails apart from the others. */
  readonly shardOf: (name: string) => string;
}

/**
 * How long requests wait for a backend: `deadline`, and through a hiccup once more. What hiccups is back in a moment, and
 * its answer is better than a guess of this process. The second wait begins when a shard misses its first deadline, ends for
 * all its requests at once, and comes again only after an answer in time. So a backend that stays slow or away has it once.
 */
export class OutageGrace {
  readonly #options: OutageGraceOptions;
  readonly #secondWait: number;
  /** Shards that missed a deadline and gave no answer in time since: when the second wait for each is over. */
  readonly #hiccups = new Map<string, number>();

  constructor(options: OutageGraceOptions) {
    this.#options = options;
    this.#secondWait = Math.min(MAX_SECOND_WAIT, MAX_DEADLINES * options.deadline);
  }

  /** Waits for `work`, which is about `name`. Rejects with DeadlineError when it takes too long; the work itself goes on. */
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

  /** When the second wait for the shard of `name` is over. It begins now if there is none. */
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
