import { setTimeout as pause } from 'node:timers/promises';

export type Steps<T = void> = Iterator<void, T>;

/** Milliseconds per turn of the event loop; the last step may exceed it. */
const SLICE = 2;
/** Background work pauses this many times longer than it ran. */
const RESTS = 4;

interface Job {
  /** False while steps are left. */
  readonly run: () => boolean;
  readonly reject: (error: unknown) => void;
}

export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Leaves turns of the event loop to others. Rejects with what a step throws. */
export const inTurns = <T>(steps: Steps<T>): Promise<T> => new Slices().run(steps);

/** One slice per turn of the event loop, for any number of jobs. */
export class Slices {
  readonly #jobs: Job[] = [];

  /** For work that a request waits for. Jobs run in order. Rejects with what a step throws. */
  run<T>(steps: Steps<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = () => {
        const end = slice(steps);
        if (end !== null) resolve(end.value);
        return end !== null;
      };
      this.#jobs.push({ run, reject });
      if (this.#jobs.length === 1) setImmediate(this.#turn);
    });
  }

  readonly #turn = (): void => {
    const { run, reject } = this.#jobs[0]!;
    try {
      if (run()) this.#jobs.shift();
    } catch (error) {
      this.#jobs.shift();
      reject(error);
    }
    if (this.#jobs.length > 0) setImmediate(this.#turn);
  };
}

/** Does not keep the process alive. Resolves at the end, or when `signal` aborts it. */
export async function inPauses(steps: Steps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const start = performance.now();
    if (slice(steps) !== null) return;
    await pause(RESTS * (performance.now() - start), undefined, { ref: false });
  }
}

function slice<T>(steps: Steps<T>): IteratorReturnResult<T> | null {
  const end = performance.now() + SLICE;
  do {
    const next = steps.next();
    if (next.done) return next;
  } while (performance.now() < end);
  return null;
}
