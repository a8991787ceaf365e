/** Each takes about ten calls on the stack. */
const DEEPEST = 100;

/**
 * Runs work inside work down to a depth, and deeper work later, so that long chains of references
 * fit the stack.
 */
export class Nesting {
  #depth = 0;
  readonly #waiting: (() => void)[] = [];

  /** The outermost call returns when all is done. */
  run(work: () => void): void {
    if (this.#depth === DEEPEST) {
      this.#waiting.push(work);
      return;
    }
    this.#depth++;
    work();
    if (this.#depth === 1)
      for (let next = this.#waiting.pop(); next; next = this.#waiting.pop())
        next();
    this.#depth--;
  }
}
