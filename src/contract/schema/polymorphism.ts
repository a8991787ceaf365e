import type { Document } from '../document/document.ts';
import { isObject, type Json } from '../document/source.ts';
import type { Findings } from '../findings.ts';
import { escapeToken, unescapeToken } from '../names.ts';

const SCHEMAS = '/components/schemas/';

/** The schema that a value must fit, by the value of one of its properties (OpenAPI 3.0.3, Discriminator Object). */
export interface Kinds {
  readonly property: string;
  /** Pointers of schemas with the values that stand for each. */
  readonly schemas: ReadonlyMap<string, readonly string[]>;
  /**
   * Whether the schemas are those listed in `oneOf` or `anyOf`; otherwise they are those that inherit through `allOf`.
   */
  readonly listed: boolean;
}

/** Reads discriminators. */
export class Polymorphism {
  readonly #document: Document;
  readonly #findings: Findings;
  #heirs: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(document: Document, findings: Findings) {
    this.#document = document;
    this.#findings = findings;
  }

  /** `null` if the schema has no discriminator, or one that cannot decide. `pointer` is the place of a named schema. */
  of(schema: Json, pointer: string | null): Kinds | null {
    const { discriminator } = schema;
    if (discriminator === undefined) return null;
    if (!isObject(discriminator) || typeof discriminator.propertyName !== 'string') {
      this.#findings.problem(schema, 'discriminator', 'must be an object with a propertyName');
      return null;
    }
    const options = schema.oneOf ?? schema.anyOf;
    const listed = Array.isArray(options);
    const pointers = listed ? this.#listed(options) : this.#inherited(pointer);
    if (pointers === null) {
      this.#findings.note(
        schema,
        'discriminator',
        'discriminator has no effect: a schema without a name cannot be chosen by it',
      );
      return null;
    }
    const schemas = new Map<string, string[]>();
    for (const found of pointers) schemas.set(found, nameOf(found));
    for (const [value, ref] of this.#document.members(discriminator.mapping)) {
      const target = this.#pointer({ $ref: ref });
      if (target !== null) schemas.set(target, [...(schemas.get(target) ?? []), value]);
    }
    this.#noteUnreachable(schema, discriminator.propertyName, schemas);
    const alone = !listed && [...schemas.keys()].every((found) => found === pointer);
    return alone ? null : { property: discriminator.propertyName, schemas, listed };
  }

  /** Values are names of schemas unless the mapping has them, and authors forget that: then no value fits a schema. */
  #noteUnreachable(schema: Json, property: string, schemas: ReadonlyMap<string, readonly string[]>): void {
    for (const [pointer, values] of schemas) {
      const allowed = this.#enumOf(this.#document.target(`#${encodeURI(pointer)}`), property, new Set());
      if (allowed === null || values.length === 0 || values.some((value) => allowed.includes(value))) continue;
      this.#findings.note(
        schema,
        'discriminator',
        `no value leads to ${pointer}: ${property} must be ${values.join(' or ')} for it, which its enum does not list`,
      );
    }
  }

  /** The values that a schema allows for a property; `null` if it does not list them. */
  #enumOf(schema: Json | null, property: string, seen: Set<Json>): readonly unknown[] | null {
    const node = this.#document.object(schema);
    if (!node || seen.has(node)) return null;
    seen.add(node);
    const own = this.#document.object(this.#document.object(node.properties)?.[property]);
    const listed = own && this.#document.dialect.valuesIn(own);
    if (listed) return listed;
    const beside = this.#document.beside(node);
    for (const part of [
      ...(Array.isArray(node.allOf) ? node.allOf.filter(isObject) : []),
      ...(beside ? [beside] : []),
    ]) {
      const inherited = this.#enumOf(part, property, seen);
      if (inherited) return inherited;
    }
    return null;
  }

  #listed(options: readonly unknown[]): string[] | null {
    const pointers = options.map((option) => (isObject(option) ? this.#pointer(option) : null));
    return pointers.includes(null) ? null : (pointers as string[]);
  }

  /** The schema itself and all that have it in their `allOf`, directly or through others. */
  #inherited(pointer: string | null): string[] {
    if (pointer === null) return [];
    this.#heirs ??= heirsIn(this.#document);
    const found = new Set([pointer]);
    for (const parent of found) for (const heir of this.#heirs.get(parent) ?? []) found.add(heir);
    return [...found];
  }

  #pointer(reference: Json): string | null {
    return this.#document.resolve(reference)?.pointer ?? null;
  }
}

/** The pointers of the named schemas that have a schema in their `allOf`, by its pointer. */
export function heirsIn(document: Document): ReadonlyMap<string, readonly string[]> {
  const heirs = new Map<string, string[]>();
  const components = document.object(document.root.components);
  for (const [name] of document.members(components?.schemas)) {
    const heir = SCHEMAS + escapeToken(name);
    const { node } = document.resolve({ $ref: `#${encodeURI(heir)}` }) ?? {};
    const parents: unknown[] = Array.isArray(node?.allOf) ? [...node.allOf] : [];
    if (node && document.beside(node)) parents.push({ $ref: node.$ref });
    for (const parent of parents.filter(isObject).map((part) => document.resolve(part)?.pointer ?? null)) {
      if (parent !== null) heirs.set(parent, [...(heirs.get(parent) ?? []), heir]);
    }
  }
  return heirs;
}

/** Schemas in `components` are known by their names. */
function nameOf(pointer: string): string[] {
  const name = pointer.startsWith(SCHEMAS) ? pointer.slice(SCHEMAS.length) : '';
  return name === '' || name.includes('/') ? [] : [unescapeToken(name)];
}
