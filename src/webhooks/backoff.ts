import { HOUR, MINUTE, SECOND } from '../common/time.ts';

/** The schedule of Standard Webhooks, with one more step at the start. */
const STEPS = [
  5 * SECOND,
  MINUTE,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
];
const FIRST_PAUSE = 5 * SECOND;
const LONGEST_PAUSE = 5 * MINUTE;
const LONGEST_RETRY_AFTER = HOUR;

/** Milliseconds. `random`: from 0 to 1. */
export function waitAfter(
  attempts: number,
  requested: number | null,
  random: number,
): number {
  return jittered(
    STEPS[Math.min(attempts, STEPS.length) - 1]!,
    requested,
    random,
  );
}

export function pauseAfter(
  failures: number,
  requested: number | null,
  random: number,
): number {
  const pause = Math.min(
    FIRST_PAUSE * 2 ** Math.min(failures - 1, 20),
    LONGEST_PAUSE,
  );
  return jittered(pause, requested, random);
}

/** Milliseconds; `null` if invalid. `now`: Unix milliseconds. */
export function retryAfterOf(
  header: string | null,
  now: number,
): number | null {
  if (header === null) return null;
  const wait = /^\d{1,9}$/.test(header)
    ? Number(header) * SECOND
    : Date.parse(header) - now;
  return Number.isNaN(wait) || wait < 0
    ? null
    : Math.min(wait, LONGEST_RETRY_AFTER);
}

/**
 * ±10 %, so that gateways that failed together do not retry together, but at least what the
 * endpoint asked for.
 */
function jittered(
  wait: number,
  requested: number | null,
  random: number,
): number {
  return Math.max(Math.round(wait * (0.9 + 0.2 * random)), requested ?? 0);
}
