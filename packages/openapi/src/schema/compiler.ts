import { Ajv2020 } from 'ajv/dist/2020.js';
import { STRING_FORMATS } from '../formats.ts';
import type { Steps } from '../slices.ts';
import { anyOf, arranged, unions } from './alternatives.ts';
import { applied } from './applied.ts';
import { cut, withFirstLook } from './cut.ts';
import type { Translated } from './definitions.ts';
import { marking } from './either.ts';
import { KEYWORDS } from './keywords.ts';
import { LOOPS, weightOf } from './loops.ts';
import { FREE, once } from './memory.ts';
import { tested, type Unit, type Units, type Validator } from './pauses.ts';

/** A bug: what is not a schema is reported when it is translated. */
export class CompilationError extends Error {
  /** The name of the definition; `null` for another schema. */
  readonly definition: string | null;

  constructor(definition: string | null, cause: unknown) {
    super(`cannot be compiled (${(cause as Error).message})`, { cause });
    this.definition = definition;
  }
}

interface OwnUnit {
  readonly definition: string | null;
  validate: Validator;
  weight: number;
  schema: (() => Translated) | null;
  readonly refers: Set<OwnUnit>;
  complete: boolean;
}

const FORMATS = Object.fromEntries(
  Object.entries(STRING_FORMATS).map(([name, format]) => [
    name,
    (text: string) => tested(format, text, format),
  ]),
);

const NOT_COMPILED: Validator = () => {
  throw new Error('a schema is applied before it is compiled');
};

/** An ajv instance keeps every schema that it compiled, so it is replaced after this many. */
const RENEWED_AFTER = 100;

/**
 * Definitions are looked up at run time: ajv would compile everything reachable recursively, which
 * overflows the stack for large documents. `thorough`: checks find all faults, not only the first.
 */
export function createCompiler(
  thorough: boolean,
  find: (name: string) => Translated,
) {
  const definitions = new Map<string, OwnUnit>();
  const inside = new WeakMap<Translated, OwnUnit>();
  let ajv: Ajv2020 | null = null;
  let count = 0;
  let compiling: OwnUnit | null = null;

  /**
   * Shared by all users of the schema: without sharing, the units would double with every level.
   */
  function unitOf(schema: Translated): OwnUnit {
    const { refers, ...rest } = schema;
    const name =
      typeof refers === 'string' && Object.keys(rest).length === 0
        ? refers
        : null;
    let unit = name === null ? inside.get(schema) : definitions.get(name);
    if (!unit) {
      unit = {
        definition: name,
        schema: () => (name === null ? schema : find(name)),
        refers: new Set(),
        complete: false,
        weight: 0,
        validate: NOT_COMPILED,
      };
      if (name === null) inside.set(schema, unit);
      else definitions.set(name, unit);
    }
    compiling?.refers.add(unit);
    return unit;
  }

  /** Compiles the schema, and all that a check of it may need. */
  function* steps(unit: Unit): Steps {
    const reached = new Set([unit as OwnUnit]);
    for (const one of reached) {
      if (one.complete) continue;
      if (one.schema) {
        compile(one, one.schema());
        yield;
      }
      for (const next of one.refers) reached.add(next);
    }
    for (const one of reached) one.complete = true;
  }

  function compile(unit: OwnUnit, schema: Translated): void {
    compiling = unit;
    try {
      compileAlone(unit, schema);
    } catch (error) {
      throw new CompilationError(unit.definition, error);
    } finally {
      compiling = null;
    }
  }

  function compileAlone(unit: OwnUnit, schema: Translated): void {
    const whole = cut(
      arranged(thorough ? schema : withFirstLook(schema, find), find),
    );
    if (count++ % RENEWED_AFTER === 0) ajv = createAjv();
    // Ajv's unused properties would keep all schemas in memory.
    const compiled = Object.assign(ajv!.compile(whole), {
      schema: undefined,
      schemaEnv: undefined,
    });
    // A list of faults must not depend on where a check paused.
    unit.validate = once(schema, compiled, thorough ? 0 : FREE);
    unit.weight = weightOf(whole);
    unit.schema = null;
  }

  function createAjv() {
    const ajv = new Ajv2020({
      allErrors: thorough,
      formats: FORMATS,
      strictSchema: true,
      strictTypes: false,
      strictTuples: false,
      allowMatchingProperties: true,
      ownProperties: true,
      messages: false,
      validateSchema: false,
      meta: false,
      addUsedSchema: false,
      logger: false,
      // Takes a quarter of the CPU of loading a contract, and saves none when values are checked.
      code: { optimize: false },
    });
    // Its tracking of evaluated members costs time; `evaluated.ts` is exact.
    ajv.opts.unevaluated = false;
    // `endOfFaults` counts the errors of those before it.
    for (const keyword of [...unions(units), ...applied(units), ...KEYWORDS])
      ajv.removeKeyword(keyword.keyword as string).addKeyword(keyword);
    for (const [keyword, code] of Object.entries({ ...LOOPS, anyOf })) {
      const rule = ajv.RULES.all[keyword];
      if (typeof rule === 'object') Object.assign(rule.definition, { code });
    }
    for (const keyword of ['anyOf', 'oneOf']) {
      const rule = ajv.RULES.all[keyword];
      if (typeof rule !== 'object' || !('code' in rule.definition)) continue;
      Object.assign(rule.definition, { code: marking(rule.definition.code) });
    }
    return ajv;
  }

  const units: Units = { find, unit: unitOf };
  return { unit: unitOf, steps };
}
