import { compilePattern } from '../patterns/pattern.ts';
import { type Choice, chooser, type Translated } from './definitions.ts';
import {
  judge,
  loop,
  namesIn,
  type Place,
  placeOf,
  type Units,
  work,
} from './pauses.ts';

interface Evaluated {
  readonly path: string;
  /** Of the members; `null` for a list. */
  readonly names: readonly string[] | null;
  /** By the number of the member or entry: 1 if it is evaluated. */
  readonly keys: Uint8Array;
}

/** The object or list must match. */
export type Evaluate = (value: object, evaluated: Evaluated) => void;

/** What `evaluate` has found in earlier steps. */
export function evaluatedIn(
  evaluate: Evaluate,
  value: object,
): Omit<Evaluated, 'path'> {
  const { run } = work;
  const cached = run?.find<Omit<Evaluated, 'path'>>(evaluate, value);
  if (cached !== undefined) return cached;
  const names = Array.isArray(value) ? null : namesIn(value);
  const evaluated = {
    names,
    keys: new Uint8Array((names ?? (value as unknown[])).length),
  };
  run?.keep(evaluate, value, evaluated);
  return evaluated;
}

/**
 * For JSON Schema 2020-12 section 11. Ajv's own tracking is wrong for `contains` and for names such
 * as `constructor`.
 */
export function createEvaluations(units: Units) {
  const named = new Map<string, Evaluate>();

  /** Call it while the outer schema is compiled: the schemas that it needs are compiled with it. */
  function evaluationOf(schema: Translated): Evaluate {
    const all = [...ownOf(schema), ...inPlaceOf(schema)];
    return (value, evaluated) => {
      for (const one of all) one(value, evaluated);
    };
  }

  function ownOf(schema: Translated): Evaluate[] {
    const all: Evaluate[] = [];
    const { properties, patternProperties, prefixItems, contains } = schema;
    if (properties)
      all.push(where('object', (name) => Object.hasOwn(properties, name)));
    for (const source of Object.keys(patternProperties ?? {})) {
      const pattern = compilePattern(source);
      all.push(where('object', (name) => pattern.test(name as string)));
    }
    if ('additionalProperties' in schema || 'unevaluatedProperties' in schema)
      all.push(everywhere('object'));
    if ('items' in schema || 'unevaluatedItems' in schema)
      all.push(everywhere('array'));
    if (Array.isArray(prefixItems))
      all.push(everywhere('array', prefixItems.length));
    if (contains) {
      const unit = units.unit((contains as { schema: Translated }).schema);
      all.push(
        where('array', (i, list, path) =>
          judge(unit, list[i], placeOf(list, i, path)),
        ),
      );
    }
    return all;
  }

  function inPlaceOf(schema: Translated): Evaluate[] {
    const {
      refers,
      allOf,
      anyOf,
      oneOf,
      dependentSchemas,
      cases,
      if: condition,
      then,
      else: otherwise,
    } = schema;
    const all = listOf(allOf).map((one) => evaluationOf(one));
    if (typeof refers === 'string') all.push(definitionOf(refers));
    for (const one of [...listOf(anyOf), ...listOf(oneOf)])
      all.push(whereFits(one, evaluationOf(one), null));
    for (const [name, one] of Object.entries(
      (dependentSchemas ?? {}) as Record<string, Translated>,
    )) {
      const evaluate = evaluationOf(one);
      all.push((value, evaluated) => {
        if (!Array.isArray(value) && Object.hasOwn(value, name))
          evaluate(value, evaluated);
      });
    }
    if (cases) {
      const chosen = chooser((cases as [Choice])[0], evaluationOf);
      all.push((value, evaluated) => chosen(value)?.(value, evaluated));
    }
    if (condition) {
      const good = [condition, then ?? {}].map((one) =>
        evaluationOf(one as Translated),
      );
      const yes: Evaluate = (value, evaluated) =>
        good.forEach((one) => void one(value, evaluated));
      all.push(
        whereFits(
          condition as Translated,
          yes,
          otherwise ? evaluationOf(otherwise as Translated) : null,
        ),
      );
    }
    return all;
  }

  function whereFits(
    schema: Translated,
    yes: Evaluate,
    no: Evaluate | null,
  ): Evaluate {
    const unit = units.unit(schema);
    return (value, evaluated) =>
      (judge(unit, value, { instancePath: evaluated.path } as Place)
        ? yes
        : no)?.(value, evaluated);
  }

  function definitionOf(name: string): Evaluate {
    units.unit({ refers: name });
    if (!named.has(name)) {
      named.set(name, (value, evaluated) => named.get(name)!(value, evaluated));
      named.set(name, evaluationOf(units.find(name)));
    }
    return named.get(name)!;
  }

  return evaluationOf;
}

const listOf = (schemas: unknown): Translated[] =>
  Array.isArray(schemas) ? schemas : [];

type Kind = 'object' | 'array';

/** The first ones, or all. */
const everywhere =
  (kind: Kind, most?: number): Evaluate =>
  (value, { keys }) => {
    if (Array.isArray(value) === (kind === 'array')) keys.fill(1, 0, most);
  };

function where(
  kind: Kind,
  test: (
    key: string | number,
    value: Record<string | number, unknown>,
    path: string,
  ) => boolean,
): Evaluate {
  const site = {};
  return (value, { names, keys, path }) => {
    if (Array.isArray(value) !== (kind === 'array')) return;
    loop(site, value, { next: 0 }, keys.length, (i) => {
      if (
        keys[i] === 0 &&
        test(names?.[i] ?? i, value as Record<string | number, unknown>, path)
      )
        keys[i] = 1;
      return true;
    });
  };
}
