export class WakeableSleep {
  #wake: () => void = () => {};
  #isDue = false;

  /** `wait` in milliseconds; ends at once if woken since the last sleep. */
  async sleep(wait: number): Promise<void> {
    if (!this.#isDue) await this.#take(wait, (wake) => (this.#wake = wake));
    this.#isDue = false;
  }

  async sleepWhole(wait: number): Promise<void> {
    await this.#take(wait, () => {});
  }

  wake(): void {
    this.#isDue = true;
    this.#wake();
  }

  #take(wait: number, asleep: (wake: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, wait).unref();
      asleep(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
