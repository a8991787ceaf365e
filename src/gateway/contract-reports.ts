import type { Contract } from '../contract/contract.ts';
import { unescapeToken } from '../contract/names.ts';
import type { Fault } from '../errors/fault.ts';
import type { Observe } from '../observe/events.ts';
import type { Exchange } from './exchange.ts';

/** Which side broke the contract: the caller with its request, or the store with its answer. */
export type Side = 'request' | 'response';

/** Reports faults that cause no refusal, or whose details only the operator may see. */
export type Report = (exchange: Exchange, side: Side, faults: readonly Fault[]) => void;

/** Most faults reported for one request: a few show a pattern, and callers must not make the log grow. */
const MOST_TOLD = 10;

/**
 * Reports hold no values, and only names that the contract has. A name that the contract does not describe may be a secret
 * too, and appears as `*`.
 */
export function createReport({ names }: Pick<Contract, 'names'>, observe: Observe): Report {
  const masked = (pointer: string) =>
    pointer
      .split('/')
      .map((token) => (token === '' || names.has(unescapeToken(token)) ? token : '*'))
      .join('/');
  return (exchange, side, faults) => {
    const told = faults.slice(0, MOST_TOLD).map((fault) => ({ ...fault, pointer: masked(fault.pointer) }));
    observe({
      type: 'contract.fault',
      id: exchange.id,
      operation: exchange.operation?.id ?? 'none',
      side,
      count: faults.length,
      faults: told,
    });
  };
}
