import type { Observe } from './events.ts';

export interface SharedClock {
  /** Unix milliseconds; constant during one event. */
  readonly clock: () => number;
  readonly of: (observe: Observe) => Observe;
}

/** Reads `clock` once per event: on some machines a reading takes as long as a listener. */
export function sharedClock(clock: () => number): SharedClock {
  let isObserving = false;
  let at: number | null = null;
  return {
    clock() {
      if (!isObserving) return clock();
      at ??= clock();
      return at;
    },
    of: (observe) => (event) => {
      isObserving = true;
      at = null;
      observe(event);
      isObserving = false;
    },
  };
}
