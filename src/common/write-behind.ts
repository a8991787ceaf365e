import { setImmediate } from 'node:timers/promises';
import { WakeableSleep } from './wakeable-sleep.ts';

/** Milliseconds. */
const RETRY_DELAY = 1_000;

interface WriteBehindOptions<T> {
  readonly write: (item: T) => Promise<boolean>;
  /** Beyond it items are lost. */
  readonly maxItems: number;
  /** Items between pauses, and the pause in milliseconds. */
  readonly batchSize: number;
  readonly pause: number;
  /** The number of lost items: at once for the first, then in total when the queue is empty. */
  readonly onDropped: (count: number) => void;
}

export class WriteBehind<T> {
  readonly #options: WriteBehindOptions<T>;
  readonly #waiting: T[] = [];
  readonly #sleep = new WakeableSleep();
  #writing: Promise<void> | null = null;
  #lost = 0;
  #isFull = false;
  /** On the clock of `performance.now()`. */
  #giveUpAt: number | null = null;

  constructor(options: WriteBehindOptions<T>) {
    this.#options = options;
  }

  add(item: T): boolean {
    if (
      this.#giveUpAt !== null ||
      this.#waiting.length >= this.#options.maxItems
    ) {
      this.#lost++;
      if (!this.#isFull) this.#reportLost();
      this.#isFull = this.#giveUpAt === null;
      return false;
    }
    this.#waiting.push(item);
    this.#writing ??= this.#write();
    return true;
  }

  /**
   * Stops at the first failed write or after `closeTimeout` milliseconds. The remaining items are
   * lost.
   */
  async close(closeTimeout = Number.POSITIVE_INFINITY): Promise<void> {
    this.#giveUpAt ??= performance.now() + closeTimeout;
    this.#sleep.wake();
    await this.#writing;
    this.#lost += this.#waiting.splice(0).length;
    this.#reportLost();
  }

  async #write(): Promise<void> {
    const { write, batchSize: atOnce, pause } = this.#options;
    // Lets the response be sent first.
    await setImmediate();
    for (let written = 0; this.#waiting.length > 0; ) {
      const isDone = await write(this.#waiting[0]!);
      if (isDone) {
        this.#waiting.shift();
        written++;
      }
      if (this.#giveUpAt !== null) {
        if (!isDone || performance.now() > this.#giveUpAt) return;
      } else if (!isDone) await this.#sleep.sleep(RETRY_DELAY);
      else if (this.#waiting.length > 0 && written % atOnce === 0)
        await (pause === 0 ? setImmediate() : this.#sleep.sleep(pause));
    }
    this.#writing = null;
    this.#reportLost();
  }

  #reportLost(): void {
    this.#isFull = false;
    if (this.#lost > 0) this.#options.onDropped(this.#lost);
    this.#lost = 0;
  }
}
