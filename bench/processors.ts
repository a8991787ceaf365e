import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * Where a process runs. What is measured has a processor for itself, and everything else of the run has the others: left to
 * the system, the three or four busy processes of a run share two processors in one way or another, and that way decides
 * whether a request costs 45 µs or 90.
 */
export type Place = 'measured' | 'beside';

const LIST: Readonly<Record<Place, string>> = { measured: '0', beside: `1-${availableParallelism() - 1}` };

/** Whether processes can be kept apart here. */
export const keptApart = availableParallelism() > 1 && hasTaskset();

/** A command that runs where it should. */
export function placed(place: Place, file: string, args: readonly string[]): [file: string, args: string[]] {
  return keptApart ? ['taskset', ['-c', LIST[place], file, ...args]] : [file, [...args]];
}

/** Moves this process, which paces requests and asks questions, out of the way. */
export function stepAside(): void {
  if (keptApart) execFileSync('taskset', ['-acp', LIST.beside, String(process.pid)], { stdio: 'ignore' });
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
