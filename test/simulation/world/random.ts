/** Random numbers of one seed: `sfc32`, which is small, fast and passes the usual tests. */
export class Random {
  #a: number;
  #b = 0x9e3779b9;
  #c = 0x243f6a88;
  #counter = 1;

  constructor(seed: number) {
    this.#a = seed | 0;
    for (let i = 0; i < 12; i++) this.#next();
  }

  /** From 0 to below 1. */
  readonly fraction = (): number => (this.#next() >>> 0) / 2 ** 32;

  /** An integer from `least` to `most`, both included. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.fraction() * (most - least + 1));
  }

  isOnce(times: number): boolean {
    return this.integer(1, times) === 1;
  }

  oneOf<T>(choices: readonly T[]): T {
    return choices[this.integer(0, choices.length - 1)]!;
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.integer(0, 255)));
  }

  uuid(): `${string}-${string}-${string}-${string}-${string}` {
    const hex = this.bytes(16).toString('hex');
    const [a, b, c, d, e] = [0, 8, 12, 16, 20].map((at, i, all) => hex.slice(at, all[i + 1]));
    return `${a!}-${b!}-${c!}-${d!}-${e!}`;
  }

  #next(): number {
    const result = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + result) | 0;
    return result;
  }
}
