/** At least one attack on each thing that clients share, and floods on the shipped contract. */

import type { Socket } from 'node:net';
import { get, post } from '../connection.ts';
import { HEAVY_BODIES, type HeavyBody } from './contract.ts';
import { flood, keepOpen, readSlowly, repeat, sendSlowly } from './hostile-clients.ts';

export interface Setup {
  /** `own`: that of contract.ts. */
  readonly contract: 'own' | 'shipped' | 'none';
  /** What the shell does with the log, such as `> /dev/full`. Default: requests are not logged. */
  readonly log?: string;
  /** Default: as shipped. */
  readonly maxBodyBytes?: string;
}

export interface Keys {
  readonly client: string;
  /** Each of another account. */
  readonly others: readonly string[];
  /** All of one account. */
  readonly account: readonly string[];
}

export interface Target {
  readonly port: number;
  readonly keys: Keys;
  /** Of a flood. */
  readonly connections: number;
}

/** What the client sends. */
export interface Question {
  readonly name: string;
  readonly request: (key: string) => string;
  /** Each on a connection of its own. */
  readonly fresh?: boolean;
}

export interface Attack {
  readonly name: string;
  readonly setup: Setup;
  /** Whether nginx shares the same thing. */
  readonly nginx: boolean;
  readonly questions: readonly Question[];
  /** Resolves when everything that the attack begins with is open. */
  readonly run: (target: Target) => Promise<void>;
}

const PER_KEY = 10;
const ADDRESSES = Array.from({ length: 11 }, (_, i) => `127.0.0.${i + 2}`);
const PER_ADDRESS = 1_000;
/** Bytes that slow bodies begin with, to take memory; small bodies take what large ones leave. */
const AT_ONCE = [300_000, 100_000, 30_000];
/** Bytes per second, above `http.minBodyRate`. */
const SLOW = 1_300;
const HEAVY_PER_KEY = 2;
/** Milliseconds between requests that fill the log. */
const LOG_PAUSE = 2;

const items = JSON.stringify(
  Array.from({ length: 2_500 }, (_, id) => ({ id, name: `item ${id} of 2,500` })),
);
const asks = (path: string): Question => ({ name: 'GET', request: (key) => get(path, key) });
const GET = asks('/small');
const NEW: Question = { ...GET, name: 'GET, new connection', fresh: true };
const POST: Question = {
  name: 'POST 100 KB',
  request: (key) => post('/items', items.length, key) + items,
};
const FIELDS = Array.from(
  { length: 95 },
  (_, i) => `x-${i}-${'abcdefgh'.slice(i % 8)}: ${i * 7919}\r\n`,
).join('');
const urls = Array.from({ length: 40_000 }, (_, i) => `https://a/${i}`);
const names = Array.from({ length: 80_000 }, (_, i) => [`name${i}`, 0]);
const pet = (body: object) => (key: string) => {
  const text = JSON.stringify(body);
  return post('/pets', text.length, key) + text;
};

type Run = Attack['run'];

function attack(
  name: string,
  questions: readonly Question[],
  run: Run,
  setup: Setup = { contract: 'own' },
  nginx = true,
): Attack {
  return { name, questions, run, setup, nginx };
}

