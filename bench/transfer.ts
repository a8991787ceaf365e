/**
 * Time, CPU and memory (maximum resident set) of the commands that move a state, without Redis:
 *
 *     node --disable-warning=ExperimentalWarning bench/transfer.ts --keys 1000000
 *
 * Each key has counters and a last use, one in a hundred has strikes, one in a thousand is banned.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../test/support/free-port.ts';
import { writeState } from './transfer/sample-state.ts';

const { values } = parseArgs({ options: { keys: { type: 'string', default: '1000000' } } });
const keys = Number(values.keys);
if (!Number.isSafeInteger(keys) || keys < 1) throw new Error('--keys takes a whole number');
const folder = mkdtempSync(join(tmpdir(), 'storegate-moving-'));
const main = resolve(import.meta.dirname, '../src/main.js');
const at = (name: string) => join(folder, name);

/** The command prints CPU seconds and memory as its last line. */
const REPORT_USAGE = `process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  process.stderr.write('\\n' + (userCPUTime + systemCPUTime) / 1e6 + ' ' + maxRSS + '\\n');
})`;

async function storegate(
  title: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<void> {
  const began = performance.now();
  const options = [
    '--disable-warning=ExperimentalWarning',
    `--import=data:text/javascript,${encodeURIComponent(REPORT_USAGE)}`,
  ];
  const child = spawn(process.execPath, [...options, main, 'state', ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (text) => {
    output += text;
  });
  const [code] = (await once(child, 'close')) as [number];
  const lines = output.trim().split('\n');
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  const [cpu = 0, memory = 0] = (lines.pop() ?? '').split(' ').map(Number);
  if (code !== 0) throw new Error(`${title} ended with ${code}: ${lines.join('\n')}`);
  const figures = [seconds, cpu.toFixed(1), (memory / 1_024).toFixed(0)].map((figure) =>
    figure.padStart(8),
  );
  console.log(`${title.padEnd(30)}${figures.join('')}`);
}

async function startRedis(): Promise<{ url: string; stop: () => void }> {
  const port = await freePort();
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
  ];
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const text of child.stdout) if (String(text).includes('Ready to accept')) break;
  return { url: `redis://127.0.0.1:${port}`, stop: () => child.kill() };
}

await writeState(at('made.ndjson'), keys);
const redis = await startRedis();
const other = await startRedis();
try {
  const size = Math.round(statSync(at('made.ndjson')).size / 1e6);
  console.log(`${keys} keys with counters and last uses, a file of ${size} MB`);
  console.log(`${''.padEnd(30)} seconds     CPU     MiB`);
  const made = ['--to', at('one')];
  await storegate('import a file into a folder', ['import', at('made.ndjson'), ...made]);
  await storegate('export a folder', ['export', at('one.ndjson'), '--from', at('one')]);
  await storegate('copy a folder to Redis', ['copy', '--from', at('one'), '--to', redis.url]);
  await storegate('export a Redis', ['export', at('two.ndjson'), '--from', redis.url]);
  await storegate('import a file into Redis', ['import', at('two.ndjson'), '--to', other.url]);
  await storegate('copy a Redis to a folder', ['copy', '--from', redis.url, '--to', at('two')]);
} finally {
  redis.stop();
  other.stop();
  rmSync(folder, { recursive: true, force: true });
}
