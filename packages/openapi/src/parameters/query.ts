import type { Fault } from '../fault.ts';
import { MAX_FAULTS, NONE } from '../faults.ts';
import { escapeToken, printable } from '../names.ts';
import { checkParameter } from './check.ts';
import { Collector } from './collector.ts';
import type { Parameter } from './parameter.ts';

export type CheckQuery = (query: string) => readonly Fault[];

export function createQueryCheck(parameters: readonly Parameter[], unknown: 'refuse' | 'pass'): CheckQuery {
  const collector = new Collector(parameters);
  const required = parameters.some((parameter) => parameter.required);
  return (query) => {
    if (query === '' && !required) return NONE;
    const unknownNames = new Set<string | undefined>();
    const sent = collector.collect(query, true, (name) => unknownNames.size < MAX_FAULTS && unknownNames.add(name));
    const faults = parameters.flatMap((parameter, i) => checkParameter(parameter, sent[i]!));
    if (unknown === 'refuse') for (const name of unknownNames) faults.push(unknownFault(name));
    return faults.length === 0 ? NONE : faults;
  };
}

function unknownFault(name: string | undefined): Fault {
  if (name === undefined)
    return {
      in: 'query',
      pointer: '',
      message: 'has a name that is not UTF-8 in valid percent-encoding',
      rule: 'encoding',
    };
  return {
    in: 'query',
    pointer: `/${escapeToken(printable(name))}`,
    message: 'is not a parameter of this operation',
    rule: 'unknown',
  };
}
