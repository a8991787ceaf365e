/**
 * What plans get of a store that has three times the requests that it can answer. One command:
 *
 *     node --disable-warning=ExperimentalWarning bench/shares.ts
 *
 * The store is the shipped one, behind a relay that holds each request for some milliseconds. Requests come at random times, however
 * long answers take: of the paid plans as many as the store could answer, of free all the rest. Then once more with every key
 * counted as one account, which waits in one line, first come, first served; with requests of free that take ten times as long; and with
 * all plans asking for far more than they can get.
 */

import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { freePort } from '../test/support/free-port.ts';
import { Children } from './children.ts';
import { Connection, OK } from './connection.ts';
import { stepAside } from './processors.ts';
import { percentile } from './statistics.ts';

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '8' },
    delay: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '20' },
  },
});
const [connections, delay, seconds] = [values.connections, values.delay, values.seconds].map(Number) as [
  number,
  number,
  number,
];

const project = new URL('../', import.meta.url).pathname;
const MAIN = ['--disable-warning=ExperimentalWarning', join(project, 'src/main.js')];
/** The weights of the shipped plans, without their limits. */
const WEIGHTS = { free: 1, pro: 4, business: 8, enterprise: 16 };
type Plan = keyof typeof WEIGHTS;
const NAMES = Object.keys(WEIGHTS) as Plan[];
/** Parts of what the store can answer that are asked for: less than the weights give to each paid plan. */
const PAID: Readonly<Partial<Record<Plan, number>>> = { pro: 0.1, business: 0.2, enterprise: 0.35 };
const TIMES = 3;
const SLOWER = 10;
/** Seconds of a load that are not counted. */
const WARM_UP = 2;

const windows = 'windows: [{ limit: 1000000000, per: minute }]';
const PLANS = `plans:
${NAMES.map((name) => `  ${name}: { ${windows}, weight: ${WEIGHTS[name]} }`).join('\n')}
  together: { ${windows}, count: account }
bans: off
`;

interface Got {
  readonly offered: number;
  readonly good: number;
  readonly refused: number;
  /** Milliseconds of good answers, sorted. */
  readonly times: readonly number[];
}

/** So many times as long as others are requests of free held. */
let heldLonger = 1;

stepAside();
const children = new Children();
const relays: Server[] = [];
try {
  await run();
} finally {
  for (const relay of relays) relay.close();
  await children.close();
}
process.exit();

async function run(): Promise<void> {
  const { port, keys, together } = await start();
  const most = connections * (1_000 / delay);
  const flood = await load(port, { free: keys.free }, { free: TIMES * most });
  const capacity = flood.free!.good / seconds;
  console.log(
    `The store answers ${capacity.toFixed(0)} requests a second: ${connections} at once, held ${delay} ms each. Loads of ${seconds} s.\n`,
  );
  const paid = scaled(PAID, capacity);
  const asked = Object.values(PAID).reduce((sum, part) => sum + part, 0);
  const all = { free: (TIMES - asked) * capacity, ...paid };
  const alone = await load(port, keys, paid);
  table('The paid plans alone', alone, alone, capacity);
  table(`${TIMES} times what the store can answer, most of it free`, await load(port, keys, all), alone, capacity);
  table('The same in one line, first come, first served', await load(port, together, all), alone, capacity);
  heldLonger = SLOWER;
  const title = `As the second, but the store takes ${SLOWER} times as long for requests of free`;
  table(title, await load(port, keys, all), alone, capacity);
  heldLonger = 1;
  const equal = scaled(Object.fromEntries(NAMES.map((name) => [name, TIMES / NAMES.length])), capacity);
  table('Each plan offers three quarters of what the store can answer', await load(port, keys, equal), null, capacity);
}

function scaled(parts: Readonly<Partial<Record<Plan, number>>>, capacity: number): Partial<Record<Plan, number>> {
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, part * capacity]));
}

/** A gateway before the slow store, with a key for each plan, and one for each that are all counted as one. */
async function start() {
  const storePort = await freePort();
  const file = join(children.folder, 'store.db');
  const store = ['store', '--port', String(storePort), '--file', file];
  await children.start({
    name: 'store',
    file: process.execPath,
    args: [...MAIN, ...store],
    port: storePort,
    place: 'beside',
  });
  const folder = join(children.folder, 'gateway');
  mkdirSync(folder);
  writeFileSync(join(folder, 'plans.yaml'), PLANS);
  writeFileSync(join(folder, 'gateway.yaml'), `upstream: { connections: ${connections} }\n`);
  const port = await freePort();
  const env = {
    STOREGATE_HOST: '127.0.0.1',
    STOREGATE_PORT: String(port),
    STOREGATE_ADMIN_PORT: String(await freePort()),
    STOREGATE_DATA: join(folder, 'data'),
    STOREGATE_CONFIG: join(folder, 'gateway.yaml'),
    STOREGATE_PLANS: join(folder, 'plans.yaml'),
    STORE_URL: `http://127.0.0.1:${await slow(storePort)}`,
    LOG_LEVEL: 'silent',
  };
  const keys = {} as Record<Plan, string>;
  const together = {} as Record<Plan, string>;
  for (const name of NAMES) {
    keys[name] = await makeKey(env, name);
    together[name] = await makeKey(env, 'together');
  }
  await children.start({ name: 'gateway', file: process.execPath, args: [...MAIN, 'serve'], cwd: project, env, port });
  return { port, keys, together };
}

