import type { Observe } from './events.ts';

/** A clock that several listeners share, and what tells them events. */
export interface SharedClock {
  /** Unix milliseconds: while an event is told, the same for all who ask. */
  readonly clock: () => number;
  /** `observe` with one moment for each event. */
  readonly of: (observe: Observe) => Observe;
}

/** Reads `clock` once for all listeners of an event: on some machines a reading takes as long as what they do with it. */
export function sharedClock(clock: () => number): SharedClock {
  let isTelling = false;
  let at: number | null = null;
  return {
    clock() {
      if (!isTelling) return clock();
      at ??= clock();
      return at;
    },
    of: (observe) => (event) => {
      isTelling = true;
      at = null;
      observe(event);
      isTelling = false;
    },
  };
}
