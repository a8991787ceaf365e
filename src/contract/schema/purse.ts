/**
 * The most values of recursive schemas that one check may look at: nested alternatives double the work at each level.
 */
const MAX_STEPS = 1_000_000;

/** The steps that a check has left. Checks are synchronous, so all of them share one purse. */
export const purse = {
  steps: 0,
  /** The number of the check. */
  check: 0,
  refill(): void {
    this.check++;
    this.steps = MAX_STEPS;
  },
};

/** Thrown by a check whose purse is empty. */
export const EXHAUSTED = Symbol('too much work for one check');
