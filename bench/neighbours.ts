/**
 * The worst response time of a client beside greedy clients:
 *
 *     node --disable-warning=ExperimentalWarning bench/neighbours.ts [--before FOLDER] [--only NAME] [--workers N]
 *
 * The polite client sends one request at a time; greedy clients use 16 connections in another process. `--before`
 * measures another checkout in the same run.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { mainOf } from '../test/support/checkout.ts';
import { freePort } from '../test/support/free-port.ts';
import { startBackend } from './backend.ts';
import { Children } from './children.ts';
import { Connection } from './connection.ts';
import { cpuTime } from './cpu.ts';
import { percentile } from './statistics.ts';

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    only: { type: 'string' },
    workers: { type: 'string', default: '1' },
    connections: { type: 'string', default: '16' },
    seconds: { type: 'string', default: '10' },
    greedy: { type: 'string' },
    port: { type: 'string' },
    key: { type: 'string' },
  },
});
const GREEDY_KEY = 'KEY';
const fields = Array.from({ length: 95 }, (_, i) => `x-${i}-${'abcdefgh'.slice(i % 8)}: ${i * 7919}\r\n`).join('');
const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const keyed = `X-API-Key: ${GREEDY_KEY}\r\n`;
const body = JSON.stringify({ name: 'Rex', photoUrls: Array.from({ length: 40_000 }, (_, i) => `https://a/${i}`) });
const names = JSON.stringify(Object.fromEntries(Array.from({ length: 80_000 }, (_, i) => [`name${i}`, 0])));
const post = (text: string) =>
  `POST /pets HTTP/1.1\r\nHost: a\r\n${keyed}Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;

const GREEDY: Readonly<Record<string, string>> = {
  none: '',
  'no key': get('/pets').repeat(2_500),
  '95 fields': get('/pets', fields).repeat(50),
  '404': get('/nowhere', keyed).repeat(1_000),
  '400': get('/pets/x', keyed).repeat(1_000),
  'a page': get('/docs/').repeat(2_500),
  'large bodies': post(body),
  '80,000 names': post(names),
};

if (values.greedy !== undefined) floodForever(values.greedy, Number(values.port), values.key!);
else await measureAll();

/** Reopens closed connections. */
function floodForever(name: string, port: number, key: string): void {
  const bytes = Buffer.from(GREEDY[name]!.replaceAll(GREEDY_KEY, key), 'latin1');
  const open = () => {
    const socket = connect(port, '127.0.0.1', send);
    function send(): void {
      while (!socket.destroyed && socket.write(bytes));
    }
    socket.on('drain', send).on('error', () => {});
    socket.on('close', () => setTimeout(open, 1)).resume();
  };
  for (let i = 0; i < Number(values.connections); i++) open();
}

async function measureAll(): Promise<void> {
  const project = resolve(import.meta.dirname, '..');
  const checkouts = values.before === undefined ? [project] : [resolve(values.before), project];
  const children = new Children();
  try {
    const backend = await startBackend(children);
    for (const [i, checkout] of checkouts.entries()) {
      const gateway = await start(children, checkout, `gateway-${i}`, backend.url);
      console.log(
        `\n${checkout === project ? 'this checkout' : 'before'}, ${values.workers} workers, ${values.connections} connections`,
      );
      console.log('greedy clients send   p50 ms   p99 ms   worst ms   responses  greedy   CPU s   RSS MB');
      for (const name of Object.keys(GREEDY)) {
        if (values.only !== undefined && values.only !== name && name !== 'none') continue;
        await measure(name, gateway);
      }
    }
  } finally {
    await children.close();
  }
  process.exit();
}

async function start(children: Children, checkout: string, name: string, storeUrl: string) {
  const folder = join(children.folder, name);
  mkdirSync(folder);
  const windows = 'windows: [{ limit: 1000000000, per: minute }]';
  writeFileSync(join(folder, 'plans.yaml'), `plans: { open: { ${windows} } }\nbans: off\n`);
  writeFileSync(join(folder, 'gateway.yaml'), 'plans: { file: plans.yaml }\nlog: { requests: false }\n');
  const [port, adminPort] = [await freePort(), await freePort()];
  const env = {
    PATH: process.env.PATH!,
    STOREGATE_HOST: '127.0.0.1',
    STOREGATE_PORT: `${port}`,
    STOREGATE_ADMIN_PORT: `${adminPort}`,
    STORE_URL: storeUrl,
    STOREGATE_WORKERS: values.workers,
    STOREGATE_DATA: join(folder, 'data'),
    STOREGATE_CONFIG: join(folder, 'gateway.yaml'),
    ...(values.workers === '1' ? {} : { REDIS_URL: process.env.REDIS_URL! }),
  };
  const args = ['--disable-warning=ExperimentalWarning', mainOf(checkout), 'serve', '--no-demo-keys'];
  const { pid } = await children.start({
    name,
    file: process.execPath,
    args,
    cwd: folder,
    env,
    port,
    place: 'anywhere',
  });
  async function key(account: string): Promise<string> {
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ account, plan: 'open' });
    const response = await fetch(`http://127.0.0.1:${adminPort}/keys`, { method: 'POST', headers, body });
    return ((await response.json()) as { key: string }).key;
  }
  return { port, adminPort, pid, keys: { polite: await key('polite'), greedy: await key('greedy') } };
}

async function measure(name: string, { port, adminPort, pid, keys }: Awaited<ReturnType<typeof start>>): Promise<void> {
  const flood: ChildProcess | null =
    name === 'none'
      ? null
      : spawn(
          process.execPath,
          [
            import.meta.filename,
            '--greedy',
            name,
            '--port',
            `${port}`,
            '--key',
            keys.greedy,
            '--connections',
            values.connections,
          ],
          { stdio: 'inherit' },
        );
  await pause(1_500);
  const times: number[] = [];
  const [cpu, answered] = [cpuTime(pid), await answers(adminPort)];
  const end = performance.now() + Number(values.seconds) * 1_000;
  let connection = new Connection(port);
  while (performance.now() < end) {
    const began = performance.now();
    await connection.ask(get('/pets/1', `X-API-Key: ${keys.polite}\r\n`));
    times.push(performance.now() - began);
    if (connection.ended) connection = new Connection(port);
    await pause(5);
  }
  connection.close();
  const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
  const cpuSeconds = ((cpuTime(pid) - cpu) / 1e6).toFixed(1);
  const others = (await answers(adminPort)) - answered - times.length;
  times.sort((a, b) => a - b);
  const row = [percentile(times, 0.5), percentile(times, 0.99), times.at(-1)!].map((time) =>
    time.toFixed(1).padStart(9),
  );
  const counts = `${`${times.length}`.padStart(11)}${`${others}`.padStart(8)}${cpuSeconds.padStart(8)}`;
  console.log(`${name.padEnd(18)} ${row.join('')}${counts}${rss.toFixed(0).padStart(9)}`);
  if (flood !== null) {
    flood.kill();
    await once(flood, 'exit');
    await pause(1_500);
  }
}

async function answers(adminPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  const counts = text.matchAll(/^storegate_requests_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
