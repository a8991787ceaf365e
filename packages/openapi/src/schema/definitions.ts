import type { Json } from '../document/source.ts';
import { Nesting } from '../nesting.ts';

export type Translated = Record<string, unknown>;

export interface Definitions {
  readonly names: ReadonlyMap<string, string>;
  /** In themselves or in what they refer to. */
  readonly alternatives: ReadonlySet<string>;
  readonly definition: (name: string) => Translated;
}

export class OwnDefinitions {
  readonly #own = new Map<string, Translated>();
  readonly #known: Definitions | undefined;
  readonly #names: Map<string, string>;
  readonly #nodes = new Map<string, Json>();
  readonly #applies = new Map<string, Set<string>>();
  readonly #nesting = new Nesting();

  constructor(known: Definitions | undefined) {
    this.#known = known;
    this.#names = new Map(known?.names);
  }

  get(name: string): Translated {
    return this.#own.get(name) ?? this.#known!.definition(name);
  }

  get found(): Definitions {
    const [names, own, known] = [this.#names, this.#own, this.#known];
    const alternatives = withAlternatives(own, known?.alternatives ?? new Set());
    return { names, alternatives, definition: (name) => own.get(name) ?? known!.definition(name) };
  }

  /** `owner`: the definition that applies it to the same value. */
  nameOf(key: string, node: Json, owner: string | null, make: (name: string) => Translated): string {
    const known = this.#names.get(key);
    const name = known ?? `definition-${this.#names.size}`;
    if (owner) this.#applies.get(owner)!.add(name);
    if (known === undefined) {
      this.#names.set(key, name);
      this.#nodes.set(name, node);
      this.#applies.set(name, new Set());
      this.#nesting.run(() => this.#own.set(name, make(name)));
    }
    return name;
  }

  isOpen(name: string): boolean {
    return this.#nodes.has(name) && !this.#own.has(name);
  }

  haveAlternatives(schema: Translated): boolean {
    const names = new Set<string>();
    if (showsAlternatives(schema, names)) return true;
    for (const name of names) {
      const own = this.#own.get(name);
      if (own ? showsAlternatives(own, names) : this.#known?.alternatives.has(name)) return true;
    }
    return false;
  }

  /** Schemas whose definitions apply themselves to the same value. */
  *circles(): Generator<Json> {
    for (const [name, node] of this.#nodes) {
      const reached = new Set(this.#applies.get(name));
      for (const next of reached) for (const further of this.#applies.get(next) ?? []) reached.add(further);
      if (reached.has(name)) yield node;
    }
  }
}

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

/** If not, adds the names that it refers to to `names`. */
function showsAlternatives(schema: Translated, names: Set<string>): boolean {
  const parts = new Set<object>([schema]);
  for (const part of parts) {
    const { oneOf, anyOf, not, refers, else: otherwise, holds } = part as Translated;
    if (oneOf ?? anyOf ?? not ?? otherwise ?? holds) return true;
    if (typeof refers === 'string') names.add(refers);
    for (const inner of Object.values(part)) if (typeof inner === 'object' && inner !== null) parts.add(inner);
  }
  return false;
}
