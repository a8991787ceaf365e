import type { ErrorObject } from 'ajv';
import { escapeToken, printable, unescapeToken } from './names.ts';
import { hint } from './nearest.ts';
import type { Rule } from './rules.ts';

export { RULES, type Rule } from './rules.ts';

/** A number that a double cannot hold exactly is a string of its digits. */
export type Limit = number | string | boolean | null | readonly Limit[];

/** It never contains a value that was sent. */
export interface Fault {
  readonly in: 'path' | 'query' | 'header' | 'cookie' | 'body';
  /** JSON pointer (RFC 6901); for a parameter, `/<name>` and deeper. */
  readonly pointer: string;
  readonly message: string;
  readonly rule: Rule;
  readonly limit?: Limit;
}

export const limitOf = (value: number | bigint): number | string =>
  typeof value === 'bigint' && !Number.isSafeInteger(Number(value))
    ? String(value)
    : Number(value);

export type ValueFault = Omit<Fault, 'in'>;

export function bodyFault(message: string, rule: Rule, limit?: Limit): Fault {
  const fault: Fault = { in: 'body', pointer: '', message, rule };
  return limit === undefined ? fault : { ...fault, limit };
}

export const wrongType = (accepted: readonly string[]): Fault =>
  bodyFault(`must be of type ${accepted.join(' or ')}`, 'mediaType', accepted);

export const MAX_FAULTS = 50;

/** Shared, so that a valid request allocates no list. */
export const NONE: readonly never[] = Object.freeze([]);

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  number: 'a number',
  integer: 'an integer',
  null: 'null',
};

const count = (n: number | string, one: string, many: string) =>
  `${n} ${Number(n) === 1 ? one : many}`;

const oneOf = (types: readonly string[]) =>
  types.map((type) => TYPES[type] ?? type).join(' or ');

interface Params {
  readonly type: string | string[];
  readonly nullable: boolean;
  readonly limit: number | string;
  readonly bytes: boolean;
  /** It could have been a file, but is not. */
  readonly file: boolean;
  readonly format: string;
  readonly text: string;
  readonly values: Limit | undefined;
  readonly pattern: string;
  readonly why: Bar;
  readonly known: readonly string[];
  readonly property: string;
  readonly passingSchemas: readonly number[] | null;
}

const BARS = {
  readOnly: 'is read-only: it must not be sent',
  writeOnly: 'is write-only: it must not be in a response',
  additionalProperties: 'is not defined in the contract',
  unevaluatedProperties: 'is not defined in the contract',
  unevaluatedItems: 'is not defined in the contract',
  items: 'is not defined in the contract',
} as const satisfies Partial<Record<Rule, string>>;

export type Bar = keyof typeof BARS;

type Row = readonly [
  sentence: (params: Params) => string,
  limit?: (params: Params) => Limit | undefined,
];

const limitIn = ({ limit }: Params) => limit;

const length = ({ limit, bytes }: Params) =>
  bytes
    ? count(limit, 'byte', 'bytes')
    : count(limit, 'character', 'characters');

const limited = (sentence: (limit: Params['limit']) => string): Row => [
  ({ limit }) => `must ${sentence(limit)}`,
  limitIn,
];

const counted = (bound: string, one: string, many: string) =>
  limited((limit) => `have ${bound} ${count(limit, one, many)}`);

const typesOf = ({ type, nullable }: Params) =>
  nullable ? [type, ['null']].flat(2) : type;

const FIT = 'that match a schema of the contract';

