const AT_ONCE = 32;

/** Runs works later, a few in each turn of the event loop. */
export class InTurns {
  #works: (() => void)[] = [];

  add(work: () => void): void {
    if (this.#works.push(work) === 1) setImmediate(this.#next);
  }

  readonly #next = (): void => {
    const works = this.#works.splice(0, AT_ONCE);
    if (this.#works.length > 0) setImmediate(this.#next);
    for (const work of works) work();
  };
}
