/**
 * CPU of starting a process: a gateway until it is ready, and whole commands.
 *
 *     node --disable-warning=ExperimentalWarning bench/start.ts --before main --runs 10
 *
 * Embedded state in an empty folder, shipped settings and contract, warm compile cache. `--before` measures a commit,
 * too.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkOut, mainOf } from '../test/support/checkout.ts';
import { cpuTime } from './cpu.ts';
import { spread } from './statistics.ts';

const { values } = parseArgs({ options: { before: { type: 'string' }, runs: { type: 'string', default: '10' } } });
const runs = Number(values.runs);

const COMMANDS = {
  serve: ['serve', '--no-demo-keys'],
  status: ['status'],
  'keys list': ['keys', 'list'],
  help: ['--help'],
};
type Name = keyof typeof COMMANDS;
const NAMES = Object.keys(COMMANDS) as Name[];

interface Checkout {
  readonly name: string;
  readonly folder: string;
  /** Milliseconds. */
  readonly figures: Map<Name, number[]>;
}

const temporary = mkdtempSync(join(tmpdir(), 'storegate-start-'));
const checkout = (name: string, folder: string): Checkout => {
  return { name, folder, figures: new Map(NAMES.map((command) => [command, []])) };
};
try {
  const checkouts = [checkout('today', join(import.meta.dirname, '..'))];
  if (values.before !== undefined) {
    const { name, folder } = checkOut(values.before, temporary);
    checkouts.unshift(checkout(name, folder));
  }
  // The first runs fill the compile cache, which a process writes when it ends.
  for (let run = -2; run < runs; run++) {
    for (const name of NAMES) {
      for (const { folder, figures } of checkouts) {
        const milliseconds = await measure(name, folder);
        if (run >= 0) figures.get(name)!.push(milliseconds);
      }
    }
  }
  for (const name of NAMES) {
    const medians = checkouts.map(
      ({ name: of, figures }) => `${spread(figures.get(name)!).median.toFixed(0)} ms ${of}`,
    );
    console.log(`${name}: ${medians.join(', ')}`);
  }
} finally {
  rmSync(temporary, { recursive: true });
}

/** Milliseconds of CPU. */
async function measure(name: Name, project: string): Promise<number> {
  const cwd = mkdtempSync(join(temporary, 'folder-'));
  const before = ended();
  const child = start(COMMANDS[name], project, cwd);
  const exit = once(child, 'exit');
  if (name !== 'serve') {
    await finished(exit);
    return ended() - before;
  }
  // The first log line means ready.
  await Promise.race([once(child.stdout!, 'data'), finished(exit)]);
  const milliseconds = cpuTime(child.pid!) / 1_000;
  child.kill();
  await finished(exit);
  return milliseconds;
}

function start(args: readonly string[], project: string, cwd: string): ChildProcess {
  const options = ['--disable-warning=ExperimentalWarning', '--min-semi-space-size=16', mainOf(project)];
  const env = { PATH: process.env.PATH, STOREGATE_PORT: '0', STOREGATE_ADMIN_PORT: '0' };
  return spawn(process.execPath, [...options, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
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
