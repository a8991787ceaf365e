import type { Json } from '../document/source.ts';
import { Nesting } from '../nesting.ts';

export type Translated = Record<string, unknown>;

export interface Definitions {
  readonly names: ReadonlyMap<string, string>;
  definition(name: string): Translated;
}

export class OwnDefinitions implements Definitions {
  readonly names: Map<string, string>;
  readonly #own = new Map<string, Translated>();
  readonly #known: Definitions | undefined;
  readonly #nodes = new Map<string, Json>();
  readonly #applies = new Map<string, Set<string>>();
  readonly #nesting = new Nesting();

  constructor(known: Definitions | undefined) {
    this.#known = known;
    this.names = new Map(known?.names);
  }

  definition(name: string): Translated {
    return this.#own.get(name) ?? this.#known!.definition(name);
  }

  /** `owner`: the definition that applies it to the same value. */
  nameOf(
    key: string,
    node: Json,
    owner: string | null,
    make: (name: string) => Translated,
  ): string {
    const known = this.names.get(key);
    const name = known ?? `definition-${this.names.size}`;
    if (owner) this.#applies.get(owner)!.add(name);
    if (known === undefined) {
      this.names.set(key, name);
      this.#nodes.set(name, node);
      this.#applies.set(name, new Set());
      this.#nesting.run(() => this.#own.set(name, make(name)));
    }
    return name;
  }

  isOpen(name: string): boolean {
    return this.#nodes.has(name) && !this.#own.has(name);
  }

  /** Schemas whose definitions apply themselves to the same value. */
  *circles(): Generator<Json> {
    for (const [name, node] of this.#nodes) {
      const reached = new Set(this.#applies.get(name));
      for (const next of reached)
        for (const further of this.#applies.get(next) ?? []) reached.add(further);
      if (reached.has(name)) yield node;
    }
  }
}
