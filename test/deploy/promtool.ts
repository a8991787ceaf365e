import { execFileSync, spawnSync } from 'node:child_process';
import { describe } from '@jest/globals';

/** Runs promtool and returns its output; throws with the output if it finds a fault. */
export function promtool(...args: readonly string[]): string {
  return promtoolReading('', ...args);
}

/** The same, with a text to read from. */
export function promtoolReading(input: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { encoding: 'utf8', input });
  if (error) throw error;
  if (status !== 0) throw new Error(`promtool ${args.join(' ')}\n${stdout}\n${stderr}`);
  return stdout;
}

function whyNoPromtool(): string | null {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' });
    return null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return 'there is no promtool: it comes with Prometheus (`apt-get install prometheus`)';
  }
}

const reason = whyNoPromtool();
if (reason !== null) process.stderr.write(`What promtool tests is left out: ${reason}\n`);

/** Like `describe` if there is promtool. Otherwise it says in one line why there is none. */
export const describeWithPromtool = reason === null ? describe : describe.skip;
