import type { Fault } from '../fault.ts';
import { MAX_FAULTS, NONE } from '../faults.ts';
import { checkParameter } from './check.ts';
import { createCookieCheck, createHeaderCheck } from './headers.ts';
import type { Parameter } from './parameter.ts';
import { createQueryCheck } from './query.ts';
import { takeApart } from './styles.ts';

export type CheckParameters = (
  segments: readonly string[],
  query: string,
  headers: readonly string[],
) => readonly Fault[];

export function createParameterCheck(
  parameters: readonly Parameter[],
  path: readonly string[],
  unknownQuery: 'refuse' | 'pass',
): CheckParameters {
  const of = (place: Parameter['in']) => parameters.filter((parameter) => parameter.in === place);
  const segmentOf = new Map(of('path').map((parameter) => [parameter, path.indexOf(parameter.name)]));
  const inPath = [...segmentOf].filter(([, index]) => index >= 0);
  const checkQuery = createQueryCheck(of('query'), unknownQuery);
  const headerChecks = [createHeaderCheck(of('header')), createCookieCheck(of('cookie'))].filter(
    (check) => check !== null,
  );

  return function checkParameters(segments, query, headers) {
    let faults: readonly Fault[] = NONE;
    for (const [parameter, index] of inPath) faults = joined(faults, checkSegment(parameter, segments[index]!));
    faults = joined(faults, checkQuery(query));
    for (const check of headerChecks) faults = joined(faults, check(headers));
    return faults.length > MAX_FAULTS ? faults.slice(0, MAX_FAULTS) : faults;
  };
}

const joined = (faults: readonly Fault[], more: readonly Fault[]): readonly Fault[] => {
  if (more.length === 0) return faults;
  return faults.length === 0 ? more : [...faults, ...more];
};

function checkSegment(parameter: Parameter, text: string): readonly Fault[] {
  if (parameter.document) return checkParameter(parameter, { pieces: { form: 'primitive', text } });
  const pieces = takeApart(parameter, text);
  return checkParameter(parameter, pieces ? { pieces } : { complaint: 'style' });
}
