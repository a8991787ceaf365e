import { DAY } from './time.ts';

/**
 * The time by which what is stored is too old. It passes as the process runs, whatever is done to
 * the clock, and begins at most a day after the newest of what is stored. So a clock that is ahead
 * deletes nothing. Unix milliseconds.
 */
export function ageClock(
  began: number,
  newest: number | null,
  elapsed: () => number = () => performance.now(),
): (now: number) => number {
  const begin = newest === null ? began : Math.min(began, newest + DAY);
  const offset = begin - elapsed();
  return (now) => Math.min(now, offset + elapsed());
}
