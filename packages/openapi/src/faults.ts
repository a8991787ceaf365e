import type { ErrorObject } from 'ajv';
import type { Fault, Limit, Rule } from './fault.ts';
import { escapeToken, printable, unescapeToken } from './names.ts';

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

const count = (n: number | string, one: string, many: string): string => `${n} ${Number(n) === 1 ? one : many}`;

const length = (n: number | string, bytes: boolean): string =>
  bytes ? count(n, 'byte', 'bytes') : count(n, 'character', 'characters');

const oneOf = (types: readonly string[]): string => types.map((type) => TYPES[type] ?? type).join(' or ');

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
  readonly property: string;
  readonly passingSchemas: readonly number[] | null;
}

export const BARS = {
  readOnly: 'is read-only: it must not be sent',
  writeOnly: 'is write-only: it must not be in a response',
  additionalProperties: 'is not defined in the contract',
  unevaluatedProperties: 'is not defined in the contract',
  unevaluatedItems: 'is not defined in the contract',
  items: 'is not defined in the contract',
} as const satisfies Partial<Record<Rule, string>>;

export type Bar = keyof typeof BARS;

const typesOf = ({ type, nullable }: Params): Limit => (nullable ? [type, ['null']].flat(2) : type);
const limit = (params: Params): Limit => params.limit;

/** Keywords that translated schemas rename. */
const RULE_OF: Readonly<Record<string, readonly [rule: Rule, limit?: (params: Params) => Limit | undefined]>> = {
  required: ['required'],
  type: ['type', typesOf],
  kinds: ['type', typesOf],
  atLeast: ['minimum', limit],
  atMost: ['maximum', limit],
  moreThan: ['exclusiveMinimum', limit],
  lessThan: ['exclusiveMaximum', limit],
  width: ['format', ({ format }) => format],
  multiple: ['multipleOf', limit],
  among: ['enum', ({ values }) => values],
  exactly: ['const', ({ values }) => (Array.isArray(values) ? values[0] : values)],
  minLength: ['minLength', limit],
  maxLength: ['maxLength', limit],
  solid: ['type', typesOf],
  content: ['type', typesOf],
  shortest: ['minLength', limit],
  longest: ['maxLength', limit],
  matches: ['pattern', ({ pattern }) => pattern],
  format: ['format', ({ format }) => format],
  minItems: ['minItems', limit],
  maxItems: ['maxItems', limit],
  different: ['uniqueItems'],
  minProperties: ['minProperties', limit],
  maxProperties: ['maxProperties', limit],
  contains: ['contains'],
  minContains: ['minContains', limit],
  maxContains: ['maxContains', limit],
  propertyNames: ['propertyNames'],
  dependentRequired: ['dependentRequired', ({ property }) => property],
  oneOf: ['oneOf'],
  anyOf: ['anyOf'],
  not: ['not'],
};

const SENTENCES: Readonly<Record<string, (params: Params) => string>> = {
  required: () => 'is required',
  type: ({ type }) => `must be ${oneOf([type].flat())}`,
  kinds: ({ type }) => `must be ${oneOf([type].flat())}`,
  atLeast: ({ limit }) => `must be at least ${limit}`,
  atMost: ({ limit }) => `must be at most ${limit}`,
  moreThan: ({ limit }) => `must be more than ${limit}`,
  lessThan: ({ limit }) => `must be less than ${limit}`,
  width: ({ format }) => `must have the format ${format}`,
  multiple: ({ limit }) => `must be a multiple of ${limit}`,
  among: ({ text }) => `must be ${text}`,
  exactly: ({ text }) => `must be ${text}`,
  minLength: ({ limit }) => `must have at least ${count(limit, 'character', 'characters')}`,
  maxLength: ({ limit }) => `must have at most ${count(limit, 'character', 'characters')}`,
  solid: ({ type }) => `must be ${oneOf([type].flat())}`,
  content: ({ file }) => (file ? 'must be a file' : 'must be a string'),
  shortest: ({ limit, bytes }) => `must have at least ${length(limit, bytes)}`,
  longest: ({ limit, bytes }) => `must have at most ${length(limit, bytes)}`,
  matches: ({ pattern }) => `must match the pattern ${pattern}`,
  format: ({ format }) => `must have the format ${format}`,
  minItems: ({ limit }) => `must have at least ${count(limit, 'entry', 'entries')}`,
  maxItems: ({ limit }) => `must have at most ${count(limit, 'entry', 'entries')}`,
  different: () => 'must not have duplicate entries',
  minProperties: ({ limit }) => `must have at least ${count(limit, 'member', 'members')}`,
  maxProperties: ({ limit }) => `must have at most ${count(limit, 'member', 'members')}`,
  contains: () => 'must have an entry that matches the required schema',
  minContains: ({ limit }) =>
    `must have at least ${count(limit, 'entry', 'entries')} that match a schema of the contract`,
  maxContains: ({ limit }) =>
    `must have at most ${count(limit, 'entry', 'entries')} that match a schema of the contract`,
  propertyNames: () => 'has a name that is not allowed',
  dependentRequired: ({ property }) => `is required if ${property} is present`,
  refused: ({ why }) => BARS[why],
  oneOf: ({ passingSchemas }) =>
    passingSchemas ? 'must match only one of the schemas' : 'must match one of the schemas',
  anyOf: () => 'must match one of the schemas',
  not: () => 'must not match the excluded schema',
};

export type ValueFault = Omit<Fault, 'in'>;

export type CheckBytes = (bytes: Uint8Array) => readonly ValueFault[];

/** `null` for ajv errors that only report that another error occurred. */
export function faultOf({ keyword, instancePath, params }: ErrorObject): ValueFault | null {
  const sentence = SENTENCES[keyword];
  if (!sentence) return null;
  const pointer = instancePath
    .split('/')
    .map((token) => escapeToken(printable(unescapeToken(token))))
    .join('/');
  const missing =
    keyword === 'required' || keyword === 'dependentRequired' ? `/${escapeToken(params.missingProperty)}` : '';
  const details = params as Params;
  const [rule, limitFrom] = keyword === 'refused' ? [details.why] : RULE_OF[keyword]!;
  const bound = limitFrom?.(details);
  const fault = { pointer: pointer + missing, message: sentence(details), rule };
  return bound === undefined ? fault : { ...fault, limit: bound };
}
