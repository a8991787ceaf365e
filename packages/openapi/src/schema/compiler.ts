import { _, type Ajv, type CodeKeywordDefinition, Name, str } from 'ajv';
import type { Dialect } from '../dialect/dialect.ts';
import { STRING_FORMATS } from '../formats.ts';
import { Patterns } from '../patterns/pattern.ts';
import { withFirstLook } from './alternatives.ts';
import { applied } from './applied.ts';
import { cut } from './cut.ts';
import type { Translated } from './definitions.ts';
import { Evaluations } from './evaluated.ts';
import { constant, KEYWORDS } from './keywords.ts';
import { added } from './memory.ts';
import { once } from './once.ts';
import type { Unit, Validator } from './unit.ts';

interface OwnUnit {
  validate: Validator;
  schema: (() => Translated) | null;
  readonly refers: Set<OwnUnit>;
  complete: boolean;
}

const patterns = new Patterns();

/** Ajv identifies them by their text. */
const regExp = Object.assign(
  (source: string) => {
    const pattern = patterns.compile(source);
    return { test: (text: string) => pattern.test(text), toString: () => source };
  },
  { code: 'new RegExp' },
);

/** An ajv instance keeps every schema that it compiled, so it is replaced after this many. */
const RENEWED_AFTER = 100;

const PART = 'part ';

export const NOT_COMPILED = Symbol('too much is not compiled yet');

/**
 * Definitions are looked up at run time: ajv would compile everything reachable recursively, which overflows the stack
 * for large documents.
 */
export class Compiler {
  /** At zero, a call throws NOT_COMPILED. */
  allowance = Number.POSITIVE_INFINITY;
  readonly #definitions = new Map<string, OwnUnit>();
  readonly #find: (name: string) => Translated;
  readonly #thorough: boolean;
  readonly #dialect: Dialect;
  readonly #evaluations: Evaluations;
  #ajv: Ajv | null = null;
  #compiled = 0;
  #compiling: OwnUnit | null = null;
  readonly #inside = new WeakMap<Translated, OwnUnit>();
  #parts = 0;

  /** `thorough`: checks find all faults, not only the first. */
  constructor(thorough: boolean, dialect: Dialect, find: (name: string) => Translated) {
    this.#thorough = thorough;
    this.#dialect = dialect;
    this.#find = find;
    const unit = (schema: Translated) => this.#inner(schema);
    this.#evaluations = new Evaluations({ unit, referred: (name) => this.#referred(name), find });
  }

  unit(schema: Translated): Unit {
    const { refers, ...rest } = schema;
    return Object.keys(rest).length === 0 ? this.#definition(refers as string) : this.#unit(() => schema);
  }

  *steps(unit: Unit): Generator<void, void, void> {
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

  #unit(schema: () => Translated): OwnUnit {
    const unit: OwnUnit = {
      schema,
      refers: new Set(),
      complete: false,
      validate: (value, context) => {
        if (this.allowance-- <= 0) throw NOT_COMPILED;
        this.#compile(unit, schema());
        return unit.validate(value, context);
      },
    };
    return unit;
  }

  #compile(unit: OwnUnit, schema: Translated): void {
    this.#compiling = unit;
    const find = (name: string) => (name.startsWith(PART) ? {} : this.#find(name));
    const whole = cut(this.#thorough ? schema : withFirstLook(schema, find), (part) => {
      const name = `${PART}${this.#parts++}`;
      this.#definitions.set(
        name,
        this.#unit(() => part),
      );
      return name;
    });
    if (this.#compiled++ % RENEWED_AFTER === 0) this.#ajv = this.#createAjv();
    // Ajv's unused properties would keep all schemas in memory.
    const compiled = Object.assign(this.#ajv!.compile(whole), { schema: undefined, schemaEnv: undefined });
    unit.validate = once(schema, compiled);
    unit.schema = null;
  }

  #createAjv(): Ajv {
    const ajv = this.#dialect.createAjv({
      allErrors: this.#thorough,
      formats: { ...STRING_FORMATS },
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
    // Before `endOfFaults`, which counts its errors.
    ajv.addKeyword(refers((name) => this.#referred(name)));
    for (const keyword of KEYWORDS) ajv.removeKeyword(keyword.keyword as string).addKeyword(keyword);
    const unit = (schema: Translated) => this.#inner(schema);
    for (const keyword of applied({ unit, evaluate: (schema) => this.#evaluations.of(schema) }))
      ajv.addKeyword(keyword);
    return ajv;
  }

  #definition(name: string): OwnUnit {
    const known = this.#definitions.get(name);
    if (known) return known;
    const unit = this.#unit(() => this.#find(name));
    this.#definitions.set(name, unit);
    return unit;
  }

  /** Shared by all users of the schema: without sharing, the units would double with every level. */
  #inner(schema: Translated): Unit {
    const unit = this.#inside.get(schema) ?? this.#unit(() => schema);
    this.#inside.set(schema, unit);
    this.#compiling?.refers.add(unit);
    return unit;
  }

  #referred(name: string): OwnUnit {
    const unit = this.#definition(name);
    this.#compiling?.refers.add(unit);
    return unit;
  }
}

const instancePath = new Name('instancePath');

function refers(find: (name: string) => Unit): CodeKeywordDefinition {
  return {
    keyword: 'refers',
    post: true,
    code(cxt) {
      const { data, gen, it } = cxt;
      const validate = _`${constant(cxt, find(cxt.schema as string))}.validate`;
      const path = str`${instancePath}${it.errorPath}`;
      const place = _`{instancePath: ${path}, parentData: ${it.parentData}, parentDataProperty: ${it.parentDataProperty}}`;
      cxt.result(_`${validate}(${data}, ${place})`, undefined, () => {
        gen.code(_`vErrors = ${constant(cxt, added)}(vErrors, ${validate}.errors)`);
        gen.code(_`errors = vErrors.length`);
      });
    },
  };
}