export const ATTACKS: readonly Attack[] = [
  attack('upstream: uploads, no contract', [GET], uploads('/upload'), { contract: 'none' }),
  attack('upstream: uploads, mount', [asks('/mount/small')], uploads('/mount/upload')),
  attack('upstream: uploads, operation', [GET], uploads('/upload')),
  attack(
    'upstream: large uploads, mount',
    [asks('/mount/small')],
    // Gateways may begin to forward an upload before its end.
    uploads('/mount/upload', 4_000_000, 1_200_000, SLOW),
    { contract: 'own', maxBodyBytes: '4MiB' },
  ),
  attack('upstream: slow readers', [GET], (target) =>
    perKey(target.keys.others, PER_KEY, (key) => readSlowly(target, get('/large', key), 512)),
  ),
  attack('connections: idle, no key', [NEW, GET], idle(null, false)),
  attack('connections: idle, a key', [NEW, GET], idle(null, true)),
  attack('connections: idle, reopened', [NEW, GET], idle(1, false)),
  attack(
    'body memory: five keys of an account',
    [POST, GET],
    fillMemory(({ account }) => account.map((key) => ({ key, path: '/items' }))),
  ),
  attack(
    'body memory: five addresses',
    [POST, GET],
    fillMemory(() => ADDRESSES.slice(0, 5).map((from) => ({ from, path: '/public' }))),
  ),
  ...Object.entries(HEAVY_BODIES).map(([name, body]) =>
    attack(`turns: ${name}`, [GET, POST], heavyBodies(body), { contract: 'own' }, false),
  ),
  attack('log: stopped reader', [GET], fillLog, { contract: 'own', log: '| sleep 600' }),
  attack('log: full disk', [GET], fillLog, { contract: 'own', log: '> /dev/full' }),
  { ...row('none', () => ''), run: async () => {} },
  row('no key', () => get('/pets').repeat(2_500)),
  row('95 fields', () => get('/pets', undefined, FIELDS).repeat(50)),
  row('404', (key) => get('/nowhere', key).repeat(1_000)),
  row('400', (key) => get('/pets/x', key).repeat(1_000)),
  row('a page', () => get('/docs/').repeat(2_500)),
  row('large bodies', pet({ name: 'Rex', photoUrls: urls })),
  row('80,000 names', pet(Object.fromEntries(names))),
];

function row(name: string, requests: (key: string) => string): Attack {
  const run = async (target: Target) => {
    const text = requests(target.keys.others[0]!);
    await times(target.connections, () => flood(target, text));
  };
  return attack(`flood: ${name}`, [asks('/pets/1')], run, { contract: 'shipped' }, false);
}

interface SlowBody {
  readonly path: string;
  readonly key?: string;
  readonly from?: string;
  /** Of the whole body, of which `atOnce` bytes are sent, and then `rate` per second. */
  readonly length: number;
  readonly atOnce: number;
  readonly rate: number;
}

function slowBodies(bodies: (keys: Keys) => readonly SlowBody[]): Run {
  return async ({ port, keys }) => {
    const each = bodies(keys).map(({ path, key, from, length, atOnce, rate }) => {
      const first = post(path, length, key) + '['.padEnd(atOnce);
      const send = (socket: Socket) => sendSlowly(socket, first, rate);
      return times(PER_KEY, () => keepOpen({ port, from }, send));
    });
    await Promise.all(each);
  };
}

function uploads(path: string, length = 1_000, atOnce = 0, rate = 0.5): Run {
  return slowBodies(({ others }) => others.map((key) => ({ path, key, length, atOnce, rate })));
}

function fillMemory(
  senders: (keys: Keys) => readonly Pick<SlowBody, 'path' | 'key' | 'from'>[],
): Run {
  return slowBodies((keys) =>
    senders(keys).flatMap((sender) =>
      AT_ONCE.map((atOnce) => ({ ...sender, length: atOnce + 50_000, atOnce, rate: SLOW })),
    ),
  );
}

/** Each connection has sent one request. */
function idle(reopen: number | null, keyed: boolean): Run {
  return async ({ port, keys }) => {
    const request = keyed ? get('/small', keys.others[0]) : get('/public');
    for (const from of ADDRESSES) {
      await times(PER_ADDRESS, () =>
        keepOpen({ port, from }, (socket) => socket.write(request), reopen),
      );
    }
  };
}

function heavyBodies({ path, type, text }: HeavyBody): Run {
  return async (target) => {
    const body = text();
    await perKey(target.keys.account, HEAVY_PER_KEY, (key) =>
      repeat(target, post(path, body.length, key, type) + body),
    );
  };
}

async function fillLog(target: Target): Promise<void> {
  await repeat(target, get('/small', target.keys.others[0]), LOG_PAUSE);
}

async function perKey(
  keys: readonly string[],
  count: number,
  open: (key: string) => Promise<void>,
): Promise<void> {
  await Promise.all(keys.map((key) => times(count, () => open(key))));
}

async function times(count: number, open: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, open));
}
