import type { Contract } from '../contract/contract.ts';
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
export function createReport(contract: Pick<Contract, 'document'>, observe: Observe): Report {
  const known = namesIn(contract.document);
  const masked = (pointer: string) =>
    pointer
      .split('/')
      .map((token) => (token === '' || known.has(token) ? token : '*'))
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

/** Names of all members and parameters in the document, as tokens of JSON pointers. */
function namesIn(document: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { properties, name } = node as { properties?: unknown; name?: unknown };
    if (typeof name === 'string') names.add(token(name));
    if (typeof properties === 'object' && properties !== null)
      for (const key of Object.keys(properties)) names.add(token(key));
    for (const value of Object.values(node)) walk(value);
  };
  walk(document);
  return names;
}

function token(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
