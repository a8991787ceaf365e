import type { Top } from '../generated/types.ts';
import { number } from './format.ts';
import type { WriteTime } from './gateways.ts';

// The clients with the most requests, for the console and the command line.

export const COUNTED: Readonly<Record<Top['by'], string>> = {
  requests: 'requests with a valid key',
  refused: 'refused requests with a valid key',
  'near-limit': 'admitted requests with 20 % or less of a window remaining',
  strikes: 'refused requests of keys with strikes or a ban',
  deprecated: 'calls of deprecated operations',
  operations: 'refused requests',
};

export function topTotal(
  { by, window, since, total }: Top,
  time: WriteTime,
): string {
  const from = since === null ? '' : `, complete since ${time(since)}`;
  return `${number(total)} ${COUNTED[by]} in the last ${window}${from}.`;
}
