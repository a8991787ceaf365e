import { setImmediate } from 'node:timers/promises';
import { WakeableSleep } from './wakeable-sleep.ts';

/** Milliseconds until an item that was not taken is tried again. */
const AGAIN = 1_000;

export interface WriteBehindOptions<T> {
  /** Writes an item. Returns `false` if it is to be tried again. */
  readonly write: (item: T) => Promise<boolean>;
  /** Items that wait at most; later ones are lost. */
  readonly most: number;
  /** Items written before others have their turn, and the milliseconds of that. */
  readonly atOnce: number;
  readonly pause: number;
  /** Called with the number of lost items: the first at once, the others together as soon as nothing waits. */
  readonly lost: (count: number) => void;
}

/** A bounded queue behind the requests. Items are written in their order, one after the other, each until it is taken. */
export class WriteBehind<T> {
  readonly #options: WriteBehindOptions<T>;
  readonly #waiting: T[] = [];
  readonly #sleep = new WakeableSleep();
  #writing: Promise<void> | null = null;
  #lost = 0;
  #isFull = false;
  /** When a closed queue gives up, on the clock of `performance.now()`. */
  #giveUpAt: number | null = null;

  constructor(options: WriteBehindOptions<T>) {
    this.#options = options;
  }

  /** Returns `false` if the item is lost: the queue is full, or closed. */
  add(item: T): boolean {
    if (this.#giveUpAt !== null || this.#waiting.length >= this.#options.most) {
      this.#lost++;
      if (!this.#isFull) this.#tellLost();
      this.#isFull = this.#giveUpAt === null;
      return false;
    }
    this.#waiting.push(item);
    this.#writing ??= this.#write();
    return true;
  }

  /** Writes what waits until an item is not taken, or so many milliseconds have passed. The others are lost. */
  async close(patience = Number.POSITIVE_INFINITY): Promise<void> {
    this.#giveUpAt ??= performance.now() + patience;
    this.#sleep.wake();
    await this.#writing;
    this.#lost += this.#waiting.splice(0).length;
    this.#tellLost();
  }

  async #write(): Promise<void> {
    const { write, atOnce, pause } = this.#options;
    // What an item comes from is answered first.
    await setImmediate();
    for (let written = 0; this.#waiting.length > 0; ) {
      const isDone = await write(this.#waiting[0]!);
      if (isDone) {
        this.#waiting.shift();
        written++;
      }
      if (this.#giveUpAt !== null) {
        if (!isDone || performance.now() > this.#giveUpAt) return;
      } else if (!isDone) await this.#sleep.sleep(AGAIN);
      else if (this.#waiting.length > 0 && written % atOnce === 0)
        await (pause === 0 ? setImmediate() : this.#sleep.sleep(pause));
    }
    this.#writing = null;
    this.#tellLost();
  }

  #tellLost(): void {
    this.#isFull = false;
    if (this.#lost > 0) this.#options.lost(this.#lost);
    this.#lost = 0;
  }
}
