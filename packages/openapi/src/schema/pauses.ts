import { wideNames } from '../wide-names.ts';
import { inPass, PAUSE, Pass, Run, WORTH, work } from './run.ts';
import type { Place, Unit } from './unit.ts';

const ROOT = {};

/** Judges in steps of about the same length. `judge` must be repeatable. */
export function* inSteps<T>(
  judge: () => T,
  pass = new Pass(),
  step?: number,
): Generator<void, T, void> {
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
  if (key !== undefined) finish(run, left, unit, key, fits ? null : unit.validate.errors, size);
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
export function tested(site: object, text: string, test: (text: string) => boolean): boolean {
  const { run, left } = work;
  if (run === null || text.length < LONG) return test(text);
  const known = run.find<boolean>(site, text);
  if (known !== undefined) return known;
  const { size } = run;
  const fits = test(text);
  work.left -= text.length;
  finish(run, left, site, text, fits, size);
  return fits;
}

/** An object, or the place of another value; `undefined` if it has none. */
function keyOf(value: unknown, place: Place | undefined): unknown {
  if (typeof value === 'object' && value !== null) return value;
  return place === undefined ? undefined : place.instancePath === '' ? ROOT : place.instancePath;
}

/** The work for an entry of a loop, without that of its schema. */
const ROUND = 20;

export interface Loop {
  next: number;
}

/**
 * Calls `body` with each number below `end`, until it returns `false`. Continues where the last
 * step ended, with the same state.
 */
export function loop<State extends Loop>(
  site: object,
  value: unknown,
  create: () => State,
  end: number,
  body: (i: number, state: State) => boolean,
): State {
  const { run, left } = work;
  const state = (run?.resumed ? run.find<State>(site, value) : undefined) ?? create();
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
