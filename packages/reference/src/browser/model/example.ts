import { type Api, join } from './api.ts';
import type { Examples, Media, Schema, SchemaNode } from './document.ts';
import { indentJson, isJson } from './json-text.ts';
import { nameOf, typesOf } from './schema.ts';

/** `request` omits members that are read-only, `response` those that are write-only. */
export type Direction = 'request' | 'response';

/** An example of a media type or parameter: the author's, or one made from its schema. */
export function exampleOf(
  api: Api,
  { example, examples, schema, itemSchema }: Media,
  direction: Direction,
): unknown {
  const [given] =
    example === undefined ? examplesIn(api, examples) : [{ value: example }];
  return given === undefined
    ? sample(api, schema ?? itemSchema, direction)
    : given.value;
}

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
const LONGEST = 100;

/** A value that fits a schema, as far as its keywords are easy to satisfy. */
export function sample(
  api: Api,
  node: SchemaNode | undefined,
  direction: Direction,
): unknown {
  let remaining = MOST;

  function fill(part: SchemaNode | undefined, depth: number): unknown {
    const schema = api.schema(part);
    const found = givenIn(schema) ?? schema.enum?.[0];
    if (found !== undefined) return found;
    const { oneOf, anyOf, ...rest } = schema;
    const option = (oneOf ?? anyOf)?.[0];
    if (depth > DEEPEST || remaining-- <= 0) return null;
    const inner = (next: SchemaNode | undefined) => fill(next, depth + 1);
    if (option !== undefined) return inner(join([rest, api.schema(option)]));
    return ofType(schema, inner, direction);
  }
  return fill(node, 0);
}

function ofType(
  schema: Schema,
  inner: (node: SchemaNode | undefined) => unknown,
  direction: Direction,
): unknown {
  const {
    items,
    prefixItems = [],
    format = '',
    minimum = 0,
    minLength = 0,
    maxLength,
  } = schema;
  switch (typesOf(schema)[0]) {
    case 'object':
      return members(schema, inner, direction);
    case 'array':
      return prefixItems.length > 0 ? prefixItems.map(inner) : [inner(items)];
    case 'integer':
    case 'number':
      return minimum;
    case 'boolean':
      return true;
    case 'string': {
      const text = 'string'.padEnd(Math.min(LONGEST, Number(minLength)), '.');
      return STRINGS[format] ?? text.slice(0, Number(maxLength ?? LONGEST));
    }
    default:
      return null;
  }
}

function members(
  { properties = {}, additionalProperties }: Schema,
  inner: (node: SchemaNode) => unknown,
  direction: Direction,
): object {
  const hidden = direction === 'request' ? 'readOnly' : 'writeOnly';
  const shown = Object.entries(properties).filter(
    ([, node]) => typeof node !== 'object' || node[hidden] !== true,
  );
  const others = shown.length === 0 && typeof additionalProperties === 'object';
  const all = others ? [['name', additionalProperties] as const] : shown;
  return Object.fromEntries(all.map(([name, node]) => [name, inner(node)]));
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
  return exampleText(
    chosen ?? exampleOf(api, media, direction),
    mediaType,
    name,
  );
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
