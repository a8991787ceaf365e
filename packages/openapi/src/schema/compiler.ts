import type { Ajv } from 'ajv';
import type { Dialect } from '../dialect/dialect.ts';
import { STRING_FORMATS } from '../formats.ts';
import { compilePattern } from '../patterns/pattern.ts';
import type { Steps } from '../slices.ts';
import { anyOf, arranged, unions } from './alternatives.ts';
import { applied } from './applied.ts';
import { cut, withFirstLook } from './cut.ts';
import type { Translated } from './definitions.ts';
import { marking } from './either.ts';
import { KEYWORDS } from './keywords.ts';
import { LOOPS, weightOf } from './loops.ts';
import { FREE, INCOMPLETE, once } from './memory.ts';
import { tested, type Unit, type Validator, work } from './pauses.ts';

interface OwnUnit {
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

/** Ajv identifies them by their text. */
const regExp = Object.assign(
  (source: string) => {
    const pattern = compilePattern(source);
    return {
      test: (text: string) => pattern.test(text),
      toString: () => source,
    };
  },
  { code: 'new RegExp' },
);

/** An ajv instance keeps every schema that it compiled, so it is replaced after this many. */
const RENEWED_AFTER = 100;

/**
 * Definitions are looked up at run time: ajv would compile everything reachable recursively, which
 * overflows the stack for large documents.
 */
export class Compiler {
  readonly find: (name: string) => Translated;
  readonly #definitions = new Map<string, OwnUnit>();
  readonly #inside = new WeakMap<Translated, OwnUnit>();
  readonly #thorough: boolean;
  readonly #dialect: Dialect;
  #ajv: Ajv | null = null;
  #compiled = 0;
  #compiling: OwnUnit | null = null;

  /** `thorough`: checks find all faults, not only the first. */
  constructor(
    thorough: boolean,
    dialect: Dialect,
    find: (name: string) => Translated,
  ) {
    this.#thorough = thorough;
    this.#dialect = dialect;
    this.find = find;
  }

  /**
   * Shared by all users of the schema: without sharing, the units would double with every level.
   */
  unit(schema: Translated): OwnUnit {
    const { refers, ...rest } = schema;
    const name =
      typeof refers === 'string' && Object.keys(rest).length === 0
        ? refers
        : null;
    let unit =
      name === null ? this.#inside.get(schema) : this.#definitions.get(name);
    if (!unit) {
      unit = this.#create(() => (name === null ? schema : this.find(name)));
      if (name === null) this.#inside.set(schema, unit);
      else this.#definitions.set(name, unit);
    }
    this.#compiling?.refers.add(unit);
    return unit;
  }

  *steps(unit: Unit): Steps {
    const reached = new Set([unit as OwnUnit]);
    for (const one of reached) {
      if (one.complete) continue;
      if (one.schema) {
        this.#compile(one, one.schema());
        yield;
      }
      for (const next of one.refers) reached.add(next);
    }
    for (const one of reached) one.complete = true;
  }

  #create(schema: () => Translated): OwnUnit {
    const unit: OwnUnit = {
      schema,
      refers: new Set(),
      complete: false,
      weight: 0,
      validate: (value, context) => {
        if (this.#thorough && work.pass.allowance-- <= 0) throw INCOMPLETE;
        this.#compile(unit, schema());
        // To compile takes as long as a step.
        work.run?.pause(null);
        return unit.validate(value, context);
      },
    };
    return unit;
  }

  #compile(unit: OwnUnit, schema: Translated): void {
    this.#compiling = unit;
    const whole = cut(
      arranged(
        this.#thorough ? schema : withFirstLook(schema, this.find),
        this.find,
      ),
    );
    if (this.#compiled++ % RENEWED_AFTER === 0) this.#ajv = this.#createAjv();
    // Ajv's unused properties would keep all schemas in memory.
    const compiled = Object.assign(this.#ajv!.compile(whole), {
      schema: undefined,
      schemaEnv: undefined,
    });
    // A list of faults must not depend on where a check paused.
    unit.validate = once(schema, compiled, this.#thorough ? 0 : FREE);
    unit.weight = weightOf(whole);
    unit.schema = null;
    this.#compiling = null;
  }

  #createAjv(): Ajv {
    const ajv = this.#dialect.createAjv({
      allErrors: this.#thorough,
      formats: FORMATS,
      strictSchema: true,
      strictTypes: false,
      strictTuples: false,
      ownProperties: true,
      messages: false,
      validateSchema: false,
      meta: false,
      addUsedSchema: false,
      logger: false,
      code: { optimize: true, regExp },
    });
    // `endOfFaults` counts the errors of those before it.
    for (const keyword of [...unions(this), ...applied(this), ...KEYWORDS])
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
}
