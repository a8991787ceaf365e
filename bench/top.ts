/**
 * What it costs to count who sends most. One command:
 *
 *     node --expose-gc bench/top.ts
 *
 * Prints nanoseconds of CPU for each request that is told, the CPU for the end of a slice, and the memory after a day in which every
 * counter has had another key in every slice.
 */

import type { RequestEvent } from '../src/observe/events.ts';
import { Top } from '../src/observe/top/top.ts';
import { requestEvent } from '../test/support/request-event.ts';

const EVENTS = 4_000_000;
const DAY = 86_400_000;

const event = (given: Partial<RequestEvent>): RequestEvent => requestEvent({ keyId: null, ...given });

const REFUSED = { status: 429, code: 'rate_limit_exceeded', verdict: 'limited', unheeding: true };
const keyOf = (i: number) => `key_${i.toString(36).padStart(16, '0')}`;
const eventsOf = (keys: number, given: Partial<RequestEvent>) =>
  Array.from({ length: keys }, (_, i) => event({ ...given, keyId: keyOf(i) }));

/** A gateway has the event and the key at hand; to fetch them from all this memory is no part of the cost. */
function nanoseconds(events: readonly RequestEvent[], pick: (i: number) => number): number {
  const top = new Top(Date.now);
  let read = 0;
  const fetching = nanosecondsOf(events, pick, ({ keyId }) => {
    read += keyId!.charCodeAt(9);
  });
  return read > 0 ? nanosecondsOf(events, pick, top.observe) - fetching : Number.NaN;
}

function nanosecondsOf(
  events: readonly RequestEvent[],
  pick: (i: number) => number,
  observe: (event: RequestEvent) => void,
): number {
  const round = (count: number) => {
    for (let i = 0; i < count; i++) observe(events[pick(i)]!);
  };
  round(EVENTS / 4);
  const before = process.cpuUsage();
  round(EVENTS);
  return (process.cpuUsage(before).user / EVENTS) * 1e3;
}

const skewed = (keys: number) => {
  const draws = Uint32Array.from({ length: 1 << 16 }, () => Math.floor(keys * Math.random() ** 8));
  return (i: number) => draws[i & 0xffff]!;
};

const HELD: { top: Top | null } = { top: null };
let now = Date.UTC(2026, 0, 1);
HELD.top = new Top(() => now);
const ending = countForADay(HELD.top);
const held = heap();
HELD.top = null;
console.log(`the end of a slice: ${(ending / (DAY / 10_000) / 1000).toFixed(2)} ms`);
console.log(`${((held - heap()) / 2 ** 20).toFixed(1)} MiB after a day of ever other keys`);

/** Answers the microseconds of CPU for the ends of all slices. */
function countForADay(top: Top): number {
  let ending = 0;
  for (let slice = 0, i = 0; slice < DAY / 10_000; slice++, now += 10_000) {
    const began = process.cpuUsage();
    top.observe(event({}));
    ending += process.cpuUsage(began).user;
    for (let n = 0; n < 300; n++, i++) {
      // Flat strings of their own, as they are read from a database.
      const [keyId, account, operation] = [20, 64, 40].map((length) => Buffer.from(keyOf(i).padEnd(length)).toString());
      top.observe(
        event({
          ...REFUSED,
          nearLimit: true,
          deprecated: true,
          keyId: keyId!,
          account: account!,
          operation: operation!,
        }),
      );
    }
  }
  return ending;
}

function heap(): number {
  globalThis.gc!();
  return process.memoryUsage().heapUsed;
}

for (const [name, keys, given] of [
  ['100 keys', 100, {}],
  ['100,000 keys, few of them busy', 100_000, {}],
  ['100 keys, all refused and told to wait', 100, REFUSED],
] as const)
  console.log(`${name}: ${nanoseconds(eventsOf(keys, given), skewed(keys)).toFixed(0)} ns`);
console.log(`100,000 keys in turn: ${nanoseconds(eventsOf(100_000, {}), (i) => i % 100_000).toFixed(0)} ns`);
