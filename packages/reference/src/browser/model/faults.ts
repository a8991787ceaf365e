import type { Api } from './api.ts';
import type { Direction, Schema, SchemaNode } from './document.ts';
import { shortText, typesOf } from './schema.ts';

/** A place in a value, and what is wrong there. */
export interface SchemaFault {
  readonly pointer: string;
  readonly message: string;
}

/** Reads the members of a schema that refers to others. */
type Read = (value: unknown, node: SchemaNode, at: string) => SchemaFault[];

/** Schemas inside of each other, and all that are read: one may contain itself. */
const LEVELS = 100;
const MOST = 20_000;

/**
 * What a value lacks, for readers who fill in an example: the gateway decides. Keywords that examples
 * rarely meet are not judged.
 */
export function faultsIn(
  api: Api,
  root: SchemaNode | undefined,
  direction: Direction,
  sent: unknown,
): SchemaFault[] {
  const hidden = direction === 'request' ? 'readOnly' : 'writeOnly';
  let depth = 0;
  let remaining = MOST;

  function read(
    value: unknown,
    node: SchemaNode | undefined,
    at: string,
  ): SchemaFault[] {
    if (node === false) return [{ pointer: at, message: 'is not allowed' }];
    if (typeof node !== 'object' || depth > LEVELS || remaining-- <= 0)
      return [];
    depth++;
    const schema = api.resolve(node);
    const faults = readAll(value, schema, at);
    depth--;
    return faults;
  }

  function readAll(value: unknown, schema: Schema, at: string): SchemaFault[] {
    const types = schema.type === undefined ? [] : typesOf(schema);
    if (value === null && types.includes('null')) return [];
    const wrong = (message: string) => [{ pointer: at, message }];
    if (types.length > 0 && !types.some((type) => isOfType(value, type)))
      return wrong(`must be ${types.join(' or ')}`);
    const fits = (node: SchemaNode) => read(value, node, at).length === 0;
    const faults = [
      ...plainFaults(value, schema).flatMap(wrong),
      ...(schema.allOf ?? []).flatMap((part) => read(value, part, at)),
      ...optionFaults(schema, fits).flatMap(wrong),
    ];
    if (typeof value !== 'object' || value === null) return faults;
    return Array.isArray(value)
      ? [...faults, ...itemFaults(value, schema, at, read)]
      : [...faults, ...memberFaults(value, schema, at, read, isHidden)];
  }

  const isHidden = (node: SchemaNode | undefined) =>
    typeof node === 'object' && api.resolve(node)[hidden] === true;

  return read(sent, root, '');
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return (
        typeof value === 'object' && value !== null && !Array.isArray(value)
      );
    case 'integer':
      return Number.isInteger(value) || isRaw(value);
    default:
      return typeof value === type || (type === 'number' && isRaw(value));
  }
}

/** A number that would be rounded, see `parseExact`. */
const isRaw = (value: unknown): boolean =>
  (JSON as { isRawJSON?(value: unknown): boolean }).isRawJSON?.(value) === true;

function optionFaults(
  { oneOf, anyOf, not }: Schema,
  fits: (node: SchemaNode) => boolean,
): string[] {
  const faults: string[] = [];
  if (anyOf && !anyOf.some(fits)) faults.push('fits none of its alternatives');
  const count = oneOf?.filter(fits).length ?? 1;
  if (count === 0) faults.push('fits none of its alternatives');
  if (count > 1) faults.push(`fits ${count} of its alternatives, not one`);
  if (not !== undefined && fits(not as SchemaNode)) faults.push('is excluded');
  return faults;
}

type Test = (value: never, limit: never, schema: Schema) => boolean;

