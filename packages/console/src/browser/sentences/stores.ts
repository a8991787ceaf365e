import type { Connections, Store } from '../../admin-api.ts';
import { number } from '../format.ts';

// Stores in words, for the console and the command line.

const STATES: Readonly<Record<string, string>> = { up: 'up', recovering: 'recovering', down: 'down' };

const REASONS: Readonly<Record<string, string>> = {
  unreachable: 'connection failed',
  untrusted: 'TLS certificate rejected',
  broken: 'invalid response',
  hanging: 'no response in time',
  failing: 'too many failed requests',
  statuses: 'too many error responses',
  check: 'health check failed',
};

/** Whether no operator has to look at it. */
export const isWell = ({ state }: Pick<Store, 'state'>): boolean => state === 'up';

/** `up`, `recovering`, `down`, `down for 1 of 4 processes`. */
export function stateInWords({ state, down, total }: Pick<Store, 'state' | 'down' | 'total'>): string {
  return state === 'partial' ? `down for ${down} of ${total} processes` : STATES[state]!;
}

/** Why it is or was down; empty without a reason. */
export function reasonInWords({ reason }: Pick<Store, 'reason'>): string {
  if (reason === null) return '';
  return Object.hasOwn(REASONS, reason) ? REASONS[reason]! : reason;
}

/** Connections in use: `3 of 64, 2 waiting`. */
export function connectionsInWords({ open, idle, waiting, limit }: Connections): string {
  return `${number(open - idle)} of ${number(limit)}${waiting > 0 ? `, ${number(waiting)} waiting` : ''}`;
}
