import type { Document } from '../document/document.ts';
import { isObject, isReference, type Json, objectsIn } from '../document/source.ts';
import type { Findings } from '../findings.ts';
import { escapeToken, unescapeToken } from '../names.ts';

const SCHEMAS = '/components/schemas/';

export interface Alternative {
  readonly schema: Json;
  readonly values: readonly unknown[];
}

/**
 * It never changes which values match (OpenAPI 3.0.4 and 3.1.1, Discriminator Object): it makes the check shorter or
 * its faults clearer.
 */
export interface Kinds {
  readonly keyword: 'oneOf' | 'anyOf';
  readonly property: string;
  readonly alternatives: readonly Alternative[];
  /**
   * Whether each alternative requires distinct values of the property, so that only one can match. If not, no schema
   * enforces the values, which are those of the mapping and the names of schemas.
   */
  readonly decides: boolean;
}

interface Traits {
  readonly isObject: boolean;
  readonly hasProperty: boolean;
  /** `null` if the schema lists no values for the property. */
  readonly values: ReadonlySet<unknown> | null;
}

export class Polymorphism {
  readonly #document: Document;
  readonly #findings: Findings;
  #heirs: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(document: Document, findings: Findings) {
    this.#document = document;
    this.#findings = findings;
  }

  of(schema: Json, isBarred: (alternative: Json, property: string) => boolean): Kinds | null {
    const { discriminator } = schema;
    if (discriminator === undefined) return null;
    if (!isObject(discriminator) || typeof discriminator.propertyName !== 'string') {
      this.#findings.problem(schema, 'discriminator', 'must be an object with a propertyName');
      return null;
    }
    const { propertyName: property, mapping } = discriminator;
    const keyword = keywordOf(schema);
    if (keyword === null) {
      const message =
        'discriminator has no effect without oneOf or anyOf: what inherits from a schema is not looked for';
      this.#findings.note(schema, 'discriminator', message);
      return null;
    }
    const options = objectsIn(schema[keyword]);
    const traits = options.map((option) => this.#traitsOf(option, property));
    const listed = traits.map(({ values }) => [...(values ?? [])]);
    const decides =
      traits.every((one) => one.isObject && one.hasProperty && one.values !== null) &&
      new Set(listed.flat()).size === listed.flat().length &&
      !options.some((option) => isBarred(option, property));
    const names = decides ? null : this.#names(options, mapping);
    if (names && keyword === 'oneOf' && traits.some(({ values }) => values === null)) {
      const message = `oneOf decides without the discriminator: an enum or const of ${property} in each schema would let it choose`;
      this.#findings.note(schema, 'discriminator', message);
    }
    const alternatives = options.map((schema, i) => ({ schema, values: names?.[i] ?? listed[i]! }));
    // Faults of one alternative come from its definition, which only a reference has.
    if (names && (!options.every(isReference) || names.flat().length === 0)) return null;
    return { keyword, property, alternatives, decides };
  }

  /** Also for a schema that inherits from it. */
  isAlternativeOf(base: Json, pointer: string): boolean {
    const keyword = isObject(base.discriminator) ? keywordOf(base) : null;
    if (keyword === null) return false;
    const alternatives = new Set(objectsIn(base[keyword]).map((option) => this.#pointer(option)));
    this.#heirs ??= heirsIn(this.#document);
    const found = new Set([pointer]);
    for (const parent of found) {
      if (alternatives.has(parent)) return true;
      for (const heir of this.#heirs.get(parent) ?? []) found.add(heir);
    }
    return false;
  }

  #names(options: readonly Json[], mapping: unknown): string[][] {
    const mapped = this.#document
      .members(mapping)
      .map(([value, ref]) => [value, typeof ref === 'string' ? this.#pointer({ $ref: ref }) : null] as const);
    return options.map((option) => {
      const pointer = this.#pointer(option);
      if (pointer === null) return [];
      return [...nameOf(pointer), ...mapped.filter(([, target]) => target === pointer).map(([value]) => value)];
    });
  }

  #traitsOf(schema: unknown, property: string, seen = new Set<Json>()): Traits {
    const node = this.#document.object(schema);
    if (!node || seen.has(node)) return { isObject: false, hasProperty: false, values: null };
    seen.add(node);
    const { types, nullable } = this.#document.dialect.typesOf(node);
    const parts = this.#partsOf(node).map((part) => this.#traitsOf(part, property, seen));
    const own = this.#valuesOf(this.#document.object(node.properties)?.[property]);
    return {
      isObject: (types?.join() === 'object' && !nullable) || parts.some((part) => part.isObject),
      hasProperty:
        (Array.isArray(node.required) && node.required.includes(property)) || parts.some((part) => part.hasProperty),
      values: common([own, ...parts.map((part) => part.values)]),
    };
  }

  /** `null` if it lists none, or some are not plain. */
  #valuesOf(schema: unknown, seen = new Set<Json>()): ReadonlySet<unknown> | null {
    const node = this.#document.object(schema);
    if (!node || seen.has(node)) return null;
    seen.add(node);
    const values = this.#document.dialect.valuesIn(node);
    const own = values === null || values.some((value) => typeof value === 'object') ? null : new Set(values);
    return common([own, ...this.#partsOf(node).map((part) => this.#valuesOf(part, seen))]);
  }

  #partsOf(node: Json): Json[] {
    const beside = this.#document.beside(node);
    return [...objectsIn(node.allOf), ...(beside ? [beside] : [])];
  }

  #pointer(reference: Json): string | null {
    return this.#document.resolve(reference)?.pointer ?? null;
  }
}

function heirsIn(document: Document): ReadonlyMap<string, readonly string[]> {
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

function keywordOf(schema: Json): 'oneOf' | 'anyOf' | null {
  if (Array.isArray(schema.oneOf)) return 'oneOf';
  return Array.isArray(schema.anyOf) ? 'anyOf' : null;
}

function common(lists: readonly (ReadonlySet<unknown> | null)[]): ReadonlySet<unknown> | null {
  const [first, ...others] = lists.filter((list) => list !== null);
  return first ? others.reduce((all, list) => all.intersection(list), first) : null;
}

function nameOf(pointer: string): string[] {
  const name = pointer.startsWith(SCHEMAS) ? pointer.slice(SCHEMAS.length) : '';
  return name === '' || name.includes('/') ? [] : [unescapeToken(name)];
}
