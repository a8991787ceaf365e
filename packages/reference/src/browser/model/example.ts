import { type Api, join } from './api.ts';
import type {
  Direction,
  Examples,
  Media,
  Schema,
  SchemaNode,
} from './document.ts';
import { faultsIn } from './faults.ts';
import { indentJson, isJson } from './json-text.ts';
import { nameOf, typesOf } from './schema.ts';

/** With their names. */
export const examplesIn = (api: Api, examples: Examples = {}) =>
  Object.entries(examples)
    .map(([name, node]) => ({ name, ...api.resolve(node) }))
    .filter(({ value }) => value !== undefined);

const STRINGS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T12:00:00Z',
  date: '2026-01-31',
  time: '12:00:00Z',
  duration: 'P1D',
  email: 'user@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '3fa85f64-5717-4562-b3fc-2c963f66afa6',
  byte: 'aGVsbG8=',
};

/** The author's example, or the only or usual value. */
export const givenIn = ({
  example,
  examples,
  const: only,
  default: usual,
}: Schema): unknown =>
  [example, examples?.[0], usual, only].find((value) => value !== undefined);

/** Objects inside of each other, and all objects. What refers to itself ends here. */
const DEEPEST = 5;
const MOST = 1_000;
const LONGEST = 10_000;

/** For patterns: the first that fits is taken. */
const USUAL_TEXTS = [
  'a',
  'A',
  '0',
  '1',
  'aa',
  'en',
  'US',
  'USD',
  'en-US',
  'abc',
  '1234',
  '12345',
  'abc-123',
  'a.b',
  '1.0',
  '1.0.0',
  '#336699',
  '/a',
  'a/b',
  '12:00',
  '+15550100',
  '0123456789',
  '0'.repeat(32),
  'a'.repeat(40),
  '0'.repeat(64),
];

/**
 * A value that fits a schema, as far as its keywords are easy to satisfy: `faultsIn` finds what is
 * missing.
 */
export function sample(
  api: Api,
  node: SchemaNode | undefined,
  direction: Direction,
): unknown {
  let remaining = MOST;

  /** The first of the values that fits; none, the first that there is. */
  function fill(part: SchemaNode | undefined, depth: number): unknown {
    const schema = api.schema(part);
    const given = [givenIn(schema), ...(schema.enum ?? [])].filter(
      (value) => value !== undefined,
    );
    if (depth > 2 * DEEPEST || remaining-- <= 0) return given[0] ?? null;
    let first: unknown;
    for (const values of [given, made(schema, depth)])
      for (const value of values) {
        if (faultsIn(api, part, direction, value).length === 0) return value;
        first ??= value;
      }
    return first ?? null;
  }

  function* made(schema: Schema, depth: number): Iterable<unknown> {
    const { oneOf, anyOf, ...rest } = schema;
    const inner = (next: SchemaNode | undefined) => fill(next, depth + 1);
    for (const option of oneOf ?? anyOf ?? [])
      yield inner(join([rest, api.schema(option)]));
    switch (typesOf(rest)[0]) {
      case 'object':
        yield members(rest, inner, direction, depth);
        break;
      case 'array':
        yield items(rest, inner, depth);
        break;
      case 'boolean':
        yield true;
        break;
      case 'integer':
      case 'number':
        yield* numbers(rest);
        break;
      case 'string':
        yield* texts(rest);
    }
  }
  return fill(node, 0);
}

/** Those at and near the limits. */
function numbers(schema: Schema): number[] {
  const step = Number(schema.multipleOf ?? 1);
  const bounds = ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum']
    .map((keyword) => schema[keyword])
    .filter((bound) => typeof bound === 'number');
  const near = bounds.flatMap((bound) => {
    const steps = [0, 1, -1].map(
      (more) => (Math.round(bound / step) + more) * step,
    );
    return [bound, ...steps, bound + 0.5, bound - 0.5];
  });
  return [...near, 0];
}

