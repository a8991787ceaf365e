/** How many values of recursive schemas one check may look at: alternatives inside alternatives double the work each time. */
const MAX_STEPS = 1_000_000;

/** What a check may still spend. Checks are synchronous, so one purse serves all of them. */
export const purse = {
  steps: 0,
  refill(): void {
    this.steps = MAX_STEPS;
  },
};

/** Thrown by a check whose purse is empty. */
export const EXHAUSTED = Symbol('too much work for one check');