const ROWS: Partial<Record<Rule, Row>> = {
  required: [() => 'is required'],
  type: [
    ({ type, file }) => `must be ${file ? 'a file' : oneOf([type].flat())}`,
    typesOf,
  ],
  minimum: limited((limit) => `be at least ${limit}`),
  maximum: limited((limit) => `be at most ${limit}`),
  exclusiveMinimum: limited((limit) => `be more than ${limit}`),
  exclusiveMaximum: limited((limit) => `be less than ${limit}`),
  multipleOf: limited((limit) => `be a multiple of ${limit}`),
  format: [
    ({ format }) => `must have the format ${format}`,
    ({ format }) => format,
  ],
  enum: [({ text }) => `must be ${text}`, ({ values }) => values],
  const: [
    ({ text }) => `must be ${text}`,
    ({ values }) => (Array.isArray(values) ? values[0] : values),
  ],
  minLength: [(params) => `must have at least ${length(params)}`, limitIn],
  maxLength: [(params) => `must have at most ${length(params)}`, limitIn],
  pattern: [
    ({ pattern }) => `must match the pattern ${pattern}`,
    ({ pattern }) => pattern,
  ],
  minItems: counted('at least', 'entry', 'entries'),
  maxItems: counted('at most', 'entry', 'entries'),
  uniqueItems: [() => 'must not have duplicate entries'],
  minProperties: counted('at least', 'member', 'members'),
  maxProperties: counted('at most', 'member', 'members'),
  contains: [() => 'must have an entry that matches the required schema'],
  minContains: counted('at least', `entry ${FIT}`, `entries ${FIT}`),
  maxContains: counted('at most', `entry ${FIT}`, `entries ${FIT}`),
  propertyNames: [() => 'has a name that is not allowed'],
  dependentRequired: [
    ({ property }) => `is required if ${property} is present`,
    ({ property }) => property,
  ],
  oneOf: [
    ({ passingSchemas }) =>
      passingSchemas
        ? 'must match only one of the schemas'
        : 'must match one of the schemas',
  ],
  anyOf: [() => 'must match one of the schemas'],
  not: [() => 'must not match the excluded schema'],
};

/** Of keywords that OpenAPI does not have. */
const RULE_OF: Readonly<Record<string, Rule>> = {
  kinds: 'type',
  solid: 'type',
  content: 'type',
  width: 'format',
};

/**
 * Thrown by readers. The message never repeats the text. It is not an Error, because a refused
 * request is not worth a stack trace.
 */
export class Unreadable {
  readonly fault: ValueFault;

  constructor(fault: ValueFault) {
    this.fault = fault;
  }
}

export function refuse(
  message: string,
  rule: Rule,
  pointer = '',
  limit?: Limit,
): never {
  throw new Unreadable({
    pointer,
    message,
    rule,
    ...(limit !== undefined && { limit }),
  });
}

/** Throws everything else on. */
export function faultBelow(pointer: string, thrown: unknown): ValueFault {
  if (!(thrown instanceof Unreadable)) throw thrown;
  return { ...thrown.fault, pointer: pointer + thrown.fault.pointer };
}

/** Of a value, or the fault that makes it unreadable. */
export function faultsFrom<T, More>(
  check: (value: T, more: More) => readonly ValueFault[],
  value: T,
  more: More,
): readonly ValueFault[] {
  try {
    return check(value, more);
  } catch (thrown) {
    return [faultBelow('', thrown)];
  }
}

function refusal({ why, known: names }: Params, path: string): string {
  const name = unescapeToken(path.slice(path.lastIndexOf('/') + 1));
  return BARS[why] + hint(name, names);
}

/** `null` for ajv errors that only report that another error occurred. */
export function faultOf({
  keyword,
  instancePath,
  params,
}: ErrorObject): ValueFault | null {
  const details = params as Params;
  const rule =
    keyword === 'refused'
      ? details.why
      : ((RULE_OF[keyword] ?? keyword) as Rule);
  const row: Row | undefined =
    keyword === 'refused' ? [() => refusal(details, instancePath)] : ROWS[rule];
  if (!row) return null;
  const [sentence, limitFrom] = row;
  const pointer = instancePath
    .split('/')
    .map((token) => escapeToken(printable(unescapeToken(token))))
    .join('/');
  const missing =
    keyword === 'required' || keyword === 'dependentRequired'
      ? `/${escapeToken(params.missingProperty)}`
      : '';
  const bound = limitFrom?.(details);
  const fault = {
    pointer: pointer + missing,
    message: sentence(details),
    rule,
  };
  return bound === undefined ? fault : { ...fault, limit: bound };
}
