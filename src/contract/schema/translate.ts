import type { Document } from '../document/document.ts';
import { isObject, type Json, objectsIn } from '../document/source.ts';
import type { Bar } from '../faults.ts';
import type { Findings } from '../findings.ts';
import { Assertions, allowed } from './assertions.ts';
import { type Kinds, Polymorphism } from './polymorphism.ts';

/** A schema for ajv: JSON Schema and the keywords of `Compiler`. */
export type Translated = Record<string, unknown>;

/** The direction of a message; a property may be for one direction only (`readOnly`, `writeOnly`). */
export type Direction = 'request' | 'response';

/** The context of a schema that changes its meaning. */
interface Setting {
  readonly direction: Direction;
  /** Names that a part of the same `allOf` bars in this direction; `required` must not ask for them. */
  readonly barred: ReadonlySet<string>;
  /** Whether the schema is in an `allOf`: a discriminator then does not select another schema. */
  readonly parent: boolean;
  /** The definition that applies this schema to the same value. */
  readonly owner: string | null;
}

const NONE: ReadonlySet<string> = new Set();

/** Properties for one direction only, and what bars them in the other (OpenAPI 3.0.3, Schema Object, fixed fields). */
const BARRED = {
  request: 'readOnly',
  response: 'writeOnly',
} as const satisfies Record<Direction, Bar>;

/** What a translator has found out about a document; another one can go on with it. */
export interface Definitions {
  /** The names of definitions, by what makes each of them different from all others. */
  readonly names: ReadonlyMap<string, string>;
  /** The definitions that have alternatives, in themselves or in what they refer to. */
  readonly alternatives: ReadonlySet<string>;
  /** The definition of a name that `refers` in a translated schema has. */
  readonly definition: (name: string) => Translated;
}

/** Translates Schema Objects. A reference becomes a definition, which is translated once for each setting. */
export class Translator {
  readonly #definitions = new Map<string, Translated>();
  readonly #known: Definitions | undefined;
  readonly #names: Map<string, string>;
  readonly #nodes = new Map<string, Json>();
  readonly #recursive = new Set<string>();
  /** The definitions that each definition applies to the same value. */
  readonly #applies = new Map<string, Set<string>>();
  readonly #document: Document;
  readonly #findings: Findings;
  readonly #assertions: Assertions;
  readonly #polymorphism: Polymorphism;

  /** With `known`, it translates only what is not among those definitions. */
  constructor(document: Document, findings: Findings, known?: Definitions) {
    this.#document = document;
    this.#findings = findings;
    this.#known = known;
    this.#names = new Map(known?.names);
    this.#assertions = new Assertions(findings, document.reading.integers ?? 'plain');
    this.#polymorphism = new Polymorphism(document, findings);
  }

  definition(name: string): Translated {
    return this.#definitions.get(name) ?? this.#known!.definition(name);
  }

