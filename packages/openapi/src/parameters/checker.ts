import {
  type Fault,
  faultsFrom,
  MAX_FAULTS,
  NONE,
  type Rule,
} from '../faults.ts';
import { escapeToken, printable } from '../names.ts';
import { nearest } from '../nearest.ts';
import { atOnce } from '../slices.ts';
import { createCollector, NAME_ENCODING, type Sent } from './collector.ts';
import type { Keep, Parameter } from './parameter.ts';
import { example, takeApart } from './styles.ts';

/** By place and name, as the document spells it. */
export type ParameterValues = Readonly<
  Record<Parameter['in'], Record<string, unknown>>
>;

type CheckParameters = (
  segments: readonly string[],
  query: string,
  headers: readonly string[],
  values?: ParameterValues,
) => readonly Fault[];

export function createParameterCheck(
  parameters: readonly Parameter[],
  path: readonly string[],
  unknownQuery: 'refuse' | 'pass',
): CheckParameters {
  const of = (place: Parameter['in']) =>
    parameters.filter((parameter) => parameter.in === place);
  const inPath = of('path')
    .map((parameter) => [parameter, path.indexOf(parameter.name)] as const)
    .filter(([, index]) => index >= 0);
  const checkQuery = createQueryCheck(of('query'), unknownQuery);
  const headerChecks = [
    createHeaderCheck(of('header')),
    createCookieCheck(of('cookie')),
  ].filter((check) => check !== null);

  return function checkParameters(segments, query, headers, values) {
    let faults: readonly Fault[] = NONE;
    for (const [parameter, index] of inPath)
      faults = joined(
        faults,
        checkParameter(
          parameter,
          takeApart(parameter, segments[index]!),
          values,
        ),
      );
    faults = joined(faults, checkQuery(query, values));
    for (const check of headerChecks)
      faults = joined(faults, check(headers, values));
    return faults.length > MAX_FAULTS ? faults.slice(0, MAX_FAULTS) : faults;
  };
}

const joined = (
  faults: readonly Fault[],
  more: readonly Fault[],
): readonly Fault[] => {
  if (more.length === 0) return faults;
  return faults.length === 0 ? more : [...faults, ...more];
};

function createQueryCheck(
  parameters: readonly Parameter[],
  unknown: 'refuse' | 'pass',
) {
  const collect = createCollector(parameters);
  const required = parameters.some((parameter) => parameter.required);
  const names = parameters.map(({ name }) => name);
  return (query: string, values?: ParameterValues): readonly Fault[] => {
    if (query === '' && !required) return NONE;
    const unknownNames = new Set<string | undefined>();
    const sent = atOnce(
      collect(
        query,
        'form',
        (name) => unknownNames.size < MAX_FAULTS && unknownNames.add(name),
      ),
    );
    const faults = faultsIn(parameters, sent, values);
    if (unknown === 'pass' || unknownNames.size === 0) return faults;
    return [
      ...faults,
      ...[...unknownNames].map((name) => unknownFault(name, names)),
    ];
  };
}

function unknownFault(
  name: string | undefined,
  names: readonly string[],
): Fault {
  if (name === undefined)
    return {
      in: 'query',
      pointer: '',
      message: NAME_ENCODING,
      rule: 'encoding',
    };
  const meant = nearest(name, names);
  const hint = meant === null ? '' : `: did you mean ${printable(meant)}?`;
  return complaint(
    { in: 'query', name: printable(name) },
    `is not a parameter of this operation${hint}`,
    'unknown',
  );
}

export type CheckHeaders = (
  headers: readonly string[],
  values?: ParameterValues,
) => readonly Fault[];

export function createHeaderCheck(
  parameters: readonly Parameter[],
): CheckHeaders | null {
  if (parameters.length === 0) return null;
  const names = parameters.map(({ name }) => name.toLowerCase());
  return (headers, values) => {
    const all = parameters.map((parameter, i) =>
      sent(parameter, valuesOf(headers, names[i]!)),
    );
    return faultsIn(parameters, all, values);
  };
}

