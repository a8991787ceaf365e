import type { Document } from '../document/document.ts';
import { type Json, objectsIn } from '../document/source.ts';

/** The values that a text may stand for according to a schema. */
export interface Shape {
  /** The JSON types that the schema allows; `null` means any. */
  readonly types: ReadonlySet<string> | null;
  /** For lists. */
  readonly items: Shape | null;
  /** For objects: the known members, and the shape of all others (`null`: there are no others). */
  readonly members: ReadonlyMap<string, Shape>;
  readonly others: Shape | null;
  /** Whether the schema allows bytes that are no text: `format: binary`. */
  readonly binary: boolean;
}

/** Lists in objects in lists have no text form, so the search ends at this depth. */
const DEEPEST = 3;

/** The shape of a schema that says nothing. */
export const ANYTHING: Shape = { types: null, items: null, members: new Map(), others: null, binary: false };

/** The shape of a schema, through references, `allOf`, `oneOf` and `anyOf`. */
export function shapeOf(document: Document, schema: Json, depth = 0): Shape {
  if (depth === DEEPEST) return ANYTHING;
  const parts = partsOf(document, schema);
  const inner = (part: unknown): Shape => {
    const node = document.object(part);
    return node ? shapeOf(document, node, depth + 1) : ANYTHING;
  };
  const items = parts.find((part) => part.items !== undefined)?.items;
  const members = parts.flatMap(({ properties }) => document.members(properties));
  const others = parts.map(({ additionalProperties }) => additionalProperties).find((value) => value !== undefined);
  return {
    types: asRead(typesOf(document, schema, new Set()), document.reading.integers),
    items: items === undefined ? ANYTHING : inner(items),
    members: new Map(members.map(([name, member]) => [name, inner(member)])),
    others: others === false ? null : inner(others),
    binary: parts.some(isBinary) && parts.every((part) => part.type !== 'string' || isBinary(part)),
  };
}

const isBinary = ({ format }: Json): boolean => format === 'binary';

/** With `any`, a text such as `1.0` is read as a number, and the check finds that it is an integer. */
function asRead(types: Types, integers: 'plain' | 'any' | undefined): Types {
  return integers === 'any' && types?.has('integer') ? new Set([...types, 'number']) : types;
}

/** The schema and all schemas that it combines for the same value. */
export function partsOf(document: Document, schema: Json, seen = new Set<Json>()): Json[] {
  const node = document.object(schema);
  if (!node || seen.has(node)) return [];
  seen.add(node);
  const combined = [node.allOf, node.oneOf, node.anyOf].flatMap(objectsIn);
  return [node, ...combined.flatMap((part) => partsOf(document, part, seen))];
}

function typesOf(document: Document, schema: Json, seen: ReadonlySet<Json>): ReadonlySet<string> | null {
  const node = document.object(schema);
  if (!node || seen.has(node)) return null;
  const of = (part: Json) => typesOf(document, part, new Set([...seen, node]));
  let types = objectsIn(node.allOf).map(of).reduce(both, ownTypes(node));
  for (const options of [objectsIn(node.oneOf), objectsIn(node.anyOf)]) {
    if (options.length > 0) types = both(types, options.map(of).reduce(either));
  }
  return types;
}

function ownTypes({ type, enum: values, properties, items }: Json): ReadonlySet<string> | null {
  if (typeof type === 'string') return new Set([type]);
  if (Array.isArray(values)) return new Set(values.map(typeOfValue));
  if (properties !== undefined) return new Set(['object']);
  return items === undefined ? null : new Set(['array']);
}

function typeOfValue(value: unknown): string {
  if (typeof value === 'bigint') return 'integer';
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
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
