import { spawnSync } from 'node:child_process';
import { program } from '../runner/programs.ts';

/** Throws with the output if promtool fails. */
export function promtool(...args: readonly string[]): string {
  return promtoolReading('', ...args);
}

export function promtoolReading(input: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program('promtool'), args, {
    encoding: 'utf8',
    input,
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`promtool ${args.join(' ')}\n${stdout}\n${stderr}`);
  return stdout;
}
