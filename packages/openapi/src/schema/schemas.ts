import { serialize } from 'node:v8';
import type { ErrorObject } from 'ajv';
import type { Document } from '../document/document.ts';
import type { Json } from '../document/source.ts';
import { faultOf, MAX_FAULTS, NONE, type ValueFault } from '../faults.ts';
import type { Findings } from '../findings.ts';
import { noFiles, unlikeIntegers } from '../value-marks.ts';
import { Compiler, NOT_COMPILED } from './compiler.ts';
import type { Definitions, Translated } from './definitions.ts';
import type { Direction } from './directions.ts';
import { forget, memory } from './memory.ts';
import { Translator } from './translate.ts';
import type { Unit } from './unit.ts';

/** Answers the faults of a value; for a good value, the shared empty list. `written`: how its JSON text is written. */
export type Check = (value: unknown, written?: { readonly unlikeInteger?: boolean }) => readonly ValueFault[];

/** The most schemas that a bad value makes the search for all its faults compile; it takes about a millisecond for each. */
const MOST_COMPILED = 20;

/** The longest schema of which equal ones share a check, in bytes. Parameters of large documents are the same few, often. */
const LONGEST_SHARED = 500;

interface Made {
  readonly check: Check;
  /** `null` for a schema that every value fits. */
  readonly unit: Unit | null;
}

/** Makes the checks of the schemas of a document. A check compiles its schema when it is first called. */
export class Schemas {
  readonly #document: Document;
  readonly #translator: Translator;
  /** Stops at the first fault; every request uses it. */
  readonly #quick: Compiler;
  /** Finds all faults; only values known to be bad use it. */
  readonly #thorough: Compiler;
  readonly #made = { request: new Map<Json, Made>(), response: new Map<Json, Made>() };
  readonly #shared = new Map<string, Made>();
  #gathered: Set<Unit> | null = null;

  /** `known` are the definitions that another instance has found in the same document. */
  constructor(document: Document, findings: Findings, known?: Definitions) {
    this.#document = document;
    this.#translator = new Translator(document, findings, known);
    const find = (name: string) => this.#translator.definition(name);
    this.#quick = new Compiler(false, document.dialect, find);
    this.#thorough = new Compiler(true, document.dialect, find);
  }

  get definitions(): Definitions {
    return this.#translator.found;
  }

  /** Reports what is wrong with the schema, and with all that it refers to. */
  check(schema: Json, direction: Direction): Check {
    let made = this.#made[direction].get(schema);
    if (!made) {
      made = this.#make(this.#translator.translate(schema, direction));
      this.#made[direction].set(schema, made);
    }
    if (made.unit) this.#gathered?.add(made.unit);
    return made.check;
  }

  /** What `work` returns, and the steps that compile the checks it asked for, each a part of what has to be compiled. */
  gather<T>(work: () => T): { readonly made: T; readonly steps: () => Generator<void, void, void> } {
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

  /** Checks the schemas that nothing uses, and reports circles. Call it once, after the last schema. */
  finish(): void {
    const components = this.#document.object(this.#document.root.components);
    for (const [, schema] of this.#document.members(components?.schemas)) {
      const node = this.#document.object(schema);
      if (node) this.#translator.translate(node, 'request');
    }
    this.#translator.reportCircles();
  }

  #make(translated: Translated): Made {
    if (Object.keys(translated).length === 0) return { check: () => NONE, unit: null };
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
    const compiler = this.#thorough;
    const translator = this.#translator;
    let alternatives: boolean | undefined;
    const hasAlternatives = () => {
      alternatives ??= translator.hasAlternatives(schema);
      return alternatives;
    };
    function find(value: unknown): readonly ValueFault[] {
      try {
        if (quick.validate(value)) return NONE;
      } catch (error) {
        if (!isTooDeep(error)) throw error;
        return [{ pointer: '', message: 'has too many schemas inside each other to be checked', rule: 'complexity' }];
      } finally {
        forget();
      }
      const first = quick.validate.errors ?? [];
      compiler.allowance = MOST_COMPILED;
      return faultsBy(thorough, value, hasAlternatives) ?? [...faultsOf(first), MORE];
    }

    const check: Check = (value, written) => {
      unlikeIntegers.root = written?.unlikeInteger === true;
      const faults = find(value);
      // Behind the check nobody asks for them, and the next one is quick.
      unlikeIntegers.any = false;
      noFiles.any = false;
      return faults;
    };
    return { check, unit: quick };
  }
}

/**
 * All faults of a bad value, up to a limit. At the limit the search throws the errors found so far; in a schema with
 * alternatives they may belong to an alternative that does not count. `null` means that the first error must do.
 */
function faultsBy(thorough: Unit, value: unknown, hasAlternatives: () => boolean): readonly ValueFault[] | null {
  try {
    thorough.validate(value);
    const faults = faultsOf(thorough.validate.errors ?? []);
    // No list of a bad value may be empty, for that would let it pass.
    if (faults.length === 0) return null;
    return memory.dropped && faults.length < MAX_FAULTS ? [...faults, MORE] : faults;
  } catch (thrown) {
    if (isTooDeep(thrown) || thrown === NOT_COMPILED) return null;
    if (!Array.isArray(thrown)) throw thrown;
    return hasAlternatives() ? null : faultsOf(thrown);
  } finally {
    forget();
  }
}

/** Said where only the first faults are known. */
const MORE: ValueFault = Object.freeze({ pointer: '', message: 'may have more faults than are told', rule: 'more' });

/** No more stack: a schema that contains itself, which only a lenient reading leaves in a document. */
const isTooDeep = (error: unknown): boolean => error instanceof RangeError;

function faultsOf(errors: readonly ErrorObject[]): ValueFault[] {
  const faults = new Map<string, ValueFault>();
  for (const error of errors) {
    const fault = faultOf(error);
    if (fault) faults.set(`${fault.pointer} ${fault.message}`, fault);
    if (faults.size === MAX_FAULTS) break;
  }
  return [...faults.values()];
}
