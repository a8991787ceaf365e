import { type Fault, type Rule, unescapeToken } from '@storegate/openapi';
import type { Contract } from '../config/contract/contract.ts';
import type { Observe } from '../observe/events.ts';
import type { Exchange, ReportFaults } from './exchange.ts';

export type Side = 'request' | 'response';

/** For faults that cause no refusal, or whose details only operators may see. */
export type Report = (
  exchange: Exchange,
  side: Side,
  faults: readonly Fault[],
  consequence?: 'none' | 'refused',
) => void;

export const faultOfBody = (message: string, rule: Rule): Fault => ({
  in: 'body',
  pointer: '',
  message,
  rule,
});

/** Per request: clients must not fill the log. */
const MOST_REPORTED = 10;

type Names = Pick<Contract, 'names'>;

/** Pointer tokens: what is kept of a request must be bounded. */
const DEEPEST = 20;

/** Only names of the contract: any other name may be a secret and is shown as `*`. */
function maskOf({ names }: Names): (pointer: string) => string {
  const masked = (token: string) =>
    token === '' || names.has(unescapeToken(token)) ? token : '*';
  return (pointer) => {
    const tokens = pointer.split('/', DEEPEST + 2).map(masked);
    if (tokens.length === DEEPEST + 2) tokens[DEEPEST + 1] = '...';
    return tokens.join('/');
  };
}

export function createFaultReporter(contract: Names): ReportFaults {
  const masked = maskOf(contract);
  return (faults) =>
    faults.slice(0, MOST_REPORTED).map(({ in: place, pointer, rule }) => ({
      in: place,
      pointer: masked(pointer),
      rule,
    }));
}

export function createReport(contract: Names, observe: Observe): Report {
  const masked = maskOf(contract);
  return (exchange, side, faults, consequence = 'none') => {
    const reported = faults
      .slice(0, MOST_REPORTED)
      .map((fault) => ({ ...fault, pointer: masked(fault.pointer) }));
    observe({
      type: 'contract.fault',
      id: exchange.id,
      api: exchange.api.name,
      operation: exchange.operation?.id ?? exchange.api.none,
      side,
      refused: consequence === 'refused',
      count: faults.length,
      faults: reported,
    });
  };
}
