/** mulberry32. */
export class Random {
  #state: number;

  constructor(seed: string) {
    this.#state = [...seed].reduce(
      (sum, character) => (Math.imul(sum, 31) + character.codePointAt(0)!) | 0,
      7,
    );
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Both limits are included. */
  integer(least: number, most: number): number {
    return Math.min(most, least + Math.floor(this.next() * (most - least + 1)));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  of<T>(list: readonly T[]): T {
    return list[this.integer(0, list.length - 1)]!;
  }
}
