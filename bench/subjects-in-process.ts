import type { Limits } from '../src/limits/limits.ts';
import { createEmbeddedState } from '../src/state/embedded/counters.ts';
import { spread } from './statistics.ts';

/** Measured in the embedded state itself; a million subjects would take minutes through HTTP. */
export interface SubjectFigures {
  /** While all are active. */
  readonly bytesPerSubject: number;
  /** Share of that memory still held after all have left. */
  readonly keptAfterLeaving: number;
  /** CPU microseconds among a thousand subjects, and among all. */
  readonly admissionOfFew: number;
  readonly admissionOfMany: number;
}

const FEW = 1_000;
const MANY = 1_000_000;
const DAY = 86_400_000;

const limits: Limits = {
  windows: [
    { name: 'minute', kind: 'fixed', limit: 1e9, span: 60_000 },
    { name: 'day', kind: 'fixed', limit: 1e9, span: DAY },
  ],
  escalation: null,
};

let now = Date.now();
const state = createEmbeddedState({ clock: () => now });
const subjects = Array.from({ length: MANY }, (_, i) => `key_${String(i).padStart(16, '0')}`);

admitAll(FEW);
const admissionOfFew = timeOf(FEW);
const empty = held();
admitAll(MANY);
const full = held();
const admissionOfMany = timeOf(MANY);
const existing = state.size;
if (existing !== MANY) throw new Error(`the state remembers ${existing} subjects, not ${MANY}`);

now += 2 * DAY;
while (state.forget(MANY / 100));
if (state.size !== 0) throw new Error(`the state still remembers ${state.size} subjects that left`);
const remaining = held();
await state.close();

const figures: SubjectFigures = {
  bytesPerSubject: (full - empty) / (MANY - FEW),
  keptAfterLeaving: Math.max(0, remaining - empty) / (full - empty),
  admissionOfFew,
  admissionOfMany,
};
console.log(JSON.stringify(figures));

function admitAll(count: number): void {
  for (let i = 0; i < count; i++) admit(subjects[i]!);
}

/** CPU microseconds of one admission, the median of three rounds. */
function timeOf(count: number): number {
  return spread([count, count, count].map(timeOnce)).median;
}

/** The order of subjects defeats caches. */
function timeOnce(count: number): number {
  const before = process.cpuUsage();
  // The step has no common divisor with the count, so it reaches every subject before any repeats.
  for (let i = 0, at = 0; i < MANY; i++, at = (at + 618_033) % count) admit(subjects[at]!);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / MANY;
}

function admit(subject: string): void {
  const admission = state.admit(subject, limits, 1);
  if (admission.verdict !== 'admitted') throw new Error(`${subject} was ${admission.verdict}`);
}

/** Bytes in use after garbage collection. */
function held(): number {
  globalThis.gc!();
  globalThis.gc!();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