/** By keyword: whether a value is within the limit, and the words for it. */
const LIMITS: Readonly<Record<string, readonly [type: string, Test, string]>> =
  {
    enum: [
      'any',
      (value, all: unknown[]) => all.some((one) => equal(one, value)),
      'must be one of *',
    ],
    const: ['any', (value, only) => equal(only, value), 'must be *'],
    minLength: [
      'string',
      (text: string, least: number) => [...text].length >= least,
      'must have at least * characters',
    ],
    maxLength: [
      'string',
      (text: string, most: number) => [...text].length <= most,
      'must have at most * characters',
    ],
    format: ['string', isFormat, 'must have the format *'],
    pattern: ['string', matches, 'must match *'],
    minimum: [
      'number',
      (value: number, least: number, { exclusiveMinimum }) =>
        exclusiveMinimum === true ? value > least : value >= least,
      'must be at least *',
    ],
    maximum: [
      'number',
      (value: number, most: number, { exclusiveMaximum }) =>
        exclusiveMaximum === true ? value < most : value <= most,
      'must be at most *',
    ],
    exclusiveMinimum: [
      'number',
      (value: number, least: number | boolean) =>
        typeof least === 'boolean' || value > least,
      'must be above *',
    ],
    exclusiveMaximum: [
      'number',
      (value: number, most: number | boolean) =>
        typeof most === 'boolean' || value < most,
      'must be below *',
    ],
    multipleOf: [
      'number',
      (value: number, unit: number) =>
        Math.abs(value / unit - Math.round(value / unit)) < 1e-6,
      'must be a multiple of *',
    ],
    minItems: [
      'array',
      (list: unknown[], least: number) => list.length >= least,
      'must have at least * items',
    ],
    maxItems: [
      'array',
      (list: unknown[], most: number) => list.length <= most,
      'must have at most * items',
    ],
    uniqueItems: [
      'array',
      (list: unknown[], isUnique: boolean) =>
        !isUnique ||
        new Set(list.map((one) => JSON.stringify(one))).size === list.length,
      'must have no item twice',
    ],
    minProperties: [
      'object',
      (value: object, least: number) => Object.keys(value).length >= least,
      'must have at least * members',
    ],
    maxProperties: [
      'object',
      (value: object, most: number) => Object.keys(value).length <= most,
      'must have at most * members',
    ],
  };

function plainFaults(value: unknown, schema: Schema): string[] {
  return Object.entries(LIMITS).flatMap(([keyword, [type, test, words]]) => {
    const limit = schema[keyword];
    if (limit === undefined) return [];
    if (type !== 'any' && !isOfType(value, type)) return [];
    if (test(value as never, limit as never, schema)) return [];
    const text = Array.isArray(limit)
      ? limit.map(shortText).join(', ')
      : shortText(limit);
    return [words.replace('*', () => text)];
  });
}

const equal = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Roughly: the gateway is strict. */
const FORMATS: Readonly<Record<string, RegExp>> = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*(?:Z|[+-]\d\d:\d\d)$/i,
  date: /^\d{4}-\d\d-\d\d$/,
  uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  email: /^[\w.!#$%&'*+/=?^`{|}~-]+@[\w-]+(?:\.[\w-]+)*$/,
  hostname: /^[\w-]+(?:\.[\w-]+)*$/,
  byte: /^(?:[\w+/]{4})*(?:[\w+/]{2}==|[\w+/]{3}=)?$/,
  uri: /^[a-z][a-z0-9+.-]*:[\w.~:/?#[\]@!$&'()*+,;=%-]*$/i,
  ipv4: /^\d+(?:\.\d+){3}$/,
};

function isFormat(text: string, format: string): boolean {
  return FORMATS[format]?.test(text) ?? true;
}

/** A pattern that this browser cannot read judges nothing. */
function matches(text: string, pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true;
  }
}

function itemFaults(
  list: readonly unknown[],
  { prefixItems = [], items }: Schema,
  at: string,
  read: Read,
): SchemaFault[] {
  return list.flatMap((value, i) =>
    read(value, prefixItems[i] ?? items ?? true, `${at}/${i}`),
  );
}

function memberFaults(
  value: object,
  schema: Schema,
  at: string,
  read: Read,
  isHidden: (node: SchemaNode | undefined) => boolean,
): SchemaFault[] {
  const { properties = {}, patternProperties = {}, required = [] } = schema;
  const of = (name: string): SchemaNode | undefined =>
    Object.hasOwn(properties, name) ? properties[name] : undefined;
  const pointer = (name: string) =>
    `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const missing = required
    .filter((name) => !Object.hasOwn(value, name) && !isHidden(of(name)))
    .map((name) => ({ pointer: pointer(name), message: 'is required' }));
  const named = schema.propertyNames as SchemaNode | undefined;
  const inside = Object.entries(value).flatMap(([name, member]) => {
    const patterns = Object.entries(patternProperties)
      .filter(([pattern]) => matches(name, pattern))
      .map(([, node]) => node);
    const known = [of(name) ?? [], patterns].flat();
    const nodes =
      known.length > 0 ? known : [schema.additionalProperties ?? true];
    const at = pointer(name);
    return [
      ...(named === undefined ? [] : read(name, named, at)),
      ...nodes.flatMap((node) => read(member, node, at)),
    ];
  });
  return [...missing, ...inside];
}