  /** All that is known now; it holds nothing else of this translator. */
  get found(): Definitions {
    return definitionsOf(this.#names, this.#definitions, this.#known);
  }

  translate(schema: Json, direction: Direction): Translated {
    return this.#schema(schema, { direction, barred: NONE, parent: false, owner: null }, null);
  }

  /** Whether a translated schema has alternatives, in itself or in what it refers to. */
  hasAlternatives(schema: Translated): boolean {
    const names = new Set<string>();
    if (showsAlternatives(schema, names)) return true;
    for (const name of names) {
      const own = this.#definitions.get(name);
      if (own ? showsAlternatives(own, names) : this.#known?.alternatives.has(name)) return true;
    }
    return false;
  }

  /** Reports schemas that apply themselves to the same value and would recurse for ever. */
  reportCircles(): void {
    for (const [name, node] of this.#nodes) {
      const reached = new Set(this.#applies.get(name));
      for (const next of reached) for (const further of this.#applies.get(next) ?? []) reached.add(further);
      if (reached.has(name)) this.#findings.problem(node, null, 'the schema refers to itself without going deeper');
    }
  }

  /** Whether the definition is just being translated. */
  #isOpen(name: string): boolean {
    return this.#nodes.has(name) && !this.#definitions.has(name);
  }

  #schema(schema: Json, setting: Setting, pointer: string | null): Translated {
    if (typeof schema.$ref === 'string') return this.#reference(schema, setting);
    const barred = Array.isArray(schema.allOf)
      ? setting.barred.union(this.#barredBy(schema, setting.direction))
      : setting.barred;
    const inner: Setting = { ...setting, barred, parent: false };
    const kinds = setting.parent ? null : this.#polymorphism.of(schema, pointer);
    const parts = this.#each(schema.allOf, { ...inner, parent: true });
    if (kinds) parts.push(this.#choice(kinds, inner, pointer));
    const alternatives = kinds?.listed || (setting.parent && isObject(schema.discriminator)) ? {} : schema;
    return {
      ...this.#assertions.of(schema),
      ...this.#members(schema, barred, setting.direction),
      ...(schema.items !== undefined && many('items', this.#value(schema.items, setting.direction))),
      ...(parts.length > 0 && { allOf: parts }),
      ...(Array.isArray(alternatives.oneOf) && { oneOf: this.#each(alternatives.oneOf, inner) }),
      ...(Array.isArray(alternatives.anyOf) && { anyOf: this.#each(alternatives.anyOf, inner) }),
      ...(isObject(schema.not) && { not: this.#schema(schema.not, inner, null) }),
    };
  }

  #each(schemas: unknown, setting: Setting): Translated[] {
    return objectsIn(schemas).map((schema) => this.#schema(schema, setting, null));
  }

  /** A schema for another value than the one around it. */
  #value(schema: unknown, direction: Direction): Translated {
    return isObject(schema) ? this.translate(schema, direction) : {};
  }

  #reference(reference: Json, { direction, barred, parent, owner }: Setting): Translated {
    const { node, pointer } = this.#document.resolve(reference) ?? {};
    if (!node || typeof pointer !== 'string') return {};
    const asParent = parent && node.discriminator !== undefined;
    const key = JSON.stringify([pointer, direction, asParent, [...barred].sort()]);
    const known = this.#names.get(key);
    const name = known ?? `definition-${this.#names.size}`;
    if (owner) this.#applies.get(owner)!.add(name);
    if (known === undefined) {
      this.#names.set(key, name);
      this.#nodes.set(name, node);
      this.#applies.set(name, new Set());
      const translated = this.#schema(node, { direction, barred, parent: asParent, owner: name }, pointer);
      this.#definitions.set(name, this.#recursive.has(name) ? { ...translated, steps: true } : translated);
    } else if (this.#isOpen(name)) {
      this.#recursive.add(name);
    }
    return { refers: name };
  }

  #members(schema: Json, barred: ReadonlySet<string>, direction: Direction): Translated {
    const names = Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : [];
    const own = this.#barredBy({ properties: schema.properties }, direction).union(barred);
    const required = names.filter((name) => !own.has(name));
    const properties = this.#document.members(schema.properties).map(([name, property]) => {
      const refused = this.#isBarred(property, direction);
      return [name, refused ? { refused: BARRED[direction] } : this.#value(property, direction)] as const;
    });
    properties.sort(([, a], [, b]) => this.#rank(a) - this.#rank(b));
    const { additionalProperties: others } = schema;
    const rest = others === false ? { refused: 'additionalProperties' satisfies Bar } : this.#value(others, direction);
    return {
      ...(required.length > 0 && { required }),
      ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
      ...many('additionalProperties', rest),
    };
  }

  /**
   * Properties with few values come first: they are cheap, and they tell alternatives apart before a check goes deeper.
   */
  #rank(property: Translated): number {
    const { refers } = property;
    if (typeof refers !== 'string') return 'among' in property ? 0 : 1;
    return !this.#isOpen(refers) && 'among' in this.definition(refers) ? 0 : 1;
  }

  /** Names of properties that a schema, or a part of its `allOf`, does not allow in a direction. */
  #barredBy(schema: Json, direction: Direction, seen = new Set<Json>()): Set<string> {
    const names = new Set<string>();
    if (seen.has(schema)) return names;
    seen.add(schema);
    for (const [name, property] of this.#document.members(schema.properties)) {
      if (this.#isBarred(property, direction)) names.add(name);
    }
    for (const part of Array.isArray(schema.allOf) ? schema.allOf : []) {
      const node = this.#document.object(part);
      if (node) for (const name of this.#barredBy(node, direction, seen)) names.add(name);
    }
    return names;
  }

  #isBarred(property: unknown, direction: Direction): boolean {
    const schema = this.#document.object(property);
    if (schema?.readOnly === true && schema.writeOnly === true) {
      this.#findings.problem(schema, 'writeOnly', 'a property cannot be both readOnly and writeOnly');
    }
    return schema?.[BARRED[direction]] === true;
  }

  /** The discriminator selects the schema, so that faults are about this one and not about all alternatives. */
  #choice({ property, schemas }: Kinds, setting: Setting, self: string | null): Translated {
    const values = [...schemas.values()].flat();
    const is = (these: readonly string[]) => ({ [property]: { among: allowed(these) } });
    const cases = [...schemas]
      .filter(([pointer, these]) => pointer !== self && these.length > 0)
      .map(([pointer, these]) => ({
        if: { required: [property], properties: is(these) },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
        then: this.#reference({ $ref: `#${encodeURI(pointer)}` }, setting),
      }));
    return { type: 'object', required: [property], properties: is(values), allOf: cases };
  }
}

function definitionsOf(
  names: ReadonlyMap<string, string>,
  own: ReadonlyMap<string, Translated>,
  known: Definitions | undefined,
): Definitions {
  const alternatives = withAlternatives(own, known?.alternatives ?? NONE);
  return { names, alternatives, definition: (name) => own.get(name) ?? known!.definition(name) };
}

/** The names of these definitions that lead to alternatives, and those known before. */
function withAlternatives(own: ReadonlyMap<string, Translated>, known: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set(known);
  const users = new Map<string, string[]>();
  for (const [name, definition] of own) {
    const names = new Set<string>();
    if (showsAlternatives(definition, names)) found.add(name);
    for (const used of names) users.set(used, [...(users.get(used) ?? []), name]);
  }
  for (const name of found) for (const user of users.get(name) ?? []) found.add(user);
  return found;
}

/** Whether a translated schema has alternatives itself; if not, the names that it refers to are added to `names`. */
function showsAlternatives(schema: Translated, names: Set<string>): boolean {
  const parts = new Set<object>([schema]);
  for (const part of parts) {
    const { oneOf, anyOf, not, refers } = part as Translated;
    if (oneOf ?? anyOf ?? not) return true;
    if (typeof refers === 'string') names.add(refers);
    for (const inner of Object.values(part)) if (typeof inner === 'object' && inner !== null) parts.add(inner);
  }
  return false;
}

/** A schema for any number of values: here the check stops once it has enough faults. */
function many(keyword: string, schema: Translated): Translated {
  return Object.keys(schema).length === 0 ? {} : { [keyword]: { ...schema, endOfFaults: true } };
}
