import type { Observe } from './events.ts';

/** Reads `clock` once per event: on some machines a reading takes as long as a listener. */
export function sharedClock(clock: () => number) {
  let isObserving = false;
  let at: number | null = null;
  return {
    /** Unix milliseconds; constant during one event. */
    clock(): number {
      if (!isObserving) return clock();
      at ??= clock();
      return at;
    },
    of:
      (observe: Observe): Observe =>
      (event) => {
        isObserving = true;
        at = null;
        observe(event);
        isObserving = false;
      },
  };
}
