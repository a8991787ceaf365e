/** Runs one at a time. Calls made during a run share the next run. */
export class CoalescedWork {
  readonly #work: () => Promise<void>;
  /** Never rejects. */
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Settles like the next run that begins. A run already in progress may have begun too early. */
  next(): Promise<void> {
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      const working = this.#work();
      this.#running = working.catch(() => {});
      return working;
    });
    return this.#next;
  }

  async idle(): Promise<void> {
    await this.#next?.catch(() => {});
    await this.#running;
  }
}
