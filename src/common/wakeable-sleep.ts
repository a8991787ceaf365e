import { setTimeout as pause } from 'node:timers/promises';

export type WakeableSleep = ReturnType<typeof createWakeableSleep>;

export function createWakeableSleep() {
  let wake: () => void = () => {};
  let isDue = false;

  return {
    /** `wait` in milliseconds; ends at once if woken since the last sleep. */
    async sleep(wait: number): Promise<void> {
      if (!isDue)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, wait).unref();
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      isDue = false;
    },
    sleepWhole(wait: number): Promise<void> {
      return pause(wait, undefined, { ref: false });
    },
    wake(): void {
      isDue = true;
      wake();
    },
  };
}
