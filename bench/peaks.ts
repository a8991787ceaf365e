/**
 * What it costs to know how much was used of windows in the last day. One command:
 *
 *     node --expose-gc bench/peaks.ts
 *
 * Prints nanoseconds of CPU for each admitted request that is told, and the memory after a day of few busy keys, and of ever other keys.
 */

import type { RequestEvent, RequestTrace } from '../src/observe/events.ts';
import { Peaks } from '../src/observe/peaks/peaks.ts';
import { requestEvent } from '../test/support/request-event.ts';

const EVENTS = 2_000_000;
const MINUTE = 60_000;
const DAY = 86_400_000;
const WINDOWS = [
  { name: 'minute', kind: 'fixed', limit: 60, span: MINUTE },
  { name: 'day', kind: 'fixed', limit: 1000, span: DAY },
] as const;

function event(key: number, now: number, used: number): RequestEvent {
  const readings = WINDOWS.map((window) => ({
    window,
    remaining: window.limit - used,
    resetAt: Math.ceil((now + 1) / window.span) * window.span,
  }));
  // Flat, as it is read from a database.
  const subject = Buffer.from(`key:key_${key.toString(36).padStart(16, '0')}`).toString();
  const trace = { subject, cost: 1, admission: { readings, now } };
  return requestEvent({ verdict: 'admitted', trace: trace as unknown as RequestTrace });
}

function nanoseconds(keys: number): number {
  const peaks = new Peaks(Date.now);
  const events = Array.from({ length: keys }, (_, i) => event(i, Date.now(), 1 + (i % 50)));
  const round = (count: number) => {
    for (let i = 0; i < count; i++) peaks.observe(events[i % keys]!);
  };
  round(EVENTS / 4);
  const before = process.cpuUsage();
  round(EVENTS);
  return (process.cpuUsage(before).user / EVENTS) * 1e3;
}

const HELD: { peaks: Peaks | null } = { peaks: null };

/** MiB after a day in which `keys` keys send in each minute, the same ones or others. */
function mebibytes(keys: number, areTheSame: boolean): string {
  HELD.peaks = aDay(keys, areTheSame);
  const held = heap();
  HELD.peaks = null;
  return ((held - heap()) / 2 ** 20).toFixed(1);
}

function aDay(keys: number, areTheSame: boolean): Peaks {
  let now = Date.UTC(2026, 0, 1);
  const peaks = new Peaks(() => now);
  for (let minute = 0; minute < DAY / MINUTE; minute++, now += MINUTE) {
    for (let i = 0; i < keys; i++)
      peaks.observe(event(areTheSame ? i : minute * keys + i, now, 1 + ((i * 7 + minute) % 59)));
  }
  return peaks;
}

function heap(): number {
  globalThis.gc!();
  return process.memoryUsage().heapUsed;
}

console.log(`${mebibytes(200, true)} MiB after a day of 200 busy keys`);
console.log(`${mebibytes(2_000, true)} MiB after a day of 2000 busy keys`);
console.log(`${mebibytes(1_000, false)} MiB after a day of ever other keys`);
for (const keys of [100, 100_000]) console.log(`${keys} keys: ${nanoseconds(keys).toFixed(0)} ns`);
