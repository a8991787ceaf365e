import { isObject, type Json } from '../document/source.ts';
import { createNesting } from '../nesting.ts';

export type Translated = Record<string, unknown>;

/**
 * A list hides a schema from ajv, which walks through all objects in a schema: each level would
 * double the work.
 */
export type Part = readonly [Translated];

export interface ContainedCount {
  readonly schema: Translated;
  readonly least: number | null;
  readonly most: number | null;
}

/** A schema for what `of` does not evaluate. */
export type Left = readonly [
  { readonly of: Translated; readonly schema: Translated },
];

/** By the value of a property, one of the alternatives: no other can match. */
export interface Choice {
  readonly property: string;
  readonly byValue: ReadonlyMap<unknown, Part>;
}

/** Returns what `create` has made for the value of the property. */
export function chooser<T>(
  { property, byValue }: Choice,
  create: (part: Translated) => T,
): (value: unknown) => T | null {
  const made = new Map(
    [...byValue].map(([value, [part]]) => [value, create(part)]),
  );
  return (value) =>
    isObject(value) && Object.hasOwn(value, property)
      ? (made.get(value[property]) ?? null)
      : null;
}

/** Without the members that are undefined, which ajv would take for keywords. */
export const defined = (schema: Translated): Translated =>
  Object.fromEntries(
    Object.entries(schema).filter(([, value]) => value !== undefined),
  );

export type Definitions = Pick<
  ReadonlyMap<string, Translated>,
  'keys' | 'has' | 'get'
>;

interface Definition {
  readonly node: Json;
  /** The definitions that it applies to the same value. */
  readonly applied: Set<string>;
}

/** Those of this process, and `known` ones that another process has translated. */
export function createDefinitions(shared: Definitions | undefined) {
  const translated = new Map<string, Translated>();
  const all = new Map<string, Definition>();
  const nest = createNesting();
  return {
    translated,
    find: (name: string): Translated =>
      (translated.get(name) ?? shared?.get(name))!,
    nodeOf: (name: string) => all.get(name)?.node ?? null,

    /** `owner`: the definition that applies it to the same value. */
    add(
      name: string,
      node: Json,
      owner: string | null,
      translate: () => Translated,
    ): void {
      if (owner !== null) all.get(owner)!.applied.add(name);
      if (all.has(name) || shared?.has(name)) return;
      all.set(name, { node, applied: new Set() });
      nest(() => translated.set(name, translate()));
    },

    /** Schemas whose definitions apply themselves to the same value. */
    *circles(): Generator<Json> {
      for (const [name, { node, applied }] of all) {
        const reached = new Set(applied);
        for (const next of reached)
          for (const further of all.get(next)!.applied) reached.add(further);
        if (reached.has(name)) yield node;
      }
    },
  };
}
