import { type Fault, unescapeToken } from '@storegate/openapi';
import type { Contract } from '../config/contract/contract.ts';
import type { Observe, ReportedFault } from '../observe/events.ts';
import type { Exchange } from './exchange.ts';

/** Which side broke the contract: the caller with its request, or the store with its answer. */
export type Side = 'request' | 'response';

/** Tells the first of some faults, each by its place and the rule that it breaks. */
export type ReportFaults = (faults: readonly Fault[]) => readonly ReportedFault[];

/** Reports faults that cause no refusal, or whose details only the operator may see. */
export type Report = (exchange: Exchange, side: Side, faults: readonly Fault[]) => void;

/** Most faults reported for one request: a few show a pattern, and callers must not make the log grow. */
const MOST_REPORTED = 10;

type Names = Pick<Contract, 'names'>;

/** Most names of a pointer that are told: what is kept of a request must have a bound. */
const DEEPEST = 20;

/** What is told holds no values, and only names that the contract has. Any other name may be a secret too, and appears as `*`. */
function maskOf({ names }: Names): (pointer: string) => string {
  const masked = (token: string) => (token === '' || names.has(unescapeToken(token)) ? token : '*');
  return (pointer) => {
    const tokens = pointer.split('/', DEEPEST + 2).map(masked);
    if (tokens.length === DEEPEST + 2) tokens[DEEPEST + 1] = '...';
    return tokens.join('/');
  };
}

export function createFaultReporter(contract: Names): ReportFaults {
  const masked = maskOf(contract);
  return (faults) =>
    faults
      .slice(0, MOST_REPORTED)
      .map(({ in: place, pointer, rule }) => ({ in: place, pointer: masked(pointer), rule }));
}

export function createReport(contract: Names, observe: Observe): Report {
  const masked = maskOf(contract);
  return (exchange, side, faults) => {
    const told = faults.slice(0, MOST_REPORTED).map((fault) => ({ ...fault, pointer: masked(fault.pointer) }));
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
