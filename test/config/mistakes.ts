import { ConfigError, formatProblem } from '../../src/config/problems/problems.ts';

/** Fails if the call reports none. */
export function mistakesOf(call: () => unknown): string[] {
  try {
    call();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(formatProblem);
    throw error;
  }
  throw new Error('nothing was found wrong');
}
