/**
 * What keeping counters through a crash costs in the worst case: every request is of another one of many subjects. One command:
 *
 *     node --expose-gc --disable-warning=ExperimentalWarning bench/beats.ts --subjects 1000000 --rate 20000 --seconds 30
 *
 * The same admissions run with a journal and without one, in turns, each in a process of its own. `cpu` is of the whole process
 * with all its threads; `pause` is how late the event loop was.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Limits } from '../src/limits/limits.ts';
import { EmbeddedState } from '../src/state/embedded/counters.ts';
import { openStateFile } from '../src/state/embedded/file.ts';
import { ledgersInFolder } from '../src/state/embedded/ledgers.ts';
import { LedgerPacker } from '../src/state/embedded/packing.ts';
import { spread } from './statistics.ts';

const { values } = parseArgs({
  options: {
    subjects: { type: 'string', default: '1000000' },
    rate: { type: 'string', default: '20000' },
    seconds: { type: 'string', default: '30' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
  },
});
const [subjects, rate, seconds, rounds] = [values.subjects, values.rate, values.seconds, values.rounds].map(Number) as [
  number,
  number,
  number,
  number,
];

/** Milliseconds between two groups of admissions. */
const TICK = 2;
const DAY = 86_400_000;
const limits: Limits = {
  windows: [
    { name: 'minute', kind: 'fixed', limit: 1e9, span: 60_000 },
    { name: 'day', kind: 'fixed', limit: 1e9, span: DAY },
  ],
  ladder: null,
};

interface Figures {
  /** Share of one processor. */
  readonly cpu: number;
  /** Milliseconds. */
  readonly longestPause: number;
  readonly pause99: number;
  readonly pause999: number;
  /** How long the event loop was held by one slice of packing. */
  readonly slice50: number;
  readonly slice99: number;
  /** Bytes of the journal at its largest, and written in a second. */
  readonly largest: number;
}

/** Notes how long each slice of packing takes, from its first ledger to its payload. */
class TimedPacker extends LedgerPacker {
  readonly slices: number[] = [];
  #from: number | null = null;

  override expect(ledgers: Parameters<LedgerPacker['expect']>[0]): void {
    this.#from ??= performance.now();
    super.expect(ledgers);
  }

  override take(): Buffer {
    const payload = super.take();
    if (this.#from !== null) this.slices.push(performance.now() - this.#from);
    this.#from = null;
    return payload;
  }
}

if (values.only === undefined) compare();
else console.log(JSON.stringify(await measure(values.only === 'journal')));

function compare(): void {
  const figures = { journal: [] as Figures[], memory: [] as Figures[] };
  for (let round = 0; round < rounds; round++) {
    for (const kind of ['memory', 'journal'] as const) figures[kind].push(inChild(kind));
  }
  const median = (kind: 'journal' | 'memory', of: (one: Figures) => number) => spread(figures[kind].map(of)).median;
  for (const kind of ['memory', 'journal'] as const) {
    const [cpu, p99, p999, longest, largest] = [
      median(kind, (one) => one.cpu * 100).toFixed(2),
      median(kind, (one) => one.pause99).toFixed(2),
      median(kind, (one) => one.pause999).toFixed(2),
      median(kind, (one) => one.longestPause).toFixed(2),
      (median(kind, (one) => one.largest) / 1e6).toFixed(0),
    ];
    console.log(
      `${kind}: ${cpu} % of a core, pauses p99 ${p99} ms, p99.9 ${p999} ms, longest ${longest} ms, files ${largest} MB`,
    );
  }
  const [slice50, slice99] = [median('journal', (one) => one.slice50), median('journal', (one) => one.slice99)];
  console.log(`a slice of packing holds the event loop for ${slice50.toFixed(2)} ms, p99 ${slice99.toFixed(2)} ms`);
  const more = median('journal', (one) => one.cpu) - median('memory', (one) => one.cpu);
  console.log(`the journal costs ${(more * 100).toFixed(2)} % of a core at ${rate} subjects a second of ${subjects}`);
}

function inChild(only: 'journal' | 'memory'): Figures {
  const options = ['--expose-gc', '--disable-warning=ExperimentalWarning', import.meta.filename];
  const given = { subjects, rate, seconds, only };
  const text = execFileSync(
    process.execPath,
    [...options, ...Object.entries(given).flatMap(([k, v]) => [`--${k}`, `${v}`])],
    {
      encoding: 'utf8',
      maxBuffer: 1 << 20,
    },
  );
  return JSON.parse(text) as Figures;
}

async function measure(withJournal: boolean): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'storegate-beats-'));
  try {
    return await measureIn(folder, withJournal);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function measureIn(folder: string, withJournal: boolean): Promise<Figures> {
  const db = openStateFile(folder);
  const packer = new TimedPacker();
  const state = new EmbeddedState({ store: withJournal ? ledgersInFolder(folder, db, {}, packer) : null });
  const names = Array.from({ length: subjects }, (_, i) => `key:key_${String(i).padStart(16, '0')}`);
  for (const [i, name] of names.entries()) {
    state.admit(name, limits, 1);
    if (i % 10_000 === 0) await pause(1);
  }
  // Until all of them are written.
  await pause(5_000);
  globalThis.gc!();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  packer.slices.length = 0;
  let largest = 0;
  delay.enable();
  const [before, from] = [process.cpuUsage(), performance.now()];
  let at = 0;
  let done = 0;
  for (let now = from; now < from + seconds * 1_000; now = performance.now()) {
    const due = ((now - from) / 1_000) * rate;
    // The step has no common divisor with the count, so it reaches every subject before any repeats.
    for (; done < due; done++, at = (at + 618_033) % subjects) state.admit(names[at]!, limits, 1);
    await pause(TICK);
    if (done % 100 === 0) largest = Math.max(largest, sizeOf(folder));
  }
  const { user, system } = process.cpuUsage(before);
  const elapsed = performance.now() - from;
  delay.disable();
  largest = Math.max(largest, sizeOf(folder));
  await state.close();
  db.close();
  return {
    cpu: (user + system) / 1_000 / elapsed,
    longestPause: delay.max / 1e6,
    pause99: delay.percentile(99) / 1e6,
    pause999: delay.percentile(99.9) / 1e6,
    slice50: percentile(packer.slices, 0.5),
    slice99: percentile(packer.slices, 0.99),
    largest,
  };
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
}

function sizeOf(folder: string): number {
  const logs = readdirSync(folder).filter((file) => file.endsWith('.log'));
  return logs.reduce((sum, file) => sum + statSync(join(folder, file), { throwIfNoEntry: false })!.size, 0);
}
