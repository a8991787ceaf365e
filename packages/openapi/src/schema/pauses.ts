import type { ErrorObject, ValidateFunction } from 'ajv';
import { wideNames } from '../bag.ts';
import type { LargeMap } from '../large-map.ts';
import type { Marks } from '../marks.ts';
import { escapeToken } from '../names.ts';
import type { Steps } from '../slices.ts';
import type { Translated } from './definitions.ts';

export type Place = NonNullable<Parameters<ValidateFunction>[1]>;

/** Stores the errors of its last call. */
export interface Validator {
  (value: unknown, context?: Place): boolean;
  /** Do not change them: they may be remembered. */
  errors?: null | readonly ErrorObject[];
}

/** Compiled in `Compiler.steps`. */
export interface Unit {
  /** Do not keep it: the compiled validator replaces the first one. */
  readonly validate: Validator;
  /** Whether it is compiled, with all that it applies. */
  readonly complete: boolean;
  /** The work for a value, without loops and other units. */
  readonly weight: number;
}

/** What keywords need of the compiler that compiles them. */
export interface Units {
  readonly find: (name: string) => Translated;
  unit(schema: Translated): Unit;
}

export const placeOf = (
  parentData: object,
  key: string | number,
  path: string,
): Place => ({
  instancePath: `${path}/${escapeToken(String(key))}`,
  parentData: parentData as Place['parentData'],
  parentDataProperty: key,
  rootData: parentData as Place['rootData'],
  dynamicAnchors: {},
});

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

type Known = LargeMap<object, readonly ErrorObject[] | null>;

/** What a pass over a value knows: the check for the first fault, or the search for all. */
export class Pass {
  readonly marks: Marks | null;
  known: Map<Validator, Known> | null = null;
  /** Of long texts, by array or object. */
  digests: LargeMap<object, string> | null = null;
  judgements = 0;
  dropped = false;
  apart = 0;

  constructor(marks: Marks | null = null) {
    this.marks = marks;
  }
}

/** Outside of all passes. */
export const IDLE = new Pass();

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
  #trail: (readonly [results: Map<unknown, unknown>, key: unknown])[] | null =
    null;
  #names: Map<object, readonly string[]> | null = null;
  /** Where the last step ended; `null` before the first end. */
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
    this.reach(site, key);
    return found as T | undefined;
  }

  /** A new step begins where the last one ended. */
  reach(site: object, key: unknown): void {
    if (this.#end?.site !== site || this.#end.key !== key) return;
    this.#end = null;
    work.left = this.#step;
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
  pause(site: object, key: unknown): never {
    this.#end = { site, key };
    throw PAUSE;
  }

  namesIn(value: object): readonly string[] {
    const cached = this.#names?.get(value);
    if (cached !== undefined) return cached;
    const names = Object.keys(value);
    if (names.length > WORTH) {
      this.#names ??= new Map();
      this.#names.set(value, names);
      work.left -= NAME * names.length;
    }
    return names;
  }
}

const ROOT = {};

/** Judges in steps of about the same length. `judge` must be repeatable. */
export function* inSteps<T>(
  judge: () => T,
  pass = new Pass(),
  step?: number,
): Steps<T> {
  const run = new Run(step);
  for (;;) {
    work.run = run;
    run.begin();
    try {
      return inPass(pass, judge);
    } catch (thrown) {
      if (thrown !== PAUSE) throw thrown;
    } finally {
      work.run = null;
      work.left = Number.POSITIVE_INFINITY;
    }
    pass.apart = 0;
    run.resumed = true;
    yield;
  }
}

export const namesIn = (value: object): readonly string[] =>
  wideNames.get(value) ?? work.run?.namesIn(value) ?? Object.keys(value);

/** `unit.validate`, whose result the next steps of a check know if it took long. */
export function judge(unit: Unit, value: unknown, place?: Place): boolean {
  const { run, left } = work;
  if (run === null) return unit.validate(value, place);
  const key = keyOf(value, place);
  if (run.resumed && key !== undefined) {
    const errors = run.find<Unit['validate']['errors']>(unit, key);
    if (errors !== undefined) {
      unit.validate.errors = errors;
      return errors === null;
    }
  }
  const { size } = run;
  work.left -= unit.weight;
  const fits = unit.validate(value, place);
  if (key !== undefined)
    finish(run, left, unit, key, fits ? null : unit.validate.errors, size);
  return fits;
}

/** Keeps a result that took long, and pauses if the step did. */
export function finish(
  run: Run,
  left: number,
  site: object,
  key: unknown,
  result: unknown,
  size = run.size,
): void {
  if (left - work.left <= WORTH) return;
  run.release(size);
  run.keep(site, key, result);
  if (work.left < 0) run.pause(site, key);
}

/** In characters. */
const LONG = 1_000;

/** `test(text)`, which the next steps of a check know if the text is long. */
export function tested(
  site: object,
  text: string,
  test: (text: string) => boolean,
): boolean {
  const { run, left } = work;
  if (run === null || text.length < LONG) return test(text);
  const cached = run.find<boolean>(site, text);
  if (cached !== undefined) return cached;
  const { size } = run;
  const fits = test(text);
  work.left -= text.length;
  finish(run, left, site, text, fits, size);
  return fits;
}

/** An object, or the place of another value; `undefined` if it has none. */
function keyOf(value: unknown, place: Place | undefined): unknown {
  if (typeof value === 'object' && value !== null) return value;
  return place === undefined
    ? undefined
    : place.instancePath === ''
      ? ROOT
      : place.instancePath;
}

/** The work for an entry of a loop, without that of its schema. */
const ROUND = 20;

export interface Loop {
  next: number;
}

/**
 * Calls `body` with each number below `end`, until it returns `false`, and the state `start`.
 * Continues where the last step ended, with its state.
 */
export function loop<State extends Loop>(
  site: object,
  value: unknown,
  start: State,
  end: number,
  body: (i: number, state: State) => boolean,
): State {
  const { run, left } = work;
  const state =
    (run?.resumed ? run.find<State>(site, value) : undefined) ?? start;
  const size = run?.size ?? 0;
  try {
    while (state.next < end) {
      state.next = body(state.next, state) ? state.next + 1 : end;
      work.left -= ROUND;
      if (run === null) continue;
      run.release(size);
      if (work.left < 0 && state.next < end) run.pause(site, value);
    }
  } catch (thrown) {
    if (thrown === PAUSE) run!.keep(site, value, state);
    throw thrown;
  }
  if (run !== null) finish(run, left, site, value, state);
  return state;
}
