import { serialize } from 'node:v8';
import type { ErrorObject } from 'ajv';
import type { Document } from '../document/document.ts';
import type { Json } from '../document/source.ts';
import { faultOf, MAX_FAULTS, NONE, type ValueFault } from '../faults.ts';
import type { Reading } from '../marks.ts';
import { atOnce, type Steps } from '../slices.ts';
import { Compiler } from './compiler.ts';
import type { Definitions, Translated } from './definitions.ts';
import type { Direction } from './directions.ts';
import { isOfAlternative } from './either.ts';
import { INCOMPLETE } from './memory.ts';
import { inPass, inSteps, Pass, type Unit, work } from './pauses.ts';
import { createTranslator, type Translator } from './translate.ts';

type Written = Pick<Reading, 'marks'>;

type Faults = readonly ValueFault[];

export interface Check {
  (value: unknown, written?: Written): Faults;
  /** The same in steps of `work`; others may be checked between them. */
  steps(value: unknown, written?: Written, step?: number): Steps<Faults>;
}

/** Of a value without a schema. */
export const FREE: Check = Object.assign(() => NONE, {
  // biome-ignore lint/correctness/useYield: it is a single step.
  *steps(): Steps<Faults> {
    return NONE;
  },
});

/** To find all faults of an invalid value, each in about a millisecond. */
const MOST_COMPILED = 20;

/** In bytes. Large documents often repeat the same few parameters. */
const LONGEST_SHARED = 500;

interface Made {
  readonly check: Check;
  /** `null` for a schema that matches every value. */
  readonly unit: Unit | null;
}

/** A check compiles its schema on its first call. */
export class Schemas {
  readonly document: Document;
  readonly #translator: Translator;
  /** Used for every request. */
  readonly #quick: Compiler;
  /** Used only for invalid values. */
  readonly #thorough: Compiler;
  readonly #made = {
    request: new Map<Json, Made>(),
    response: new Map<Json, Made>(),
  };
  readonly #shared = new Map<string, Made>();
  #gathered: Set<Unit> | null = null;

  constructor(document: Document, known?: Definitions) {
    this.document = document;
    this.#translator = createTranslator(document, known);
    const find = (name: string) => this.#translator.definitions.find(name);
    this.#quick = new Compiler(false, document.dialect, find);
    this.#thorough = new Compiler(true, document.dialect, find);
  }

  get definitions(): Definitions {
    return this.#translator.definitions.translated;
  }

  /** Also reports mistakes in everything that the schema refers to. */
  check(schema: Json, direction: Direction): Check {
    let made = this.#made[direction].get(schema);
    if (!made) {
      made = this.#make(this.#translator.translate(schema, direction));
      this.#made[direction].set(schema, made);
    }
    if (made.unit) this.#gathered?.add(made.unit);
    return made.check;
  }

  gather<T>(work: () => T): {
    readonly made: T;
    readonly steps: () => Steps;
  } {
    const units = new Set<Unit>();
    this.#gathered = units;
    try {
      const made = work();
      const compiler = this.#quick;
      return {
        made,
        *steps() {
          for (const unit of units) yield* compiler.steps(unit);
        },
      };
    } finally {
      this.#gathered = null;
    }
  }

  /** Call it once, after the last schema. */
  finish(): void {
    const { document } = this;
    for (const [, schema] of document.members(
      document.object(document.root.components)?.schemas,
    )) {
      const node = document.object(schema);
      if (node) this.#translator.translate(node, 'request');
    }
    this.#translator.reportCircles();
  }

  #make(translated: Translated): Made {
    if (Object.keys(translated).length === 0)
      return { check: FREE, unit: null };
    const content = serialize(translated);
    if (content.length > LONGEST_SHARED) return this.#createCheck(translated);
    const key = content.toString('latin1');
    const made = this.#shared.get(key) ?? this.#createCheck(translated);
    this.#shared.set(key, made);
    return made;
  }

  #createCheck(schema: Translated): Made {
    const quick = this.#quick.unit(schema);
    const thorough = this.#thorough.unit(schema);
    function* steps(
      value: unknown,
      written?: Written,
      step?: number,
    ): Steps<Faults> {
      const first = yield* inSteps(
        () => verdictOf(quick, value),
        new Pass(written?.marks),
        step,
      );
      if (first === null) return NONE;
      if (first === 'too deep') return [TOO_DEEP];
      const all = yield* inSteps(
        () => searched(thorough, value),
        new Pass(written?.marks, MOST_COMPILED),
        step,
      );
      return all ?? [...faultsOf(first), MORE];
    }
    const check = (value: unknown, written?: Written) =>
      inPass(new Pass(written?.marks), () => verdictOf(quick, value)) === null
        ? NONE
        : atOnce(steps(value, written));
    return { check: Object.assign(check, { steps }), unit: quick };
  }
}

type Errors = readonly ErrorObject[];

const TOO_DEEP: ValueFault = Object.freeze({
  pointer: '',
  message: 'has too many schemas inside each other to be checked',
  rule: 'complexity',
});

/** The first errors, or `null` if all values fit. */
function verdictOf(quick: Unit, value: unknown): Errors | 'too deep' | null {
  try {
    return quick.validate(value) ? null : (quick.validate.errors ?? []);
  } catch (error) {
    if (!isTooDeep(error)) throw error;
    return 'too deep';
  }
}

/** `null`: use the first error. */
function searched(thorough: Unit, value: unknown): Faults | null {
  try {
    thorough.validate(value);
    const faults = faultsOf(thorough.validate.errors ?? []);
    // An empty list would accept the invalid value.
    if (faults.length === 0) return null;
    return work.pass.dropped && faults.length < MAX_FAULTS
      ? [...faults, MORE]
      : faults;
  } catch (thrown) {
    if (isTooDeep(thrown) || thrown === INCOMPLETE) return null;
    // At the limit, the search throws the errors that it has found.
    if (!Array.isArray(thrown)) throw thrown;
    return faultsOf(thrown);
  }
}

const MORE: ValueFault = Object.freeze({
  pointer: '',
  message: 'may have more faults than are listed',
  rule: 'more',
});

/**
 * Stack overflow: a schema that contains itself, which only a lenient reading leaves in a document.
 */
const isTooDeep = (error: unknown) => error instanceof RangeError;

function faultsOf(errors: readonly ErrorObject[]): ValueFault[] {
  const faults = new Map<string, ValueFault>();
  for (const error of errors) {
    const fault = faultOf(error);
    if (!fault) continue;
    const name = `${fault.pointer} ${fault.message}`;
    if (!isOfAlternative(error)) faults.set(name, fault);
    else if (!faults.has(name))
      faults.set(name, {
        ...fault,
        message: `${fault.message} (in one of the schemas)`,
      });
    if (faults.size === MAX_FAULTS) break;
  }
  return [...faults.values()];
}
