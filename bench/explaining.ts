/**
 * What keeping the last requests costs (`explain.requests`): CPU for each request, good or of a flood of refusals, and bytes for each
 * that is kept. Run by itself: node --expose-gc bench/explaining.ts
 */
import { setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Admission } from '../src/limits/admission.ts';
import type { Window } from '../src/limits/limits.ts';
import type { RequestEvent, RequestTrace } from '../src/observe/events.ts';
import { RecentRequests } from '../src/observe/request-log/recent.ts';
import { tuneEngine } from '../src/run/engine.ts';

const { values } = parseArgs({ options: { requests: { type: 'string', default: '2000000' } } });
const ROUNDS = 5;
const COUNT = Number(values.requests);
const KEPT = 10_000;

tuneEngine();

const windows: readonly Window[] = [
  { name: 'minute', kind: 'fixed', limit: 60, span: 60_000 },
  { name: 'day', kind: 'fixed', limit: 1_000, span: 86_400_000 },
];
const ladder = { strikes: 10, within: 60_000, grace: 100, lengths: [60_000, 300_000], forget: 86_400_000 };

const names = Array.from({ length: 10_000 }, (_, i) => `key_${String(i).padStart(16, '0')}`);

/** What a gateway that keeps nothing makes all the same must not be optimised away. */
let last: unknown = null;

function admissionOf(i: number, verdict: 'admitted' | 'limited'): Admission {
  const now = 1.7e12 + i;
  const readings = windows.map((window) => ({ window, remaining: i % 50, resetAt: now + 1_000 }));
  const admitted = verdict === 'admitted';
  return {
    ...{ verdict, now, readings, strikes: 0, bannedUntil: 0, banBegins: false },
    ...{ retryAt: admitted ? 0 : now + 1_000, violated: admitted ? null : windows[0]! },
  };
}

type Verdict = 'admitted' | 'limited';

/** As the door makes it, with all that is made for it alone. `keys`: from how many it comes. */
function eventOf(i: number, verdict: Verdict, keys: number, trace?: RequestTrace): RequestEvent {
  const admitted = verdict === 'admitted';
  return {
    ...{ type: 'request', id: `0b7f4a52-63c1-4c0e-9d0f-2f6f${i.toString(16).padStart(8, '0')}`, method: 'GET' },
    ...{ operation: 'listPets', status: admitted ? 200 : 429, complete: true, verdict, account: 'acme', plan: 'free' },
    nearLimit: false,
    unheeding: false,
    deprecated: false,
    keyId: names[i % keys]!,
    address: '192.0.2.1',
    duration: 0.5 + i / 1e9,
    upstream: admitted ? 0.3 + i / 1e9 : null,
    code: admitted ? null : 'rate_limit_exceeded',
    ...(trace && { trace }),
  };
}

/** What is there only to be explained, with the two looks at the clock that it takes. */
function traceOf(verdict: Verdict, admission: Admission): RequestTrace {
  const began = performance.now();
  const authenticated = performance.now() - began;
  return {
    ...{
      path: '/pets',
      subject: 'key:key_1',
      message: null,
      reason: null,
      faults: null,
      faultCount: 0,
      standing: admission,
    },
    ...{
      admission,
      ladder,
      cost: 1,
      scopes: [],
      declared: 0,
      received: 0,
      authenticated,
      admitted: authenticated + 0.1,
    },
    ...{ forwarded: verdict === 'admitted' ? authenticated + 0.2 : null, store: null, traceparent: null },
  };
}

/** Microseconds of CPU for each event. */
async function cost(recent: RecentRequests | null, verdict: Verdict, keys: number): Promise<number> {
  const before = process.cpuUsage();
  for (let i = 0; i < COUNT; i++) {
    const admission = admissionOf(i, verdict);
    last = admission;
    if (recent === null) last = eventOf(i, verdict, keys);
    else recent.observe(eventOf(i, verdict, keys, traceOf(verdict, admission)));
    if (i % 20_000 === 0) await setImmediate();
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / COUNT;
}

const median = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;

for (const [name, verdict, keys] of [
  ['good requests', 'admitted', 100],
  ['refusals of one key', 'limited', 1],
  ['refusals of 10000 keys', 'limited', 10_000],
] as const) {
  const differences: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const without = await cost(null, verdict, keys);
    const recent = new RecentRequests({ requests: KEPT, sample: 1 }, { worker: null });
    differences.push((await cost(recent, verdict, keys)) - without);
  }
  console.log(`${name}: ${median(differences).toFixed(2)} us of CPU each`);
}

async function heap(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await setImmediate();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

if (globalThis.gc === undefined) console.log('bytes: run it with --expose-gc');
else {
  const pointer = (i: number) => [i, ...'members of objects in objects and so on to the'.split(' ')].join('/');
  const faultsOf = (i: number) =>
    Array.from({ length: 10 }, (_, at) => ({ in: 'body' as const, pointer: pointer(i + at), rule: 'type' as const }));
  for (const [name, verdict, faulty] of [
    ['good', 'admitted', false],
    ['refused', 'limited', false],
    ['refused for ten faults', 'limited', true],
  ] as const) {
    let now = 1.7e12;
    const clock = () => {
      now += 1_000;
      return now;
    };
    const before = await heap();
    const recent = new RecentRequests({ requests: KEPT, sample: 1 }, { worker: null, clock });
    for (let i = 0; i < KEPT; i++) {
      const trace = traceOf(verdict, admissionOf(i, verdict));
      recent.observe(eventOf(i, verdict, 1_000, faulty ? { ...trace, faults: faultsOf(i), faultCount: 10 } : trace));
    }
    const after = await heap();
    console.log(`${name}: ${Math.round((after - before) / (KEPT / 2))} bytes each`);
    recent.observe(eventOf(0, verdict, 1));
  }
}
if (last === null) throw new Error('nothing was measured');
