import { HOUR, MINUTE, SECOND } from '../common/time.ts';

/** From one attempt of an event to the next; the last one repeats. The steps of Standard Webhooks, with one more at the begin. */
const STEPS = [5 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR];
/** While a receiver fails, one event at a time is tried there: after so long, which doubles, up to the longest. */
const FIRST_PAUSE = 5 * SECOND;
const LONGEST_PAUSE = 5 * MINUTE;
/** What a receiver asks for with `Retry-After` is heeded up to this. */
const LONGEST_RETRY_AFTER = HOUR;

/** Milliseconds until an event is tried again after so many attempts. `random`: from 0 to 1. */
export function waitAfter(attempts: number, asked: number | null, random: number): number {
  return atLeast(jittered(STEPS[Math.min(attempts, STEPS.length) - 1]!, random), asked);
}

/** Milliseconds for which a receiver is left alone after so many failures in a row. */
export function pauseAfter(failures: number, asked: number | null, random: number): number {
  const pause = Math.min(FIRST_PAUSE * 2 ** Math.min(failures - 1, 20), LONGEST_PAUSE);
  return atLeast(jittered(pause, random), asked);
}

/** The milliseconds in a `Retry-After`; `null`: it says nothing that is understood. `now`: Unix milliseconds. */
export function retryAfterOf(header: string | null, now: number): number | null {
  if (header === null) return null;
  const wait = /^\d{1,9}$/.test(header) ? Number(header) * SECOND : Date.parse(header) - now;
  return Number.isNaN(wait) || wait < 0 ? null : Math.min(wait, LONGEST_RETRY_AFTER);
}

/** A tenth more or less, so that gateways that failed together do not come back together. */
function jittered(wait: number, random: number): number {
  return Math.round(wait * (0.9 + 0.2 * random));
}

function atLeast(wait: number, asked: number | null): number {
  return asked === null ? wait : Math.max(wait, asked);
}
