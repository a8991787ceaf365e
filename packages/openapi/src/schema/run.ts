import type { ErrorObject } from 'ajv';
import type { Marks } from '../marks.ts';
import type { Validator } from './unit.ts';

/** Thrown to leave a check that continues in a later step. */
export const PAUSE = Symbol('the check continues later');

/** In units of about 5 ns, which a keyword takes: a step is well below a millisecond. */
export const STEP = 50_000;

/** What took less is done again: to remember it would take as long. */
export const WORTH = 64;

/** While a step only repeats the way to where the last step ended. */
const REPEATING = 2 ** 40;

/** The work to list a name. */
const NAME = 10;

type Known = Map<object, readonly ErrorObject[] | null>;

/** What a pass over a value knows: the check for the first fault, or the search for all. */
export class Pass {
  readonly marks: Marks | null;
  known: Map<Validator, Known> | null = null;
  judgements = 0;
  dropped = false;
  apart = 0;
  /** Schemas that a search for all faults may still compile. */
  allowance: number;

  constructor(marks: Marks | null = null, allowance = 0) {
    this.marks = marks;
    this.allowance = allowance;
  }
}

/** Outside of all passes. */
const IDLE = new Pass();

/** Of the pass that runs: all that is between its steps is in its objects. */
export const work = {
  pass: IDLE,
  /** `null` for a check that does not pause. */
  run: null as Run | null,
  /** Until the end of the step. */
  left: Number.POSITIVE_INFINITY,
};

/** Runs a part of a pass, or all of it. */
export function inPass<T>(pass: Pass, judge: () => T): T {
  work.pass = pass;
  try {
    return judge();
  } finally {
    work.pass = IDLE;
  }
}

/**
 * The results of a check that pauses. Compiled checks cannot stop in the middle, so each step
 * begins at the root: loops continue behind the last entry, and schemas that took long are not
 * applied again.
 */
export class Run {
  /** Whether a step has ended, so that there may be results. */
  resumed = false;
  /** Most checks need none of these. */
  #found: Map<object, Map<unknown, unknown>> | null = null;
  #trail: (readonly [results: Map<unknown, unknown>, key: unknown])[] | null = null;
  #names: Map<object, readonly string[]> | null = null;
  /** Where the last step ended; `null`: nowhere in particular. */
  #end: { readonly site: object; readonly key: unknown } | null = null;
  readonly #step: number;

  constructor(step = STEP) {
    this.#step = step;
  }

  get size(): number {
    return this.#trail === null ? 0 : this.#trail.length;
  }

  begin(): void {
    work.left = this.#end === null ? this.#step : REPEATING;
  }

  find<T>(site: object, key: unknown): T | undefined {
    const found = this.#found?.get(site)?.get(key);
    if (this.#end !== null && this.#end.site === site && this.#end.key === key) {
      this.#end = null;
      work.left = this.#step;
    }
    return found as T | undefined;
  }

  /** `site` is a place in a compiled schema, `key` a value. */
  keep(site: object, key: unknown, result: unknown): void {
    this.#found ??= new Map();
    this.#trail ??= [];
    let results = this.#found.get(site);
    if (results === undefined) {
      results = new Map();
      this.#found.set(site, results);
    }
    results.set(key, result);
    this.#trail.push([results, key]);
  }

  /** Forgets what has been found since then: it is a part of a result. */
  release(size: number): void {
    const trail = this.#trail;
    if (trail === null) return;
    while (trail.length > size) {
      const [results, key] = trail.pop()!;
      results.delete(key);
    }
  }

  /** What `keep` got last for the two is the place where the next step continues. */
  pause(site: object | null, key?: unknown): never {
    this.#end = site && { site, key };
    throw PAUSE;
  }

  namesIn(value: object): readonly string[] {
    const known = this.#names?.get(value);
    if (known !== undefined) return known;
    const names = Object.keys(value);
    if (names.length > WORTH) {
      this.#names ??= new Map();
      this.#names.set(value, names);
      work.left -= NAME * names.length;
    }
    return names;
  }
}
