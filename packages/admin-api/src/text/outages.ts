import type { StateOutage } from '../generated/types.ts';
import type { WriteTime } from './gateways.ts';

/** One outage of the shared state, for the console and the command line. */
export const outageText = (
  { begin, end, policies }: StateOutage,
  time: WriteTime,
): string =>
  `The shared state was down from ${time(begin)} to ${time(end)}; the outage policy ${policies.join(', ')} applied.`;
