/** At least one attack on each thing that clients share. */

import type { Socket } from 'node:net';
import { HEAVY_BODIES } from './contract.ts';
import { get, keepOpen, post, readSlowly, repeat, sendSlowly } from './hostile-clients.ts';
import type { Attack, Question, Setup, Target } from './table.ts';

const PER_KEY = 10;
const ADDRESSES = Array.from({ length: 11 }, (_, i) => `127.0.0.${i + 2}`);
const PER_ADDRESS = 1_000;
/** Bytes that slow bodies begin with, to take memory; small bodies take what large ones leave. */
const AT_ONCE = [300_000, 100_000, 30_000];
/** Bytes per second, above `http.minBodyRate`, and bytes that a body sends so slowly. */
const SLOW = { rate: 1_300, bytes: 50_000 };
/** Gateways may begin to forward an upload before its end. */
const LARGE_UPLOAD = { atOnce: 1_200_000, bytes: 4_000_000 };
const HEAVY_PER_KEY = 2;
/** Milliseconds between requests that fill the log. */
const LOG_PAUSE = 2;

const items = Array.from({ length: 2_500 }, (_, id) => ({ id, name: `item ${id} of 2,500` }));
const GET: Question = { name: 'GET', method: 'GET', path: '/small' };
const NEW: Question = { name: 'GET, new connection', method: 'GET', path: '/small', fresh: true };
const MOUNT: Question = { name: 'GET', method: 'GET', path: '/mount/small' };
const POST: Question = {
  name: 'POST 100 KB',
  method: 'POST',
  path: '/items',
  body: JSON.stringify(items),
};

export const SHARED: readonly Attack[] = [
  upstream('uploads, no contract', { contract: 'none' }, GET, uploads('/upload')),
  upstream('uploads, mount', { contract: 'own' }, MOUNT, uploads('/mount/upload')),
  upstream('uploads, operation', { contract: 'own' }, GET, uploads('/upload')),
  upstream('large uploads, mount', { contract: 'own', maxBodyBytes: '4MiB' }, MOUNT, largeUploads),
  upstream('slow readers', { contract: 'own' }, GET, readers),
  connections('idle, no key', idle(null, false)),
  connections('idle, a key', idle(null, true)),
  connections('idle, reopened', idle(1, false)),
  memory('five keys of an account', ({ keys }) =>
    keys.account.map((key) => ({ key, path: '/items' })),
  ),
  memory('five addresses', () => ADDRESSES.slice(0, 5).map((from) => ({ from, path: '/public' }))),
  ...Object.keys(HEAVY_BODIES).map(turns),
  log('stopped reader', '| sleep 600'),
  log('full disk', '> /dev/full'),
];

type Run = Attack['run'];

function upstream(name: string, setup: Setup, question: Question, run: Run): Attack {
  return { name: `upstream: ${name}`, setup, nginx: true, questions: [question], run };
}

function connections(name: string, run: Run): Attack {
  return {
    name: `connections: ${name}`,
    setup: { contract: 'own' },
    nginx: true,
    questions: [NEW, GET],
    run,
  };
}

function memory(name: string, senders: (target: Target) => readonly Sender[]): Attack {
  const run = slowBodies(senders);
  return {
    name: `body memory: ${name}`,
    setup: { contract: 'own' },
    nginx: true,
    questions: [POST, GET],
    run,
  };
}

function turns(name: string): Attack {
  const run = heavyBodies(name);
  return {
    name: `turns: ${name}`,
    setup: { contract: 'own' },
    nginx: false,
    questions: [GET, POST],
    run,
  };
}

function log(name: string, redirection: string): Attack {
  const setup = { contract: 'own', log: redirection } as const;
  return { name: `log: ${name}`, setup, nginx: true, questions: [GET], run: fillLog };
}

function uploads(path: string): Run {
  return async (target) => {
    const each = target.keys.strangers.map((key) => {
      const head = post(path, 1_000, key);
      return times(PER_KEY, () => keepOpen(target, (socket) => sendSlowly(socket, head, 0.5)));
    });
    await Promise.all(each);
  };
}

async function largeUploads(target: Target): Promise<void> {
  const each = target.keys.strangers.map((key) => {
    const first = post('/mount/upload', LARGE_UPLOAD.bytes, key) + '['.padEnd(LARGE_UPLOAD.atOnce);
    return times(PER_KEY, () => keepOpen(target, (socket) => sendSlowly(socket, first, SLOW.rate)));
  });
  await Promise.all(each);
}

async function readers(target: Target): Promise<void> {
  await Promise.all(
    target.keys.strangers.map((key) =>
      times(PER_KEY, () => readSlowly(target, get('/large', key), 512)),
    ),
  );
}

/** Each connection has sent one request. */
function idle(reopen: number | null, keyed: boolean): Run {
  return async ({ port, keys }) => {
    const request = keyed ? get('/small', keys.strangers[0]) : get('/public');
    for (const from of ADDRESSES) {
      await times(PER_ADDRESS, () =>
        keepOpen({ port, from }, (socket) => socket.write(request), reopen),
      );
    }
  };
}

interface Sender {
  readonly path: string;
  readonly key?: string;
  readonly from?: string;
}

function slowBodies(senders: (target: Target) => readonly Sender[]): Run {
  return async (target) => {
    const each = senders(target).flatMap(({ path, key, from }) =>
      AT_ONCE.map((bytes) => {
        const first = post(path, bytes + SLOW.bytes, key) + '['.padEnd(bytes);
        const send = (socket: Socket) => sendSlowly(socket, first, SLOW.rate);
        return times(PER_KEY, () => keepOpen({ port: target.port, from }, send));
      }),
    );
    await Promise.all(each);
  };
}

function heavyBodies(name: string): Run {
  return async (target) => {
    const { path, type, text } = HEAVY_BODIES[name]!;
    const body = text();
    const each = target.keys.account.map((key) => {
      const request = post(path, body.length, key, type) + body;
      return times(HEAVY_PER_KEY, () => repeat(target, request));
    });
    await Promise.all(each);
  };
}

async function fillLog(target: Target): Promise<void> {
  await repeat(target, get('/small', target.keys.strangers[0]), LOG_PAUSE);
}

async function times(count: number, open: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, open));
}
