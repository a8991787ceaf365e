import { failure } from './failure.ts';

/** Milliseconds between two looks: few at first, for what is there in a moment, and more for what takes its time. */
const FIRST = 5;
const LONGEST = 50;

/**
 * Resolves once `condition` holds. Fails with `what` after `patience` milliseconds, which no healthy run needs, on however busy
 * a machine.
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
