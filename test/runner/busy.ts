import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs the tests, with any arguments of Jest, under load: one computing process per processor, and
 * one that allocates memory and writes to the disk (`npm run test:busy`). `--times N` runs them N
 * times and counts the failures.
 */
const MEGABYTE = 1024 * 1024;

const LOADS = {
  compute() {
    for (;;) Math.sqrt(Math.random());
  },
  allocate() {
    const folder = mkdtempSync(join(tmpdir(), 'storegate-busy-'));
    process.once('SIGTERM', () => {
      rmSync(folder, { recursive: true });
      process.exit();
    });
    const file = openSync(join(folder, 'file'), 'w');
    const kept: Buffer[] = [];
    setInterval(() => {
      const piece = Buffer.alloc(16 * MEGABYTE, 1);
      if (kept.push(piece) > 32) kept.length = 0;
      writeSync(file, piece, 0, MEGABYTE, 0);
      fsyncSync(file);
    }, 10);
  },
} as const;

function startLoad(kind: keyof typeof LOADS): ChildProcess {
  return spawn(process.execPath, [import.meta.filename, `--load=${kind}`], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

function runTests(times: number, args: readonly string[]): number {
  let failed = 0;
  for (let run = 1; run <= times; run++) {
    const { status } = spawnSync('npm', ['test', '--', ...args], { stdio: 'inherit' });
    if (status !== 0) failed++;
    console.log(`busy run ${run} of ${times}: ${status === 0 ? 'passed' : 'failed'}`);
  }
  console.log(`${times - failed} of ${times} busy runs passed`);
  return failed;
}

const [first = '', second = '1', ...rest] = process.argv.slice(2);
if (first.startsWith('--load=')) {
  LOADS[first.slice('--load='.length) as keyof typeof LOADS]();
} else {
  const kinds = [
    ...Array.from({ length: availableParallelism() }, () => 'compute' as const),
    'allocate' as const,
  ];
  const loads = kinds.map(startLoad);
  try {
    const [times, args] = first === '--times' ? [Number(second), rest] : [1, process.argv.slice(2)];
    process.exitCode = runTests(times, args) > 0 ? 1 : 0;
  } finally {
    for (const load of loads) load.kill();
  }
}