/**
 * Repeated headers form one list (RFC 9110 section 5.3) if the parameter may be a list, and are
 * otherwise a fault.
 */
function sent(parameter: Parameter, values: readonly string[]): Sent | null {
  if (values.length === 0) return null;
  if (parameter.form === 'primitive') {
    return values.length > 1
      ? 'repeated'
      : { form: 'primitive', text: values[0]!.trim() };
  }
  const list = values
    .flatMap((value) => value.split(','))
    .map((text) => text.trim());
  return takeApart(parameter, list.join());
}

/** Cookies that the contract does not describe are ignored. */
function createCookieCheck(
  parameters: readonly Parameter[],
): CheckHeaders | null {
  if (parameters.length === 0) return null;
  const collect = createCollector(parameters);
  const inParts = parameters.filter(
    ({ form, explode }) => form !== 'primitive' && explode,
  );
  const joined = new Set(
    inParts.flatMap(({ form, name, shape }) =>
      form === 'array' ? [name] : [...shape.members.keys()],
    ),
  );
  return (headers, values) => {
    const pairs = valuesOf(headers, 'cookie')
      .flatMap((value) => value.split(';'))
      .map((cookie) => cookie.trim());
    const text = pairs
      .map((cookie) =>
        joined.has(cookie.split('=', 1)[0]!)
          ? cookie
          : cookie.replaceAll('&', '%26'),
      )
      .join('&');
    return faultsIn(
      parameters,
      atOnce(collect(text, 'percent', () => undefined)),
      values,
    );
  };
}

/** `name` is in lower case. */
export function valuesOf(headers: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const header = headers[i]!;
    if (header.length === name.length && header.toLowerCase() === name)
      values.push(headers[i + 1]!);
  }
  return values;
}

function faultsIn(
  parameters: readonly Parameter[],
  sent: readonly (Sent | null)[],
  values: ParameterValues | undefined,
): readonly Fault[] {
  let faults: readonly Fault[] = NONE;
  for (let i = 0; i < parameters.length; i++)
    faults = joined(faults, checkParameter(parameters[i]!, sent[i]!, values));
  return faults;
}

/** `null`: the client did not send the parameter. */
function checkParameter(
  parameter: Parameter,
  sent: Sent | null,
  values: ParameterValues | undefined,
): readonly Fault[] {
  if (sent === null) {
    if (!parameter.required || mayBeEmpty(parameter)) return NONE;
    return [complaint(parameter, 'is required', 'required')];
  }
  if (sent === 'unused') return NONE;
  if (sent === 'repeated')
    return [complaint(parameter, 'is given more than once', 'repeated')];
  if (sent === 'style') {
    const limit = example(parameter);
    return [
      {
        ...complaint(parameter, `must be written like ${limit}`, 'style'),
        limit,
      },
    ];
  }
  const faults = faultsFrom(
    parameter.check,
    sent,
    values && keeper(parameter, values),
  );
  if (faults.length === 0) return NONE;
  const name = `/${escapeToken(parameter.name)}`;
  return faults.map((fault) => ({
    in: parameter.in,
    ...fault,
    pointer: name + fault.pointer,
  }));
}

const keeper =
  ({ in: place, name }: Parameter, values: ParameterValues): Keep =>
  (value) => {
    values[place][name] = value;
  };

const EMPTY = { form: 'object', pairs: [] } as const;

/** An exploded object without members leaves no trace in a query. */
const mayBeEmpty = ({ form, explode, style, check }: Parameter): boolean =>
  form === 'object' && explode && style === 'form' && check(EMPTY).length === 0;

const complaint = (
  { in: place, name }: Pick<Parameter, 'in' | 'name'>,
  message: string,
  rule: Rule,
): Fault => ({
  in: place,
  pointer: `/${escapeToken(name)}`,
  message,
  rule,
});
