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
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { mainOf } from '../test/support/checkout.ts';
import { cpuTime, residentMemory } from './cpu.ts';
import { spread } from './statistics.ts';
import { checkouts } from './surroundings.ts';

const { values } = parseArgs({
  options: { before: { type: 'string' }, runs: { type: 'string', default: '10' } },
});
const runs = Number(values.runs);
const SERVE = ['serve', '--no-demo-keys'];
const COMMANDS = { status: ['status'], 'keys list': ['keys', 'list'], '--help': ['--help'] };
const FIGURES = [
  'serve: CPU ms',
  'serve: RSS MiB',
  ...Object.keys(COMMANDS).map((name) => `${name}: CPU ms`),
];

interface Build {
  readonly name: string;
  readonly main: string;
  readonly figures: (readonly number[])[];
}

const project = join(import.meta.dirname, '..');
const temporary = mkdtempSync(join(tmpdir(), 'storegate-start-'));
try {
  const builds: Build[] = checkouts(values.before, temporary).map(({ name, folder }) => ({
    name,
    main: mainOf(folder),
    figures: [],
  }));
  builds.push({ name: 'package', main: pack(), figures: [] });
  // The first runs fill the compile cache, which a process writes when it ends.
  for (let run = -2; run < runs; run++) {
    for (const { main, figures } of builds) {
      const measured = await measure(main);
      if (run >= 0) figures.push(measured);
    }
  }
  console.log([...builds.map(({ name }) => name.padStart(9)), ''].join('  '));
  for (const [at, figure] of FIGURES.entries()) {
    const medians = builds.map(({ figures }) =>
      spread(figures.map((run) => run[at]!))
        .median.toFixed(0)
        .padStart(9),
    );
    console.log([...medians, figure].join('  '));
  }
} finally {
  rmSync(temporary, { recursive: true });
}

function pack(): string {
  execFileSync(process.execPath, [join(project, 'scripts/pack.ts'), temporary], {
    stdio: 'ignore',
  });
  return join(temporary, 'package/dist/main.js');
}

/** The values of FIGURES. */
async function measure(main: string): Promise<readonly number[]> {
  const cwd = mkdtempSync(join(temporary, 'folder-'));
  const gateway = start(SERVE, main, cwd);
  const exit = once(gateway, 'exit');
  // The first log line means ready.
  await Promise.race([once(gateway.stdout!, 'data'), finished(exit)]);
  const measured = [cpuTime(gateway.pid!) / 1_000, residentMemory(gateway.pid!) / 2 ** 20];
  for (const args of Object.values(COMMANDS)) {
    const before = ended();
    await finished(once(start(args, main, cwd), 'exit'));
    measured.push(ended() - before);
  }
  gateway.kill();
  await finished(exit);
  return measured;
}

function start(args: readonly string[], main: string, cwd: string): ChildProcess {
  const options = ['--disable-warning=ExperimentalWarning', '--min-semi-space-size=16', main];
  const env = { PATH: process.env.PATH, STOREGATE_PORT: '0', STOREGATE_ADMIN_PORT: '0' };
  const child = spawn(process.execPath, [...options, ...args], {
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

/** Milliseconds of all ended children: fields 16 and 17 of proc(5) stat. */
function ended(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}
