/**
 * CPU of starting a process: a gateway until it is ready, and whole commands in the folder of a
 * running gateway.
 *
 *     node --disable-warning=ExperimentalWarning bench/start.ts --before main --runs 10
 *
 * From source and from the package. Embedded state in an empty folder, shipped settings and
 * contract, warm compile cache. `--before` measures a commit, too.
 */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuTime, endedChildren, residentMemory } from './cpu.ts';
import { readOptions } from './options.ts';
import { spread } from './statistics.ts';
import { checkouts } from './surroundings.ts';
import { printHead, printRow } from './table.ts';
import { mainArguments } from './targets/storegate-process.ts';

const { before, runs } = readOptions({ before: null, runs: 10 });
const COMMANDS = [['status'], ['keys', 'list'], ['--help']];
const FIGURES = [
  'serve: CPU ms',
  'serve: RSS MiB',
  ...COMMANDS.map((words) => `${words.join(' ')}: CPU ms`),
];

interface Build {
  readonly name: string;
  /** Of Node.js. */
  readonly args: readonly string[];
  readonly runs: (readonly number[])[];
}

const temporary = mkdtempSync(join(tmpdir(), 'storegate-start-'));
try {
  const builds: Build[] = checkouts(before, temporary).map(({ name, folder }) => {
    return { name, args: mainArguments(join(folder, 'src/main.js')), runs: [] };
  });
  builds.push({ name: 'package', args: mainArguments(pack()), runs: [] });
  // The first runs fill the compile cache, which a process writes when it ends.
  for (let run = -2; run < runs; run++) {
    for (const build of builds) {
      const measured = await measure(build.args);
      if (run >= 0) build.runs.push(measured);
    }
  }
  printHead('', ...builds.map(({ name }) => name));
  for (const [at, figure] of FIGURES.entries()) {
    const medians = builds.map(({ runs }) => spread(runs.map((run) => run[at]!)).median);
    printRow(figure, ...medians.map((median) => median.toFixed(0)));
  }
} finally {
  rmSync(temporary, { recursive: true });
}

function pack(): string {
  const script = join(import.meta.dirname, '../scripts/pack.ts');
  execFileSync(process.execPath, [script, temporary], { stdio: 'ignore' });
  return join(temporary, 'package/dist/main.js');
}

/** The values of FIGURES. */
async function measure(main: readonly string[]): Promise<readonly number[]> {
  const cwd = mkdtempSync(join(temporary, 'folder-'));
  const gateway = start([...main, 'serve', '--no-demo-keys'], cwd);
  const exit = once(gateway, 'exit');
  try {
    // The first log line means ready.
    await Promise.race([once(gateway.stdout!, 'data'), finished(exit)]);
    const measured = [cpuTime(gateway.pid!) / 1_000, residentMemory(gateway.pid!) / 2 ** 20];
    for (const words of COMMANDS) {
      const before = endedChildren();
      await finished(once(start([...main, ...words], cwd), 'exit'));
      measured.push((endedChildren() - before) / 1_000);
    }
    return measured;
  } finally {
    gateway.kill();
    await finished(exit);
  }
}

function start(args: readonly string[], cwd: string): ChildProcess {
  const env = { PATH: process.env.PATH, STOREGATE_PORT: '0', STOREGATE_ADMIN_PORT: '0' };
  const child = spawn(process.execPath, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout!.resume();
  return child;
}

async function finished(exit: Promise<unknown[]>): Promise<void> {
  const [code, signal] = await exit;
  if (code !== 0) throw new Error(`the process ended with ${signal ?? `code ${code}`}`);
}