function texts({ format = '', minLength, maxLength, pattern }: Schema) {
  const least = Math.min(LONGEST, Number(minLength ?? 0));
  const text = 'string'
    .padEnd(least, '.')
    .slice(0, Number(maxLength ?? LONGEST));
  const usual = pattern === undefined ? [] : USUAL_TEXTS;
  return [STRINGS[format] ?? text, text, ...usual];
}

function items(
  { items: node, prefixItems = [], minItems, maxItems, uniqueItems }: Schema,
  inner: (node: SchemaNode | undefined) => unknown,
  depth: number,
): unknown[] {
  if (prefixItems.length > 0) return prefixItems.map(inner);
  const usual = depth < DEEPEST ? 1 : 0;
  const count = Math.min(Math.max(Number(minItems ?? 0), usual), MOST);
  const list = Array.from({ length: maxItems === 0 ? 0 : count }, () =>
    inner(node),
  );
  if (uniqueItems !== true) return list;
  const values = typeof node === 'object' ? (node.enum ?? []) : [];
  return list.map((item, i) => values[i] ?? varied(item, i));
}

function varied(item: unknown, i: number): unknown {
  if (typeof item === 'number') return item + i;
  return typeof item === 'string' && i > 0 ? item + i : item;
}

/** Deep inside, an object has only the members that it needs. */
function members(
  schema: Schema,
  inner: (node: SchemaNode | undefined) => unknown,
  direction: Direction,
  depth: number,
): object {
  const { properties = {}, additionalProperties, required = [] } = schema;
  const names = schema.propertyNames as SchemaNode | undefined;
  const hidden = direction === 'request' ? 'readOnly' : 'writeOnly';
  const shown = Object.entries(properties).filter(
    ([name, node]) =>
      (typeof node !== 'object' || node[hidden] !== true) &&
      (depth < DEEPEST || required.includes(name)),
  );
  const others = required
    .filter((name) => !Object.hasOwn(properties, name))
    .map((name) => [name, additionalProperties] as const);
  const isMap = typeof additionalProperties === 'object' && depth < DEEPEST;
  const name = names === undefined ? 'name' : String(inner(names));
  const only =
    isMap && shown.length === 0 && others.length === 0
      ? [[name, additionalProperties] as const]
      : [];
  return Object.fromEntries(
    [...shown, ...others, ...only].map(([name, node]) => [name, inner(node)]),
  );
}

/** The example of a media type as text; `chosen`: one of several, in its place. */
export function mediaText(
  api: Api,
  media: Media,
  mediaType: string,
  direction: Direction,
  chosen?: unknown,
): string {
  const { xml } = api.schema(media.schema) as {
    readonly xml?: { readonly name?: string };
  };
  const name = xml?.name ?? nameOf(media.schema ?? true);
  const [named] = examplesIn(api, media.examples);
  const given = chosen ?? media.example ?? named?.value;
  if (given !== undefined) return exampleText(given, mediaType, name);
  const value = sample(api, media.schema ?? media.itemSchema, direction);
  return /json/i.test(mediaType)
    ? indentJson(JSON.stringify(value))
    : exampleText(value, mediaType, name);
}

/**
 * As a client writes it. In JSON a string is a value, unless the author wrote JSON in it. `name`: of
 * the root in XML.
 */
export function exampleText(
  value: unknown,
  mediaType: string,
  name = 'root',
): string {
  const isText =
    typeof value === 'string' && (!/json/i.test(mediaType) || isJson(value));
  if (isText) return value;
  return /xml/i.test(mediaType)
    ? xmlOf(name, value, '')
    : indentJson(JSON.stringify(value) ?? '');
}

function xmlOf(name: string, value: unknown, indent: string): string {
  if (Array.isArray(value))
    return value.map((item) => xmlOf(name, item, indent)).join('\n');
  if (typeof value !== 'object' || value === null) {
    const text = String(value ?? '').replace(/[&<]/g, (sign) =>
      sign === '&' ? '&amp;' : '&lt;',
    );
    return `${indent}<${name}>${text}</${name}>`;
  }
  const inner = Object.entries(value).map(([name, part]) =>
    xmlOf(name, part, `${indent}  `),
  );
  return [`${indent}<${name}>`, ...inner, `${indent}</${name}>`].join('\n');
}
