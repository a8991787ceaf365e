import type { Api } from './api.ts';
import type { Direction, Schema, SchemaNode } from './document.ts';
import { factOf, keywordsOf, typesOf } from './schema.ts';

/** A place in a value, and what it needs. */
export interface SchemaFault {
  readonly pointer: string;
  readonly need: string;
}

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
  let remaining = MOST;

  function read(
    value: unknown,
    node: SchemaNode | undefined,
    pointer: string,
    depth: number,
  ): SchemaFault[] {
    if (node === false) return [{ pointer, need: 'no value' }];
    if (typeof node !== 'object' || depth > LEVELS || remaining-- <= 0)
      return [];
    const schema = api.resolve(node);
    const types = typesOf(schema);
    if (value === null && types.includes('null')) return [];
    if (schema.type && !types.some((type) => isOfType(value, type)))
      return [{ pointer, need: types.join(' or ') }];
    const also = (part: unknown) =>
      read(value, part as SchemaNode, pointer, depth + 1);
    const fits = (part: unknown) => also(part).length === 0;
    const inner = partsOf(value, schema).flatMap(([name, part, node]) =>
      read(part, node, `${pointer}/${name}`, depth + 1),
    );
    const missing = missingIn(value, schema)
      .filter((name) => api.schema(schema.properties?.[name])[hidden] !== true)
      .map((name) => ({
        pointer: `${pointer}/${escaped(name)}`,
        need: 'a value',
      }));
    const own = [...needsOf(value, schema), ...optionNeeds(schema, fits)];
    return [
      ...own.map((need) => ({ pointer, need })),
      ...(schema.allOf ?? []).flatMap(also),
      ...missing,
      ...inner,
    ];
  }

  return read(sent, root, '', 0);
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return Number.isInteger(value) || isRaw(value);
    default:
      return typeof value === type || (type === 'number' && isRaw(value));
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A number that would be rounded, see `parseExact`. */
const isRaw = (value: unknown): boolean =>
  (JSON as { isRawJSON?(value: unknown): boolean }).isRawJSON?.(value) === true;

function optionNeeds(
  { oneOf, anyOf, not }: Schema,
  fits: (node: unknown) => boolean,
): string[] {
  const count = oneOf?.filter(fits).length ?? 1;
  return [
    ...(count === 1 ? [] : [`one alternative, and fits ${count}`]),
    ...(anyOf && !anyOf.some(fits) ? ['any of its alternatives'] : []),
    ...(not !== undefined && fits(not) ? ['another value'] : []),
  ];
}

const needsOf = (value: unknown, schema: Schema): string[] =>
  keywordsOf(schema)
    .filter(([keyword, limit]) => isBroken(value, keyword, limit))
    .map(([keyword, limit]) => factOf(keyword, limit)!);

/** Whether a value is beyond the limit of a keyword. */
function isBroken(value: unknown, keyword: string, limit: unknown): boolean {
  switch (keyword) {
    case 'enum':
      return !(limit as unknown[]).some((one) => isEqual(one, value));
    case 'const':
      return !isEqual(limit, value);
    case 'format':
      return typeof value === 'string' && !isFormat(value, limit as string);
    case 'pattern':
      return typeof value === 'string' && !matches(value, limit as string);
    case 'multipleOf': {
      const times = Number(value) / (limit as number);
      return Math.abs(times - Math.round(times)) > 1e-6;
    }
    case 'uniqueItems':
      return limit === true && Array.isArray(value) && hasDoubles(value);
  }
  const size = sizeFor(keyword, value);
  if (size === null || typeof limit !== 'number') return false;
  if (keyword.startsWith('exclusive'))
    return keyword.includes('Min') ? size <= limit : size >= limit;
  return keyword.startsWith('min') ? size < limit : size > limit;
}

/** What `minLength`, `maxItems` and the like limit. */
function sizeFor(keyword: string, value: unknown): number | null {
  const [, of] =
    /(?:min|max)(imum|Length|Items|Properties)$/i.exec(keyword) ?? [];
  if (of === 'imum') return typeof value === 'number' ? value : null;
  if (of === 'Length')
    return typeof value === 'string' ? [...value].length : null;
  if (of === 'Items') return Array.isArray(value) ? value.length : null;
  return of && isObject(value) ? Object.keys(value).length : null;
}

const isEqual = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

const hasDoubles = (list: readonly unknown[]): boolean =>
  new Set(list.map((one) => JSON.stringify(one))).size < list.length;

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

const isFormat = (text: string, format: string): boolean =>
  FORMATS[format]?.test(text) ?? true;

/** A pattern that this browser cannot read judges nothing. */
function matches(text: string, pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true;
  }
}

const missingIn = (value: unknown, { required = [] }: Schema): string[] =>
  isObject(value) ? required.filter((name) => !Object.hasOwn(value, name)) : [];

type Part = readonly [
  name: string | number,
  value: unknown,
  node: SchemaNode | undefined,
];

/** Items and members with their schemas. */
function partsOf(value: unknown, schema: Schema): Part[] {
  const { properties = {}, patternProperties = {}, items } = schema;
  if (Array.isArray(value))
    return value.map((item, i) => [i, item, schema.prefixItems?.[i] ?? items]);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const named = Object.entries(patternProperties)
      .filter(([pattern]) => matches(name, pattern))
      .map(([, node]) => node);
    if (Object.hasOwn(properties, name)) named.push(properties[name]!);
    const nodes = named.length > 0 ? named : [schema.additionalProperties];
    return nodes.map((node): Part => [escaped(name), member, node]);
  });
}

const escaped = (name: string): string =>
  name.replaceAll('~', '~0').replaceAll('/', '~1');
