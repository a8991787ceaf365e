import { setTimeout as pause } from 'node:timers/promises';

/** Work in steps that take a moment each. */
export type Steps = Iterator<void, void>;

/** Milliseconds of work between two turns of the event loop; the last step may go beyond. */
const SLICE = 2;
/** Work that nobody waits for rests so many times longer than it lasted. */
const RESTS = 4;

interface Job {
  readonly steps: Steps;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Does long work without stopping the event loop: one slice a turn, however many jobs there are. */
export class Slices {
  readonly #jobs: Job[] = [];

  /** Work that a request waits for. Jobs are done in the order of the calls. Rejects with what a step throws. */
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

/** Work that nobody waits for; it does not keep the process alive. Resolves when it is done, or when `signal` ends it. */
export async function inPauses(steps: Steps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const start = performance.now();
    if (slice(steps)) return;
    await pause(RESTS * (performance.now() - start), undefined, { ref: false });
  }
}

/** Returns whether all is done. */
function slice(steps: Steps): boolean {
  const end = performance.now() + SLICE;
  do {
    if (steps.next().done) return true;
  } while (performance.now() < end);
  return false;
}
