import { Outage } from '../../errors/outage.ts';
import { withDeadline } from '../shared/deadline.ts';

/** Milliseconds that operators' commands may take. */
const PATIENCE = 2_000;

/** Waits for Redis, but at most `deadline` milliseconds; then rejects with DeadlineError. */
export function inTime<T>(work: Promise<T>, deadline: number): Promise<T> {
  return withDeadline(work, deadline, 'Redis');
}

/** An answer of Redis in time, or an `Outage`. `wait` in milliseconds. */
export async function asked<T>(work: Promise<T>, wait = PATIENCE): Promise<T> {
  try {
    return await inTime(work, wait);
  } catch (error) {
    throw new Outage('state_unavailable', { cause: error, headers: ['Retry-After', '1'] });
  }
}
