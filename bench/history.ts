/**
 * What it costs to keep the last day minute by minute. One command:
 *
 *     node --expose-gc bench/history.ts
 *
 * Prints nanoseconds of CPU for each request, milliseconds for the end of a minute in which 140 operations of 20 plans were called, and
 * the memory after days of such minutes.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { RequestEvent } from '../src/observe/events.ts';
import { History } from '../src/observe/history/history.ts';
import { Recorder } from '../src/observe/history/recorder.ts';
import { requestEvent } from '../test/support/request-event.ts';

const MINUTES = 24 * 60;
const OPERATIONS = 140;
const PLANS = 20;
const EVENTS = 1 << 16;

const HELD: { history: History | null } = { history: new History() };
const history = () => HELD.history!;
let now = Date.UTC(2026, 0, 1);
let ending = 0;
const recorder = new Recorder(
  () => now,
  (minute) => void history().add(minute),
);

for (const [name, requests] of [
  ['a quiet day', 100],
  ['a busy day', 6_000],
  ['another busy day', 6_000],
] as const)
  console.log(`${name}, ${requests} requests a minute: ${(dayOf(requests) / 2 ** 20).toFixed(1)} MiB packed`);
console.log(`the end of a busy minute: ${(ending / MINUTES / 1000).toFixed(2)} ms`);
const held = await heap();
HELD.history = null;
console.log(`${((held - (await heap())) / 2 ** 20).toFixed(1)} MiB in all`);
console.log(`${nanoseconds().toFixed(0)} ns for a request`);

/** Answers the bytes of a history after it. */
function dayOf(requests: number): number {
  ending = 0;
  for (let minute = 0; minute < MINUTES; minute++, now += 60_000) {
    for (let i = 0; i < requests; i++) recorder.observe(event());
    now += 60_000;
    const began = process.cpuUsage();
    recorder.turn();
    ending += process.cpuUsage(began).user;
    now -= 60_000;
  }
  return history().bytes;
}

function nanoseconds(): number {
  const events = Array.from({ length: EVENTS }, event);
  const counting = new Recorder(Date.now, () => {});
  const round = () => {
    for (let i = 0; i < 50 * EVENTS; i++) counting.observe(events[i & (EVENTS - 1)]!);
  };
  round();
  const before = process.cpuUsage();
  round();
  return (process.cpuUsage(before).user / (50 * EVENTS)) * 1e3;
}

/** Durations as stores have them: most near 5 ms, some far beyond. */
function event(): RequestEvent {
  const normal = Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
  return requestEvent({
    operation: `anOperationOfTheContract${Math.floor(Math.random() * OPERATIONS)}`,
    status: Math.random() < 0.9 ? 200 : 429,
    plan: `plan${Math.floor(Math.random() * PLANS)}`,
    duration: 5 * Math.exp(normal),
  });
}

/** Bytes that are in use; buffers are given back some time after their collection. */
async function heap(): Promise<number> {
  for (let round = 0; round < 5; round++) {
    globalThis.gc!();
    await pause(100);
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
