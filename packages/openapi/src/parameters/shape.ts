import type { Document } from '../document/document.ts';
import { isObject, type Json, objectsIn } from '../document/source.ts';
import type { Form } from './styles.ts';

export interface Shape {
  readonly types: ReadonlySet<string> | null;
  readonly items: Shape | null;
  readonly members: ReadonlyMap<string, Shape>;
  readonly others: Shape | null;
  readonly binary: boolean;
}

export const PRIMITIVES: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean']);

/** More levels than any text form has. */
const DEEPEST = 6;

export const ANYTHING: Shape = {
  types: null,
  items: null,
  members: new Map(),
  others: null,
  binary: false,
};

/** A text has one form only: an object or list if the schema allows one. */
export function formOf({ types }: Shape): Form {
  if (types?.has('object')) return 'object';
  return types?.has('array') ? 'array' : 'primitive';
}

/**
 * Inner shapes are computed on demand: three levels of a large document contain thousands of
 * schemas.
 */
export function shapeOf(document: Document, schema: Json, depth = 0): Shape {
  if (depth === DEEPEST) return ANYTHING;
  const parts = partsOf(document, schema);
  const inner = (part: unknown): Shape => {
    const node = document.object(part);
    return node ? shapeOf(document, node, depth + 1) : ANYTHING;
  };
  const findMembers = () =>
    new Map(propertiesIn(document, parts).map(([name, member]) => [name, inner(member)] as const));
  const findOthers = () => {
    const others = parts
      .map(({ additionalProperties }) => additionalProperties)
      .find((value) => value !== undefined);
    if (others !== false) return inner(others);
    // `false` applies only to names that match no pattern.
    return parts.some((part) => document.dialect.applicators(part).patternProperties !== undefined)
      ? ANYTHING
      : null;
  };
  let items: Shape | undefined;
  let members: Shape['members'] | undefined;
  let others: Shape['others'] | undefined;
  return {
    types: asRead(typesIn(document, schema), document.reading.integers),
    get items() {
      items ??= inner(parts.find((part) => part.items !== undefined)?.items);
      return items;
    },
    get members() {
      members ??= findMembers();
      return members;
    },
    get others() {
      if (others === undefined) others = findOthers();
      return others;
    },
    binary: isBinary(document, parts),
  };
}

function isBinary({ dialect }: Document, parts: readonly Json[]): boolean {
  const isString = (part: Json) => [part.type].flat().includes('string');
  return (
    parts.some(dialect.isBinary) && parts.every((part) => !isString(part) || dialect.isBinary(part))
  );
}

/**
 * With `any`, a text such as `1.0` is read as a number, and the check finds that it is an integer.
 */
function asRead(types: Types, integers: 'plain' | 'any' | undefined): Types {
  return integers === 'any' && types?.has('integer') ? new Set([...types, 'number']) : types;
}

export function partsOf(document: Document, schema: Json, seen = new Set<Json>()): Json[] {
  const node = document.object(schema);
  if (!node || seen.has(node)) return [];
  seen.add(node);
  const combined = [node.allOf, node.oneOf, node.anyOf, document.dialect.inPlace(node)].flatMap(
    objectsIn,
  );
  return [node, ...combined.flatMap((part) => partsOf(document, part, seen))];
}

function typesOf(
  document: Document,
  schema: Json,
  seen: ReadonlySet<Json>,
): ReadonlySet<string> | null {
  const node = document.object(schema);
  if (!node || seen.has(node)) return null;
  const of = (part: Json) => typesOf(document, part, new Set([...seen, node]));
  const beside = document.beside(node);
  let types = [...objectsIn(node.allOf), ...(beside ? [beside] : [])]
    .map(of)
    .reduce(both, document.dialect.shownTypes(node));
  for (const options of [objectsIn(node.oneOf), objectsIn(node.anyOf)]) {
    if (options.length > 0) types = both(types, options.map(of).reduce(either));
  }
  return types;
}

/** `null` for any type. */
export const typesIn = (document: Document, schema: Json): Shape['types'] =>
  typesOf(document, schema, new Set());

export function noteUnread(document: Document, schema: Json): void {
  for (const part of partsOf(document, schema)) {
    for (const keyword of document.dialect.unread) {
      // `false` forbids all values, and `true` has no effect.
      if (part[keyword] === undefined || typeof part[keyword] === 'boolean') continue;
      const message = `outside of JSON, ${keyword} does not say how text is read: numbers and booleans that only it describes are refused`;
      document.findings.note(part, keyword, message);
    }
  }
}

type Types = ReadonlySet<string> | null;

const both = (a: Types, b: Types): Types => {
  if (a === null || b === null) return a ?? b;
  const common = a.intersection(b);
  if (a.has('integer') && b.has('number')) common.add('integer');
  if (b.has('integer') && a.has('number')) common.add('integer');
  return common;
};

const either = (a: Types, b: Types): Types => (a === null || b === null ? null : a.union(b));

export function itemsOf(document: Document, schema: Json): Json | null {
  const items = partsOf(document, schema).find((part) => isObject(part.items))?.items;
  return isObject(items) ? items : null;
}

export const requiredIn = (parts: readonly Json[]): ReadonlySet<unknown> =>
  new Set(parts.flatMap(({ required }) => (Array.isArray(required) ? required : [])));

export const propertiesIn = (
  document: Document,
  parts: readonly Json[],
): [name: string, schema: unknown][] =>
  parts.flatMap(({ properties }) => document.members(properties));

/** `null` unless they have a schema. */
export const othersIn = (parts: readonly Json[]): Json | null =>
  parts.map(({ additionalProperties }) => additionalProperties).find(isObject) ?? null;
