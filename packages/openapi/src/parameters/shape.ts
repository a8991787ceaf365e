import type { Document } from '../document/document.ts';
import { isObject, type Json, objectsIn } from '../document/source.ts';
import { type Direction, isBarred } from '../schema/directions.ts';
import type { Form } from './styles.ts';

export const PRIMITIVES: ReadonlySet<string> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
]);

/** More levels than any text form has. */
const DEEPEST = 6;

/** A text has one form only: an object or list if the schema allows one. */
export function formOf({ types }: Shape): Form {
  if (types?.has('object')) return 'object';
  return types?.has('array') ? 'array' : 'primitive';
}

/**
 * What decides how text is read as a value of a schema. All of it is computed on demand: three
 * levels of a large document contain thousands of schemas.
 */
export class Shape {
  /** `null` if any value is allowed. */
  readonly schema: Json | null;
  readonly #document: Document | null;
  readonly #depth: number;
  #parts: readonly Json[] | undefined;
  #types: Types | undefined;
  #items: Shape | undefined;
  #members: ReadonlyMap<string, Shape> | undefined;
  #others: Shape | null | undefined;

  constructor(document: Document | null, schema: Json | null, depth = 0) {
    this.#document = document;
    this.schema = schema;
    this.#depth = depth;
  }

  /** The schema, and all that may apply to the same value. */
  get parts(): readonly Json[] {
    this.#parts ??= this.#document ? partsOf(this.#document, this.schema!) : [];
    return this.#parts;
  }

  /** `null` for any type. */
  get types(): Types {
    if (this.#types === undefined)
      this.#types = this.#document && typesAsRead(this.#document, this.schema!);
    return this.#types;
  }

  get items(): Shape {
    this.#items ??= this.#inner(
      this.parts.find(({ items }) => isObject(items))?.items,
    );
    return this.#items;
  }

  get members(): ReadonlyMap<string, Shape> {
    this.#members ??= new Map(
      this.parts
        .flatMap(({ properties }) =>
          isObject(properties) ? Object.entries(properties) : [],
        )
        .map(([name, member]) => [name, this.#inner(member)]),
    );
    return this.#members;
  }

  /** `null` if they are forbidden. */
  get others(): Shape | null {
    if (this.#others === undefined) this.#others = this.#findOthers();
    return this.#others;
  }

  get required(): ReadonlySet<unknown> {
    return new Set(
      this.parts.flatMap(({ required }) =>
        Array.isArray(required) ? required : [],
      ),
    );
  }

  get binary(): boolean {
    const isBinary = (part: Json) => this.#document!.dialect.isBinary(part);
    return (
      this.parts.some(isBinary) &&
      this.parts.every(
        (part) => isBinary(part) || ![part.type].flat().includes('string'),
      )
    );
  }

  #inner(part: unknown): Shape {
    if (!isObject(part) || this.#depth === DEEPEST) return ANYTHING;
    return new Shape(this.#document, part, this.#depth + 1);
  }

  #findOthers(): Shape | null {
    const others = this.parts
      .map(({ additionalProperties }) => additionalProperties)
      .find((value) => value !== undefined);
    if (others !== false) return this.#inner(others);
    // `false` applies only to names that match no pattern.
    const { dialect } = this.#document!;
    return this.parts.some(
      (part) => dialect.applicators(part).patternProperties !== undefined,
    )
      ? ANYTHING
      : null;
  }
}

export type Members = Pick<Shape, 'types' | 'members' | 'others'>;

export const ANYTHING = new Shape(null, null);

export const shapeOf = (document: Document, schema: unknown): Shape =>
  isObject(schema) ? new Shape(document, schema) : ANYTHING;

/**
 * With `any`, a text such as `1.0` is read as a number, and the check finds that it is an integer.
 */
function typesAsRead(document: Document, schema: Json): Types {
  const types = typesOf(document, schema, new Set());
  return document.reading.integers === 'any' && types?.has('integer')
    ? new Set([...types, 'number'])
    : types;
}

function partsOf(
  document: Document,
  schema: Json,
  seen = new Set<Json>(),
): Json[] {
  const node = document.object(schema);
  if (!node || seen.has(node)) return [];
  seen.add(node);
  const combined = [
    node.allOf,
    node.oneOf,
    node.anyOf,
    document.dialect.inPlace(node),
  ].flatMap(objectsIn);
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

/**
 * Required lists: outside of JSON, an empty list leaves no trace, so what lacks one has an empty
 * one.
 */
export const listsIn = (
  document: Document,
  { members, required }: Shape,
  direction: Direction,
): string[] =>
  [...members]
    .filter(
      ([name, { types, schema }]) =>
        required.has(name) &&
        types?.has('array') &&
        !isBarred(document, schema, direction),
    )
    .map(([name]) => name);

export function noteUnread(document: Document, { parts }: Shape): void {
  for (const part of parts) {
    for (const keyword of document.dialect.unread) {
      // `false` forbids all values, and `true` has no effect.
      if (part[keyword] === undefined || typeof part[keyword] === 'boolean')
        continue;
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

const either = (a: Types, b: Types) =>
  a === null || b === null ? null : a.union(b);
