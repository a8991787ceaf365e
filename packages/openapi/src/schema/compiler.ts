import type { Ajv } from 'ajv';
import type { Dialect } from '../dialect/dialect.ts';
import { STRING_FORMATS } from '../formats.ts';
import { compilePattern } from '../patterns/pattern.ts';
import { applied, type Part } from './applied.ts';
import type { Translated } from './definitions.ts';
import { KEYWORDS } from './keywords.ts';
import { INCOMPLETE, once } from './memory.ts';
import type { Unit, Validator } from './unit.ts';

interface OwnUnit {
  validate: Validator;
  schema: (() => Translated) | null;
  readonly refers: Set<OwnUnit>;
  complete: boolean;
}

/** Ajv identifies them by their text. */
const regExp = Object.assign(
  (source: string) => {
    const pattern = compilePattern(source);
    return { test: (text: string) => pattern.test(text), toString: () => source };
  },
  { code: 'new RegExp' },
);

/** An ajv instance keeps every schema that it compiled, so it is replaced after this many. */
const RENEWED_AFTER = 100;

/**
 * Definitions are looked up at run time: ajv would compile everything reachable recursively, which overflows the stack
 * for large documents.
 */
export class Compiler {
  /** At zero, a call that would compile throws INCOMPLETE. */
  allowance = Number.POSITIVE_INFINITY;
  readonly find: (name: string) => Translated;
  readonly #definitions = new Map<string, OwnUnit>();
  readonly #inside = new WeakMap<Translated, OwnUnit>();
  readonly #thorough: boolean;
  readonly #dialect: Dialect;
  #ajv: Ajv | null = null;
  #compiled = 0;
  #compiling: OwnUnit | null = null;

  /** `thorough`: checks find all faults, not only the first. */
  constructor(thorough: boolean, dialect: Dialect, find: (name: string) => Translated) {
    this.#thorough = thorough;
    this.#dialect = dialect;
    this.find = find;
  }

  /** Shared by all users of the schema: without sharing, the units would double with every level. */
  unit(schema: Translated): OwnUnit {
    const { refers, ...rest } = schema;
    const name = typeof refers === 'string' && Object.keys(rest).length === 0 ? refers : null;
    let unit = name === null ? this.#inside.get(schema) : this.#definitions.get(name);
    if (!unit) {
      unit = this.#create(() => (name === null ? schema : this.find(name)));
      if (name === null) this.#inside.set(schema, unit);
      else this.#definitions.set(name, unit);
    }
    this.#compiling?.refers.add(unit);
    return unit;
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

  #create(schema: () => Translated): OwnUnit {
    const unit: OwnUnit = {
      schema,
      refers: new Set(),
      complete: false,
      validate: (value, context) => {
        if (this.allowance-- <= 0) throw INCOMPLETE;
        this.#compile(unit, schema());
        return unit.validate(value, context);
      },
    };
    return unit;
  }

  #compile(unit: OwnUnit, schema: Translated): void {
    this.#compiling = unit;
    const whole = cut(this.#thorough ? schema : withFirstLook(schema, this.find));
    if (this.#compiled++ % RENEWED_AFTER === 0) this.#ajv = this.#createAjv();
    // Ajv's unused properties would keep all schemas in memory.
    const compiled = Object.assign(this.#ajv!.compile(whole), { schema: undefined, schemaEnv: undefined });
    unit.validate = once(schema, compiled);
    unit.schema = null;
    this.#compiling = null;
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
    // Before `endOfFaults`, which counts their errors.
    for (const keyword of applied(this)) ajv.addKeyword(keyword);
    for (const keyword of KEYWORDS) ajv.removeKeyword(keyword.keyword as string).addKeyword(keyword);
    return ajv;
  }
}

const ALTERNATIVES = ['anyOf', 'oneOf'] as const;
const FIRST = ['type', 'kinds', 'required'] as const;

/** Repeats types and required members of named alternatives: most fail, and a look costs less than a call. */
function withFirstLook(schema: Translated, find: (name: string) => Translated): Translated {
  const result = mapInside(schema, (part) => withFirstLook(part, find));
  for (const list of ALTERNATIVES) {
    if (list in result) result[list] = (result[list] as Translated[]).map((part) => lookedAt(part, find));
  }
  return result;
}

function lookedAt(alternative: Translated, find: (name: string) => Translated): Translated {
  const { refers } = alternative;
  if (typeof refers !== 'string') return alternative;
  const definition = find(refers);
  const first = FIRST.filter((keyword) => keyword in definition).map((keyword) => [keyword, definition[keyword]]);
  return { ...Object.fromEntries(first), ...alternative };
}

/** In one go, including inner schemas, which takes about a millisecond. */
const LARGE = 40;
/** A reference to a smaller schema would cost as much. */
const SMALL = 5;

const ONE = ['items', 'additionalProperties', 'not', 'if', 'then', 'else'] as const;
const LISTS = ['allOf', 'oneOf', 'anyOf', 'prefixItems'] as const;
const MAPS = ['properties', 'patternProperties', 'dependentSchemas'] as const;

interface Cut {
  schema: Translated;
  readonly size: number;
}

/** A schema is compiled in one go, and must not block the event loop for long. */
const cut = (schema: Translated): Translated => cutUp(schema).schema;

function cutUp(schema: Translated): Cut {
  const inner = new Map<Translated, Cut>();
  mapInside(schema, (part) => {
    inner.set(part, cutUp(part));
    return part;
  });
  let size = Object.keys(schema).length;
  for (const part of inner.values()) size += part.size;
  const largest = [...inner.values()].sort((a, b) => b.size - a.size);
  for (const part of largest) {
    if (size <= LARGE || part.size < SMALL) break;
    size -= part.size - 1;
    part.schema = reference(part.schema);
  }
  return { schema: mapInside(schema, (part) => inner.get(part)!.schema), size };
}

/** A check of many values counts the faults of all of them, so `endOfFaults` stays with the reference. */
function reference({ endOfFaults, ...part }: Translated): Translated {
  return { refers: [part] satisfies Part, ...(endOfFaults === true && { endOfFaults }) };
}

function mapInside(schema: Translated, change: (part: Translated) => Translated): Translated {
  const result = { ...schema };
  for (const key of ONE) if (key in schema) result[key] = change(schema[key] as Translated);
  for (const key of LISTS) if (key in schema) result[key] = (schema[key] as Translated[]).map(change);
  for (const key of MAPS) {
    if (!(key in schema)) continue;
    const members = Object.entries(schema[key] as Record<string, Translated>);
    result[key] = Object.fromEntries(members.map(([name, member]) => [name, change(member)]));
  }
  return result;
}
