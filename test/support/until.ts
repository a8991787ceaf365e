import { failure } from './failure.ts';

/** Milliseconds between two checks; the interval grows. */
const FIRST = 5;
const LONGEST = 100;

/**
 * Fails with `what` after `patience` milliseconds, which no healthy run needs, even on a busy
 * machine.
 */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  patience = 100_000,
): Promise<void> {
  const deadline = performance.now() + patience;
  for (let pause = FIRST; !(await condition()); pause = Math.min(pause * 1.25, LONGEST)) {
    if (performance.now() > deadline) throw failure(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
