/** Milliseconds. */
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A stored time in the future began now, because the clock was set back. Unix milliseconds. */
export const notFuture = (time: number, now: number): number =>
  Math.min(time, now);

/** Milliseconds by which the clocks of two gateways may differ. */
export const CLOCK_SKEW = MINUTE;

/** To the microsecond. */
export function roundMilliseconds(
  duration: number | null | undefined,
): number | null {
  return duration === null || duration === undefined
    ? null
    : Math.round(duration * 1_000) / 1_000;
}