async function makeKey(env: Record<string, string>, plan: string): Promise<string> {
  const args = [...MAIN, 'keys', 'create', '--plan', plan, '--account', 'bench', '--json'];
  const options = { cwd: project, env: { PATH: process.env.PATH, ...env } };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  return (JSON.parse(stdout) as { key: string }).key;
}

/** Relays connections, and holds what comes for the store. Each request of a connection comes in one read. */
async function slow(to: number): Promise<number> {
  const relay = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: to, host: '127.0.0.1', noDelay: true });
    near.on('data', (bytes) => {
      const isFree = heldLonger > 1 && bytes.includes('X-Storegate-Plan: free');
      setTimeout(() => far.write(bytes), isFree ? heldLonger * delay : delay);
    });
    far.pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
    }
  });
  relays.push(relay);
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  return (relay.address() as AddressInfo).port;
}

/** Sends requests of each plan at its rate, all at random times. */
async function load(
  port: number,
  keys: Readonly<Partial<Record<Plan, string>>>,
  rates: Readonly<Partial<Record<Plan, number>>>,
): Promise<Partial<Record<Plan, Got>>> {
  const loads = Object.entries(rates).map(async ([name, rate]) => [
    name,
    await loadOf(port, keys[name as Plan]!, rate),
  ]);
  const got = Object.fromEntries(await Promise.all(loads)) as Partial<Record<Plan, Got>>;
  return got;
}

async function loadOf(port: number, key: string, rate: number): Promise<Got> {
  const request = `GET /pets HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`;
  const idle: Connection[] = [];
  const times: number[] = [];
  const under: Promise<void>[] = [];
  let offered = 0;
  let refused = 0;
  const begin = performance.now() + WARM_UP * 1_000;
  const end = begin + seconds * 1_000;

  async function ask(at: number): Promise<void> {
    const connection = idle.pop() ?? new Connection(port);
    const outcome = await connection.ask(request);
    if (!connection.ended) idle.push(connection);
    if (at < begin) return;
    offered++;
    if (outcome === OK) times.push(performance.now() - at);
    else if (outcome.startsWith('HTTP/1.1 503')) refused++;
    else throw new Error(`a request was answered with: ${outcome}`);
  }

  let next = performance.now();
  while (next < end) {
    const wait = next - performance.now();
    if (wait > 0) await pause(wait);
    under.push(ask(next));
    next -= (Math.log(1 - Math.random()) / rate) * 1_000;
  }
  await Promise.all(under);
  for (const connection of idle) connection.close();
  return { offered, good: times.length, refused, times: times.sort((a, b) => a - b) };
}

function table(
  title: string,
  got: Readonly<Partial<Record<Plan, Got>>>,
  alone: Readonly<Partial<Record<Plan, Got>>> | null,
  capacity: number,
): void {
  const columns = [
    'plan',
    'weight',
    'offered/s',
    'got/s',
    'of the store',
    'of its own',
    'of alone',
    'p50 ms',
    'p99 ms',
  ];
  console.log(`${title}\n\n| ${columns.join(' | ')} |\n|---|${'--:|'.repeat(columns.length - 1)}`);
  const percent = (part: number) => `${(100 * part).toFixed(1)} %`;
  for (const name of NAMES) {
    const mine = got[name];
    if (mine === undefined) continue;
    const { offered, good, times } = mine;
    const own = alone?.[name];
    const cells = [
      ...[name, WEIGHTS[name], (offered / seconds).toFixed(0), (good / seconds).toFixed(1)],
      percent(good / seconds / capacity),
      percent(good / offered),
      own === undefined ? '–' : percent(good / offered / (own.good / own.offered)),
      ...[0.5, 0.99].map((share) => percentile(times, share).toFixed(0)),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
  const answered = Object.values(got).reduce((sum, { good }) => sum + good / seconds, 0);
  // On a machine that is too busy the store answers fewer than at first, and what was offered was more than three times as many.
  console.log(`\nAll together: ${answered.toFixed(0)} a second.\n`);
}
