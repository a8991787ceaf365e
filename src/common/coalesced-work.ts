/** Work that is done again and again, one after the other, and once for all who ask for it while it is done. */
export class CoalescedWork {
  readonly #work: () => Promise<void>;
  /** Never rejects. */
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves or rejects as the next one does that begins: one under way may have begun too early. */
  next(): Promise<void> {
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      const working = this.#work();
      this.#running = working.catch(() => {});
      return working;
    });
    return this.#next;
  }

  /** Resolves once nothing is under way and nobody waits. */
  async idle(): Promise<void> {
    await this.#next?.catch(() => {});
    await this.#running;
  }
}
