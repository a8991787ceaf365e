import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const main = resolve(import.meta.dirname, '../../src/main.ts');

/** The command as a process of its own, with what it has said so far. */
export interface Running {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  /** Resolves with the exit code. */
  readonly exit: Promise<number | null>;
}

/**
 * Starts `storegate <args>` in `cwd` with nothing of our environment but what it needs. `ownGroup`: its processes are a
 * group, as those of a terminal are, which can be signalled as one.
 */
export function storegate(
  args: readonly string[],
  { cwd, env = {}, ownGroup = false }: { cwd: string; env?: Record<string, string>; ownGroup?: boolean },
): Running {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...args], {
    cwd,
    env: { PATH: process.env.PATH, STOREGATE_HOST: '127.0.0.1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: ownGroup,
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  return { child, out: () => out, err: () => err, exit: once(child, 'close').then(([code]) => code as number | null) };
}

/** Runs a command to its end. */
export async function finished(
  args: readonly string[],
  where: { cwd: string; env?: Record<string, string> },
): Promise<{ code: number | null; out: string; err: string }> {
  const run = storegate(args, where);
  const code = await run.exit;
  return { code, out: run.out(), err: run.err() };
}
