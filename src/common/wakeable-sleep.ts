import { setTimeout as pause } from 'node:timers/promises';

export class WakeableSleep {
  #wake: () => void = () => {};
  #isDue = false;

  /** `wait` in milliseconds; ends at once if woken since the last sleep. */
  async sleep(wait: number): Promise<void> {
    if (!this.#isDue)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, wait).unref();
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.#isDue = false;
  }

  sleepWhole(wait: number): Promise<void> {
    return pause(wait, undefined, { ref: false });
  }

  wake(): void {
    this.#isDue = true;
    this.#wake();
  }
}
