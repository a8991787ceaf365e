import { serialize } from 'node:v8';
import type { ErrorObject } from 'ajv';
import type { Document } from '../document/document.ts';
import type { Json } from '../document/source.ts';
import { faultOf, MAX_FAULTS, NONE, type ValueFault } from '../faults.ts';
import type { Reading } from '../marks.ts';
import { atOnce, type Steps } from '../slices.ts';
import { CompilationError, createCompiler } from './compiler.ts';
import type { Definitions, Translated } from './definitions.ts';
import type { Direction } from './directions.ts';
import { isOfAlternative } from './either.ts';
import { INCOMPLETE } from './memory.ts';
import { inPass, inSteps, Pass, type Unit, work } from './pauses.ts';
import { createTranslator } from './translate.ts';

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

/** In bytes. Large documents often repeat the same few parameters. */
const LONGEST_SHARED = 500;

interface Made {
  readonly check: Check;
  /** In steps of about a millisecond. */
  compile(): Steps;
}

/** Of a schema that matches every value. */
const MATCHING: Made = { check: FREE, *compile() {} };

export type Schemas = ReturnType<typeof createSchemas>;

/** A check compiles its schema on its first call. */
export function createSchemas(document: Document, cached?: Definitions) {
  const translator = createTranslator(document, cached);
  const { find, nodeOf, translated: definitions } = translator.definitions;
  /** Used for every request. */
  const quick = createCompiler(false, find);
  /** Used only for invalid values. */
  const thorough = createCompiler(true, find);
  const made = {
    request: new Map<Json, Made>(),
    response: new Map<Json, Made>(),
  };
  const shared = new Map<string, Made>();
  let gathered: Set<Made> | null = null;

  /** Also reports mistakes in everything that the schema refers to. */
  function check(schema: Json, direction: Direction): Check {
    const cached = made[direction].get(schema);
    const one = cached ?? make(translator.translate(schema, direction));
    if (!cached) made[direction].set(schema, one);
    gathered?.add(one);
    return one.check;
  }

  function gather<T>(work: () => T): {
    readonly made: T;
    readonly steps: () => Steps;
  } {
    const all = new Set<Made>();
    gathered = all;
    try {
      const made = work();
      return {
        made,
        *steps() {
          for (const one of all) yield* one.compile();
        },
      };
    } finally {
      gathered = null;
    }
  }

  /**
   * Call it once, after the last schema. Compiles the checks as requests and responses do, so that
   * none fails because of the document.
   */
  function finish(): void {
    for (const [, schema] of document.members(
      document.object(document.root.components)?.schemas,
    )) {
      const node = document.object(schema);
      if (node) translator.translate(node, 'request');
    }
    translator.reportCircles();
    const isServed = document.reading.responses !== 'off';
    const all = [...made.request, ...(isServed ? made.response : [])];
    for (const [node, one] of all) compileEarly(node, one);
  }

  function compileEarly(node: Json, one: Made): void {
    try {
      atOnce(one.compile());
    } catch (error) {
      if (!(error instanceof CompilationError)) throw error;
      const { definition, message } = error;
      const at = definition === null ? null : nodeOf(definition);
      document.findings.problem(at ?? node, null, message);
    }
  }

  function make(translated: Translated): Made {
    if (Object.keys(translated).length === 0) return MATCHING;
    const content = serialize(translated);
    if (content.length > LONGEST_SHARED) return createCheck(translated);
    const key = content.toString('latin1');
    const made = shared.get(key) ?? createCheck(translated);
    shared.set(key, made);
    return made;
  }

  function createCheck(schema: Translated): Made {
    const decisive = quick.unit(schema);
    const complete = thorough.unit(schema);
    function* steps(
      value: unknown,
      written?: Written,
      step?: number,
    ): Steps<Faults> {
      if (!decisive.complete) yield* quick.steps(decisive);
      const found = yield* inSteps(
        () => verdictOf(decisive, value),
        new Pass(written?.marks),
        step,
      );
      if (found === null) return NONE;
      if (found === 'too deep') return [TOO_DEEP];
      // Compiled first, because faults may depend on where a search pauses.
      if (!complete.complete) yield* thorough.steps(complete);
      const faults = yield* inSteps(
        () => searched(complete, value),
        new Pass(written?.marks),
        step,
      );
      return faults ?? [...faultsOf(found), MORE];
    }
    function check(value: unknown, written?: Written): Faults {
      if (!decisive.complete) atOnce(quick.steps(decisive));
      const pass = new Pass(written?.marks);
      return inPass(pass, () => verdictOf(decisive, value)) === null
        ? NONE
        : atOnce(steps(value, written));
    }
    return {
      check: Object.assign(check, { steps }),
      *compile() {
        yield* quick.steps(decisive);
        yield* thorough.steps(complete);
      },
    };
  }

  return {
    document,
    definitions: definitions as Definitions,
    check,
    gather,
    finish,
  };
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
