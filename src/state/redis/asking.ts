import { Outage } from '../../errors/outage.ts';
import { withDeadline } from '../shared/deadline.ts';

/** Milliseconds that operators' commands may take. */
const PATIENCE = 2_000;

/** An answer of Redis in time, or an `Outage`. */
export async function asked<T>(work: Promise<T>, wait = PATIENCE): Promise<T> {
  try {
    return await withDeadline(work, wait);
  } catch (error) {
    throw new Outage('state_unavailable', { cause: error, headers: ['Retry-After', '1'] });
  }
}
