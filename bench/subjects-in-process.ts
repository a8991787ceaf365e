import { DAY, MINUTE } from '../src/common/time.ts';
import type { Limits } from '../src/limits/limits.ts';
import { createEmbeddedState } from '../src/state/embedded/counters.ts';
import { heldMemory, total } from './cpu.ts';
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

const limits: Limits = {
  windows: [
    { name: 'minute', kind: 'fixed', limit: 1e9, span: MINUTE },
    { name: 'day', kind: 'fixed', limit: 1e9, span: DAY },
  ],
  escalation: null,
};

let now = Date.now();
const state = createEmbeddedState({ clock: () => now });
const subjects = Array.from({ length: MANY }, (_, i) => `key_${String(i).padStart(16, '0')}`);

admitAll(FEW);
const admissionOfFew = timeOf(FEW);
const empty = heldMemory();
admitAll(MANY);
const full = heldMemory();
const admissionOfMany = timeOf(MANY);
const existing = state.size;
if (existing !== MANY) throw new Error(`the state remembers ${existing} subjects, not ${MANY}`);

now += 2 * DAY;
while (state.forget(MANY / 100));
if (state.size !== 0) throw new Error(`the state still remembers ${state.size} subjects that left`);
const remaining = heldMemory();
await state.close();

console.log(
  JSON.stringify({
    bytesPerSubject: (full - empty) / (MANY - FEW),
    keptAfterLeaving: Math.max(0, remaining - empty) / (full - empty),
    admissionOfFew,
    admissionOfMany,
  } satisfies SubjectFigures),
);

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
  return total(process.cpuUsage(before)) / MANY;
}

function admit(subject: string): void {
  const admission = state.admit(subject, limits, 1);
  if (admission.verdict !== 'admitted') throw new Error(`${subject} was ${admission.verdict}`);
}
