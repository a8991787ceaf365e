import { compilePattern } from '../patterns/pattern.ts';
import type { Translated } from './definitions.ts';
import { type Place, placeOf, type Unit } from './unit.ts';

export class Evaluated {
  readonly path: string;
  members: Set<string> | 'all' = new Set();
  entries: Set<number> | 'all' = new Set();

  constructor(path: string) {
    this.path = path;
  }

  addMember(name: string): void {
    if (this.members !== 'all') this.members.add(name);
  }

  addEntry(index: number): void {
    if (this.entries !== 'all') this.entries.add(index);
  }
}

/** The object or list must match. */
export type Evaluate = (value: object, evaluated: Evaluated) => void;

interface Compiler {
  readonly find: (name: string) => Translated;
  unit(schema: Translated): Unit;
}

/**
 * For JSON Schema 2020-12 section 11. Ajv's own tracking is wrong for `contains` and for names such as `constructor`.
 */
export class Evaluations {
  readonly #compiler: Compiler;
  readonly #named = new Map<string, Evaluate>();

  constructor(compiler: Compiler) {
    this.#compiler = compiler;
  }

  /** Call it while the outer schema is compiled: the schemas that it needs are compiled with it. */
  of(schema: Translated): Evaluate {
    const all = [...this.#own(schema), ...this.#inPlace(schema)];
    return (value, evaluated) => {
      for (const one of all) one(value, evaluated);
    };
  }

  #own(schema: Translated): Evaluate[] {
    const all: Evaluate[] = [];
    const { properties, patternProperties, prefixItems, holds } = schema;
    if (properties) all.push(members(new Set(Object.keys(properties))));
    for (const source of Object.keys(patternProperties ?? {})) all.push(matching(source));
    if ('additionalProperties' in schema || 'leftMembers' in schema) all.push(allMembers);
    if ('items' in schema || 'leftEntries' in schema) all.push(allEntries);
    if (Array.isArray(prefixItems)) all.push(entries((_, i) => i < prefixItems.length));
    if (holds) {
      const unit = this.#compiler.unit((holds as { schema: Translated }).schema);
      all.push(entries((list, i, path) => unit.validate(list[i], placeOf(list, i, path))));
    }
    return all;
  }

  #inPlace(schema: Translated): Evaluate[] {
    const { refers, allOf, anyOf, oneOf, dependentSchemas, if: condition, then, else: otherwise } = schema;
    const all = listOf(allOf).map((one) => this.of(one));
    if (typeof refers === 'string') all.push(this.#definition(refers));
    for (const one of [...listOf(anyOf), ...listOf(oneOf)]) all.push(this.#where(one, this.of(one), null));
    for (const [name, one] of Object.entries((dependentSchemas ?? {}) as Record<string, Translated>)) {
      const evaluate = this.of(one);
      all.push((value, evaluated) => {
        if (!Array.isArray(value) && Object.hasOwn(value, name)) evaluate(value, evaluated);
      });
    }
    if (condition) {
      const good = [condition, then ?? {}].map((one) => this.of(one as Translated));
      const yes: Evaluate = (value, evaluated) => good.forEach((one) => void one(value, evaluated));
      all.push(this.#where(condition as Translated, yes, otherwise ? this.of(otherwise as Translated) : null));
    }
    return all;
  }

  #where(schema: Translated, yes: Evaluate, no: Evaluate | null): Evaluate {
    const unit = this.#compiler.unit(schema);
    return (value, evaluated) =>
      (unit.validate(value, { instancePath: evaluated.path } as Place) ? yes : no)?.(value, evaluated);
  }

  #definition(name: string): Evaluate {
    this.#compiler.unit({ refers: name });
    if (!this.#named.has(name)) {
      this.#named.set(name, (value, evaluated) => this.#named.get(name)!(value, evaluated));
      this.#named.set(name, this.of(this.#compiler.find(name)));
    }
    return this.#named.get(name)!;
  }
}

const listOf = (schemas: unknown): Translated[] => (Array.isArray(schemas) ? schemas : []);

const allMembers: Evaluate = (_, evaluated) => {
  evaluated.members = 'all';
};
const allEntries: Evaluate = (_, evaluated) => {
  evaluated.entries = 'all';
};

function members(names: ReadonlySet<string>): Evaluate {
  return (value, evaluated) => {
    if (!Array.isArray(value)) for (const name of names) if (Object.hasOwn(value, name)) evaluated.addMember(name);
  };
}

function matching(source: string): Evaluate {
  const pattern = compilePattern(source);
  return (value, evaluated) => {
    if (!Array.isArray(value)) for (const name of Object.keys(value)) if (pattern.test(name)) evaluated.addMember(name);
  };
}

function entries(test: (list: readonly unknown[], index: number, path: string) => boolean): Evaluate {
  return (value, evaluated) => {
    if (Array.isArray(value)) for (const i of value.keys()) if (test(value, i, evaluated.path)) evaluated.addEntry(i);
  };
}
