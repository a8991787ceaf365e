import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * The place of a process. The measured process has a processor for itself, and all other processes of the run have the
 * rest; one whose threads are measured too may run `anywhere`. Otherwise the system would distribute the three or four busy processes over two processors differently each
 * time, which decides whether a request costs 45 µs or 90.
 */
export type Place = 'measured' | 'beside' | 'anywhere';

const LIST = { measured: '0', beside: `1-${availableParallelism() - 1}` } as const;

/** Whether this machine can keep processes apart. */
export const keptApart = availableParallelism() > 1 && hasTaskset();

/** The command that runs a program in its place. */
export function placed(place: Place, file: string, args: readonly string[]): [file: string, args: string[]] {
  return keptApart && place !== 'anywhere' ? ['taskset', ['-c', LIST[place], file, ...args]] : [file, [...args]];
}

/** Moves this process, which paces and checks requests, off the measured processor. */
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
