/** A wait that somebody else may end. */
export class Nap {
  #wake: () => void = () => {};
  #isDue = false;

  /** Waits so many milliseconds; ends at once where it was woken since the last one. */
  async take(wait: number): Promise<void> {
    if (!this.#isDue) await this.#sleep(wait, (wake) => (this.#wake = wake));
    this.#isDue = false;
  }

  /** Waits whatever happens. */
  async takeWhole(wait: number): Promise<void> {
    await this.#sleep(wait, () => {});
  }

  wake(): void {
    this.#isDue = true;
    this.#wake();
  }

  #sleep(wait: number, asleep: (wake: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, wait).unref();
      asleep(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
