/** Equal refusals that are kept or logged at once, and the milliseconds per further one. */
const AT_ONCE = 10;
const REFILL = 1_000;

/** What remains to the refusals of one code and source. */
export interface Allowance {
  remaining: number;
  /** Milliseconds. */
  at: number;
}

export function newAllowance(now: number): Allowance {
  return { remaining: AT_ONCE, at: now };
}

export function hasAllowance(allowance: Allowance, now: number): boolean {
  const more = Math.max(0, now - allowance.at) / REFILL;
  allowance.remaining = Math.min(AT_ONCE, allowance.remaining + more);
  allowance.at = now;
  return allowance.remaining >= 1;
}
