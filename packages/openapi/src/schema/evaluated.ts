import { compilePattern } from '../patterns/pattern.ts';
import type { Translated } from './definitions.ts';
import { type Place, placeOf, type Units } from './unit.ts';

export interface Evaluated {
  readonly path: string;
  /** Names of members or numbers of entries. */
  readonly keys: Set<string | number>;
}

/** The object or list must match. */
export type Evaluate = (value: object, evaluated: Evaluated) => void;

export const keysOf = (value: object): Iterable<string | number> =>
  Array.isArray(value) ? value.keys() : Object.keys(value);

/**
 * For JSON Schema 2020-12 section 11. Ajv's own tracking is wrong for `contains` and for names such as `constructor`.
 */
export class Evaluations {
  readonly #units: Units;
  readonly #named = new Map<string, Evaluate>();

  constructor(units: Units) {
    this.#units = units;
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
    if (properties) all.push(where('object', (name) => Object.hasOwn(properties, name)));
    for (const source of Object.keys(patternProperties ?? {})) {
      const pattern = compilePattern(source);
      all.push(where('object', (name) => pattern.test(name as string)));
    }
    if ('additionalProperties' in schema || 'leftMembers' in schema) all.push(where('object', () => true));
    if ('items' in schema || 'leftEntries' in schema) all.push(where('array', () => true));
    if (Array.isArray(prefixItems)) all.push(where('array', (i) => Number(i) < prefixItems.length));
    if (holds) {
      const unit = this.#units.unit((holds as { schema: Translated }).schema);
      all.push(where('array', (i, list, path) => unit.validate(list[i], placeOf(list, i, path))));
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
    const unit = this.#units.unit(schema);
    return (value, evaluated) =>
      (unit.validate(value, { instancePath: evaluated.path } as Place) ? yes : no)?.(value, evaluated);
  }

  #definition(name: string): Evaluate {
    this.#units.unit({ refers: name });
    if (!this.#named.has(name)) {
      this.#named.set(name, (value, evaluated) => this.#named.get(name)!(value, evaluated));
      this.#named.set(name, this.of(this.#units.find(name)));
    }
    return this.#named.get(name)!;
  }
}

const listOf = (schemas: unknown): Translated[] => (Array.isArray(schemas) ? schemas : []);

function where(
  kind: 'object' | 'array',
  test: (key: string | number, value: Record<string | number, unknown>, path: string) => boolean,
): Evaluate {
  return (value, { keys, path }) => {
    if (Array.isArray(value) !== (kind === 'array')) return;
    for (const key of keysOf(value)) if (test(key, value as Record<string | number, unknown>, path)) keys.add(key);
  };
}
