import {
  type Fault,
  faultsFrom,
  MAX_FAULTS,
  NONE,
  type Rule,
} from '../faults.ts';
import { escapeToken, printable } from '../names.ts';
import { hint } from '../nearest.ts';
import type { ReadingOptions } from '../options.ts';
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

interface QueryRules {
  /** Names that are allowed too; `null`: all names. */
  readonly keys: readonly string[] | null;
  readonly semicolon: ReadingOptions['semicolon'];
}

export function createParameterCheck(
  parameters: readonly Parameter[],
  path: readonly string[],
  queryRules: QueryRules,
): CheckParameters {
  const of = (place: Parameter['in']) =>
    parameters.filter((parameter) => parameter.in === place);
  const inPath = of('path').filter(({ name }) => path.includes(name));
  const indexes = inPath.map(({ name }) => path.indexOf(name));
  const checkQuery = createQueryCheck(of('query'), queryRules);
  const checkHeaders = createHeaderCheck(of('header'));
  const checkCookies = createCookieCheck(of('cookie'));

  return function checkParameters(segments, query, headers, values) {
    let faults = faultsIn(
      inPath,
      (i) => takeApart(inPath[i]!, segments[indexes[i]!]!),
      values,
    );
    faults = joined(faults, checkQuery(query, values));
    faults = joined(faults, checkHeaders(headers, values));
    faults = joined(faults, checkCookies(headers, values));
    return faults.length > MAX_FAULTS ? faults.slice(0, MAX_FAULTS) : faults;
  };
}

const joined = (faults: readonly Fault[], more: readonly Fault[]) => {
  if (more.length === 0) return faults;
  return faults.length === 0 ? more : [...faults, ...more];
};

function createQueryCheck(
  parameters: readonly Parameter[],
  { keys, semicolon }: QueryRules,
) {
  const collect = createCollector(parameters);
  const required = parameters.some((parameter) => parameter.required);
  const names = parameters
    .filter(({ style }) => style !== 'deepObject')
    .map(({ name }) => name);
  return (query: string, values?: ParameterValues): readonly Fault[] => {
    if (query === '' && !required) return NONE;
    if (semicolon !== 'pass' && query.includes(';')) return [SEMICOLON];
    const unknownNames = new Set<string | undefined>();
    const addUnknown = (name: string | undefined, misread: boolean) => {
      const passes =
        keys === null || (name !== undefined && keys.includes(name));
      if ((misread || !passes) && unknownNames.size < MAX_FAULTS)
        unknownNames.add(name);
    };
    const sent = atOnce(collect(query, 'form', addUnknown));
    const faults = faultsIn(parameters, (i) => sent[i]!, values);
    if (unknownNames.size === 0) return faults;
    return [
      ...faults,
      ...[...unknownNames].map((name) => unknownFault(name, names)),
    ];
  };
}

/** `a=1;b=2` has two parameters for Rack 2 and older servers. */
const SEMICOLON: Fault = {
  in: 'query',
  pointer: '',
  message: 'has a ";", which some servers read as "&": send it as %3B',
  rule: 'encoding',
};

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
  return complaint(
    { in: 'query', name: printable(name) },
    `is not a parameter of this operation${hint(name, names)}`,
    'unknown',
  );
}

export type CheckHeaders = (
  headers: readonly string[],
  values?: ParameterValues,
) => readonly Fault[];

export function createHeaderCheck(
  parameters: readonly Parameter[],
): CheckHeaders {
  if (parameters.length === 0) return () => NONE;
  const names = parameters.map(({ name }) => name.toLowerCase());
  return (headers, values) =>
    faultsIn(
      parameters,
      (i) => sentIn(parameters[i]!, valuesOf(headers, names[i]!)),
      values,
    );
}

/**
 * Repeated headers form one list (RFC 9110 section 5.3) if the parameter may be a list, and are
 * otherwise a fault.
 */
function sentIn(parameter: Parameter, values: readonly string[]): Sent | null {
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

/** `a=1 b=2` has two cookies for Python's `http.cookies`. */
const BEHIND_SPACE = /\s([^\s=]+)\s*=/g;

/**
 * Cookies that the contract does not describe are ignored. `a =1` is `a=1` for Express and Go.
 */
function createCookieCheck(parameters: readonly Parameter[]): CheckHeaders {
  if (parameters.length === 0) return () => NONE;
  const collect = createCollector(parameters);
  const inParts = parameters.filter(
    ({ form, explode }) => form !== 'primitive' && explode,
  );
  const joined = new Set(
    inParts.flatMap(({ form, name, shape }) =>
      form === 'array' ? [name] : [...shape.members.keys()],
    ),
  );
  const names = joined.union(new Set(parameters.map(({ name }) => name)));
  return (headers, values) => {
    const cookies = valuesOf(headers, 'cookie')
      .flatMap((value) => value.split(';'))
      .map((cookie) => cookie.trim());
    const hidden = cookies
      .flatMap((cookie) => [...cookie.matchAll(BEHIND_SPACE)])
      .map(([, name]) => name!)
      .filter((name) => names.has(name));
    if (hidden.length > 0)
      return hidden.map((name) =>
        complaint({ in: 'cookie', name }, 'must follow a ";"', 'style'),
      );
    const text = cookies
      .map((cookie) => {
        const sent = cookie.split('=', 1)[0]!;
        const name = sent.trimEnd();
        const named = name + cookie.slice(sent.length);
        return joined.has(name) ? named : named.replaceAll('&', '%26');
      })
      .join('&');
    const sent = atOnce(collect(text, 'percent', () => undefined));
    return faultsIn(parameters, (i) => sent[i]!, values);
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
  sentAt: (i: number) => Sent | null,
  values: ParameterValues | undefined,
): readonly Fault[] {
  let faults: readonly Fault[] = NONE;
  for (let i = 0; i < parameters.length; i++)
    faults = joined(faults, checkParameter(parameters[i]!, sentAt(i), values));
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
    const fault = complaint(
      parameter,
      `must be written like ${limit}`,
      'style',
    );
    return [{ ...fault, limit }];
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
const mayBeEmpty = ({ form, explode, style, check }: Parameter) =>
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
