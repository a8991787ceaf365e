import type { ErrorObject } from 'ajv';
import type { Document } from '../document/document.ts';
import type { Json } from '../document/source.ts';
import { faultOf, MAX_FAULTS, NONE, type ValueFault } from '../faults.ts';
import type { Findings } from '../findings.ts';
import { unlikeIntegers } from '../written.ts';
import { Compiler } from './compiler.ts';
import { EXHAUSTED, purse } from './purse.ts';
import { type Direction, type Translated, Translator } from './translate.ts';

/** Answers the faults of a value; for a good value, the shared empty list. `written`: how its JSON text is written. */
export type Check = (value: unknown, written?: { readonly unlikeInteger?: boolean }) => readonly ValueFault[];

/** Compiles the schemas of a document. */
export class Schemas {
  readonly #document: Document;
  readonly #translator: Translator;
  readonly #findings: Findings;
  /** Stops at the first fault; every request uses it. */
  readonly #quick = new Compiler(false);
  /** Finds all faults; only values known to be bad use it. */
  readonly #thorough = new Compiler(true);
  readonly #defined = new Set<string>();
  readonly #checks = { request: new Map<Json, Check>(), response: new Map<Json, Check>() };

  constructor(document: Document, findings: Findings) {
    this.#document = document;
    this.#translator = new Translator(document, findings);
    this.#findings = findings;
  }

  /** Reports a schema that cannot be compiled; its check finds no fault. */
  check(schema: Json, direction: Direction): Check {
    let check = this.#checks[direction].get(schema);
    if (!check) {
      check = this.#compile(schema, direction);
      this.#checks[direction].set(schema, check);
    }
    return check;
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

  #compile(schema: Json, direction: Direction): Check {
    const translated = this.#translator.translate(schema, direction);
    if (Object.keys(translated).length === 0) return () => NONE;
    try {
      for (const [name, definition] of this.#translator.definitions) this.#define(name, definition);
      return this.#createCheck(translated);
    } catch (error) {
      this.#findings.problem(schema, null, `the schema cannot be compiled: ${(error as Error).message}`);
      return () => NONE;
    }
  }

  #define(name: string, definition: Translated): void {
    if (this.#defined.has(name)) return;
    this.#defined.add(name);
    this.#quick.define(name, definition);
    this.#thorough.define(name, definition);
  }

  #createCheck(schema: Translated): Check {
    const quick = this.#quick.compile(schema);
    const thorough = this.#thorough.compile(schema);
    const translator = this.#translator;
    let alternatives: boolean | undefined;
    const hasAlternatives = () => {
      alternatives ??= translator.hasAlternatives(schema);
      return alternatives;
    };
    function find(value: unknown): readonly ValueFault[] {
      purse.refill();
      try {
        if (quick(value)) return NONE;
      } catch (error) {
        if (!isTooMuch(error)) throw error;
        return [
          { pointer: '', message: 'has too many alternatives inside each other to be checked', rule: 'complexity' },
        ];
      }
      const first = quick.errors ?? [];
      const all = errorsOf(thorough, value, hasAlternatives);
      return all ? faultsOf(all) : [...faultsOf(first), MORE];
    }

    return function check(value, written) {
      unlikeIntegers.root = written?.unlikeInteger === true;
      const faults = find(value);
      // Behind the check nobody asks for them, and the next one is quick.
      unlikeIntegers.any = false;
      return faults;
    };
  }
}

/**
 * All errors of a bad value, up to a limit. At the limit the search throws the errors found so far; in a schema with
 * alternatives they may belong to an alternative that does not count. `null` means that the first error must do.
 */
function errorsOf(
  thorough: { (value: unknown): boolean; errors?: null | ErrorObject[] },
  value: unknown,
  hasAlternatives: () => boolean,
): readonly ErrorObject[] | null {
  purse.refill();
  try {
    thorough(value);
    return thorough.errors ?? null;
  } catch (thrown) {
    if (isTooMuch(thrown)) return null;
    if (!Array.isArray(thrown)) throw thrown;
    return hasAlternatives() ? null : thrown;
  }
}

/** Said where only the first faults are known. */
const MORE: ValueFault = Object.freeze({ pointer: '', message: 'may have more faults than are told', rule: 'more' });

/** No more steps, or no more stack: a schema that contains itself, which only a lenient reading leaves in a document. */
const isTooMuch = (error: unknown): boolean => error === EXHAUSTED || error instanceof RangeError;

function faultsOf(errors: readonly ErrorObject[]): ValueFault[] {
  const faults = new Map<string, ValueFault>();
  for (const error of errors) {
    const fault = faultOf(error);
    if (fault) faults.set(`${fault.pointer} ${fault.message}`, fault);
    if (faults.size === MAX_FAULTS) break;
  }
  return [...faults.values()];
}
