import {
  setTimeout as pause,
  setImmediate as turn,
} from 'node:timers/promises';

export type Steps<T = void> = Generator<void, T, void>;

/** Milliseconds per turn of the event loop; the last step may exceed it. */
const SLICE = 2;
/** Background work pauses this many times longer than it ran. */
const RESTS = 4;

/** One slice per turn of the event loop, for any number of jobs. */
export class Slices {
  #last: Promise<void> = Promise.resolve();

  /** For work that a request waits for. Jobs run in order. Rejects with what a step throws. */
  run(steps: Iterator<void, void>): Promise<void> {
    const job = this.#last.then(() => inTurns(steps));
    this.#last = job.catch(() => {});
    return job;
  }
}

export function atOnce<T>(steps: Iterator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

let lastTurn: Promise<void> = Promise.resolve();

/** Callers take turns: together they use one slice per turn of the event loop. */
function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => turn());
  return lastTurn;
}

/** One slice per turn of the event loop. Rejects with what a step throws. */
export async function inTurns<T>(steps: Iterator<void, T>): Promise<T> {
  for (;;) {
    await nextTurn();
    const end = slice(steps);
    if (end !== null) return end.value;
  }
}

/** The first slice at once: most work needs no other. */
export async function soon<T>(steps: Iterator<void, T>): Promise<T> {
  const end = slice(steps);
  return end === null ? await inTurns(steps) : end.value;
}

/** Does not keep the process alive. Resolves at the end, or when `signal` aborts it. */
export async function inPauses(
  steps: Iterator<void, void>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const start = performance.now();
    if (slice(steps) !== null) return;
    await pause(RESTS * (performance.now() - start), undefined, { ref: false });
  }
}

function slice<T>(steps: Iterator<void, T>): IteratorReturnResult<T> | null {
  const end = performance.now() + SLICE;
  do {
    const next = steps.next();
    if (next.done) return next;
  } while (performance.now() < end);
  return null;
}
