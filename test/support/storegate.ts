import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { PROGRAM } from '../runner/bundled-program.ts';

/** The entry point of the sources, for tests that name modules. */
export const SOURCE_MAIN = resolve(import.meta.dirname, '../../src/main.js');
/** Outside of a run of the tests, such as a benchmark, nothing is bundled. */
export const MAIN = process.env[PROGRAM] ?? SOURCE_MAIN;

export interface Running {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  readonly exit: Promise<number | null>;
}

interface Surroundings {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  readonly ownGroup?: boolean;
  readonly onTerminal?: boolean;
  readonly main?: string;
  /** A descriptor; by default `out` has the output. */
  readonly stdout?: number;
}

/**
 * Shared by all processes, so that each finds code compiled earlier: compiling is half of a
 * command's time.
 */
export const COMPILED = resolve(import.meta.dirname, '../../node_modules/.cache/storegate');

/**
 * Node's heap grows to this size after many collections anyway; set at once, it saves a tenth of a
 * start.
 */
const ROOM = '--min-semi-space-size=16';

/** Loaded first, it makes a process believe that its standard output is a terminal. */
const ON_TERMINAL = '--import=data:text/javascript,process.stdout.isTTY=true';

/**
 * Passes only the needed part of our environment. With `ownGroup` its processes are a group, as in
 * a terminal, which a test can signal as one. With `onTerminal` it writes as to a terminal.
 */
export function storegate(
  args: readonly string[],
  { cwd, env = {}, ownGroup = false, onTerminal = false, main = MAIN, stdout }: Surroundings,
): Running {
  const options = [
    '--disable-warning=ExperimentalWarning',
    ROOM,
    ...(onTerminal ? [ON_TERMINAL] : []),
  ];
  const child = spawn(process.execPath, [...options, main, ...args], {
    cwd,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: COMPILED,
      STOREGATE_HOST: '127.0.0.1',
      ...env,
    },
    stdio: ['ignore', stdout ?? 'pipe', 'pipe'],
    detached: ownGroup,
  });
  let out = '';
  let err = '';
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr!.on('data', (chunk) => {
    err += chunk;
  });
  return {
    child,
    out: () => out,
    err: () => err,
    exit: once(child, 'close').then(([code]) => code as number | null),
  };
}

export async function finished(
  args: readonly string[],
  where: { cwd: string; env?: Record<string, string> },
): Promise<{ code: number | null; out: string; err: string }> {
  const run = storegate(args, where);
  const code = await run.exit;
  return { code, out: run.out(), err: run.err() };
}
