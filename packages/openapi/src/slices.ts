import { setTimeout as pause } from 'node:timers/promises';

export type Steps = Iterator<void, void>;

/** Milliseconds per turn of the event loop; the last step may exceed it. */
const SLICE = 2;
/** Background work pauses this many times longer than it ran. */
const RESTS = 4;

interface Job {
  readonly steps: Steps;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** One slice per turn of the event loop, for any number of jobs. */
export class Slices {
  readonly #jobs: Job[] = [];

  /** For work that a request waits for. Jobs run in order. Rejects with what a step throws. */
  run(steps: Steps): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ steps, resolve, reject });
      if (this.#jobs.length === 1) setImmediate(this.#turn);
    });
  }

  readonly #turn = (): void => {
    const { steps, resolve, reject } = this.#jobs[0]!;
    try {
      if (slice(steps)) {
        this.#jobs.shift();
        resolve();
      }
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
    if (slice(steps)) return;
    await pause(RESTS * (performance.now() - start), undefined, { ref: false });
  }
}

function slice(steps: Steps): boolean {
  const end = performance.now() + SLICE;
  do {
    if (steps.next().done) return true;
  } while (performance.now() < end);
  return false;
}
