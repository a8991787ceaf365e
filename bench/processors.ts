import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * The measured process has a processor for itself; others share the rest, or may run `anywhere`.
 */
export type Place = 'measured' | 'beside' | 'anywhere';

const LIST = { measured: '0', beside: `1-${availableParallelism() - 1}` } as const;

export const keptApart = availableParallelism() > 1 && missingExecutable('taskset') === null;

export function placed(
  place: Place,
  file: string,
  args: readonly string[],
): [file: string, args: string[]] {
  return keptApart && place !== 'anywhere'
    ? ['taskset', ['-c', LIST[place], file, ...args]]
    : [file, [...args]];
}

/** This process paces and checks requests. */
export function stepAside(): void {
  // Not its status: a thread that ends meanwhile is an error.
  if (keptApart) spawnSync('taskset', ['-acp', LIST.beside, `${process.pid}`]);
}

/** `null` if it is on the path, else how to install it. */
export function missingExecutable(name: string): string | null {
  const isThere = spawnSync('which', [name]).status === 0;
  return isThere ? null : `${name} is missing (apt-get install ${name})`;
}
