const SECONDS = 10;

/** Milliseconds on a monotonic clock. */
export class LastSeconds {
  readonly #all = new Float64Array(SECONDS);
  readonly #some = new Float64Array(SECONDS);
  readonly #second = new Float64Array(SECONDS).fill(Number.NEGATIVE_INFINITY);

  add(now: number): void {
    this.#all[this.#at(now)]! += 1;
  }

  mark(now: number): void {
    this.#some[this.#at(now)]! += 1;
  }

  /** `some` are of the second kind, `now` those of them in the current second. */
  counts(now: number): {
    readonly all: number;
    readonly some: number;
    readonly now: number;
  } {
    const second = Math.floor(now / 1_000);
    let all = 0;
    let some = 0;
    for (let i = 0; i < SECONDS; i++) {
      if (this.#second[i]! <= second - SECONDS) continue;
      all += this.#all[i]!;
      some += this.#some[i]!;
    }
    const at = second % SECONDS;
    return {
      all,
      some,
      now: this.#second[at] === second ? this.#some[at]! : 0,
    };
  }

  clear(): void {
    this.#second.fill(Number.NEGATIVE_INFINITY);
  }

  #at(now: number): number {
    const second = Math.floor(now / 1_000);
    const at = second % SECONDS;
    if (this.#second[at] !== second) {
      this.#second[at] = second;
      this.#all[at] = 0;
      this.#some[at] = 0;
    }
    return at;
  }
}
