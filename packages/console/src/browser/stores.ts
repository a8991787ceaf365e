import type { Store } from '../admin-api.ts';

// States of stores in words, for the console and the command line.

const REASONS: Readonly<Record<string, string>> = {
  unreachable: 'no connection to it',
  untrusted: 'TLS with it failed: a certificate is not good',
  broken: 'no usable answer',
  hanging: 'no answer in time',
  failing: 'too many requests failed',
  statuses: 'answers that count as failures',
  check: 'its checks failed',
};

/** Whether nobody has to look at it. */
export const isWell = ({ state }: Pick<Store, 'state'>): boolean => state === 'up';

/** How it stands: `up`, `returning`, `away`, `away for 1 of 4 processes`. */
export function stateInWords({ state, away, of }: Pick<Store, 'state' | 'away' | 'of'>): string {
  return state === 'partly' ? `away for ${away} of ${of} processes` : state;
}

/** Why it is, or was, away. Empty where there is no reason. */
export function reasonInWords({ reason }: Pick<Store, 'reason'>): string {
  if (reason === null) return '';
  return Object.hasOwn(REASONS, reason) ? REASONS[reason]! : reason;
}
