import { setImmediate } from 'node:timers/promises';
import type { KeyRecord } from '../../keys/key.ts';
import { faultIn } from './check.ts';
import type { FileWriter } from './file-target.ts';
import { lineOf } from './lines.ts';
import { rejectMerge } from './merge-check.ts';
import type { MissingPlans } from './missing-plans.ts';
import { OUTCOMES, type Outcome, type Source, type Target } from './port.ts';
import { prefetch } from './prefetch.ts';
import { type Batch, type Counts, nameIn, noCounts, type RecordType, TYPES, type ValueOf } from './records.ts';

/** Maximum reported lines; further ones are only counted. */
const MAX_REPORTED = 100;

export interface ReportLines {
  readonly count: number;
  readonly first: readonly string[];
}

export interface TransferResult {
  readonly given: Counts;
  readonly outcomes: Readonly<Record<RecordType, Readonly<Record<Outcome, number>>>>;
  readonly leftOut: ReportLines;
  readonly has: Counts;
}

export interface TransferOptions {
  readonly missing: MissingPlans;
  readonly pass: (records: number) => void;
  readonly actor: string;
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly dryRun: boolean;
}

/** Writes a source to a file. Returns the written and the skipped records. */
export async function writeFile(
  source: Source,
  file: FileWriter,
  pass: TransferOptions['pass'],
): Promise<{ readonly has: Counts; readonly leftOut: ReportLines }> {
  const leftOut = new ReportCollector();
  let through = 0;
  for await (const batch of prefetch(source.read())) {
    file.take(source.isChecked ? batch : leftOut.validIn(batch));
    through += batch.values.length;
    pass(through);
    await setImmediate();
  }
  return { has: await file.finish(), leftOut };
}

/** Imports a source into a target, which must be empty or an earlier copy of it. Throws TransferError otherwise. */
export async function transferState(source: Source, target: Target, options: TransferOptions): Promise<TransferResult> {
  await rejectMerge(source, target);
  const progress = new TransferProgress(options);
  for await (const batch of prefetch(source.read())) {
    const valid = source.isChecked ? batch : progress.leftOut.validIn(batch);
    progress.note(valid, await target.take(valid));
    // File and folder access is synchronous, and signals are handled only between turns.
    await setImmediate();
  }
  const has = await target.finish(options.dryRun || !progress.hasChanged ? null : progress.entry(source));
  const { given, outcomes, leftOut } = progress;
  return { given, outcomes, leftOut, has };
}

/** Counters and entries may have expired. */
export function missingRecords({ outcomes, has }: TransferResult): Partial<Counts> {
  const short: Partial<Record<RecordType, number>> = {};
  for (const type of ['key', 'token', 'use'] as const) {
    const { added, changed, same, kept } = outcomes[type];
    const missing = added + changed + same + kept - has[type];
    if (missing > 0) short[type] = missing;
  }
  return short;
}

class TransferProgress {
  readonly given = noCounts();
  readonly outcomes = Object.fromEntries(TYPES.map((type) => [type, noOutcomes()])) as Record<
    RecordType,
    Record<Outcome, number>
  >;
  readonly leftOut = new ReportCollector();
  readonly #options: TransferOptions;
  #through = 0;

  constructor(options: TransferOptions) {
    this.#options = options;
  }

  get hasChanged(): boolean {
    return Object.values(this.outcomes).some(({ added, changed }) => added + changed > 0);
  }

  note({ type, values }: Batch, taken: readonly Outcome[]): void {
    this.given[type] += values.length;
    for (const one of taken) this.outcomes[type][one] += 1;
    if (type === 'key') for (const key of values as readonly KeyRecord[]) this.#options.missing.note(key);
    this.#through += values.length;
    this.#options.pass(this.#through);
  }

  entry({ kind }: Source) {
    const { actor, requestId, clock } = this.#options;
    const of = (outcome: Outcome) => Object.fromEntries(TYPES.map((type) => [type, this.outcomes[type][outcome]]));
    const after = { from: kind, given: this.given, added: of('added'), changed: of('changed') };
    return { at: clock(), actor, action: 'state.import', target: 'state', before: null, after, requestId };
  }
}

/** The skipped records. */
class ReportCollector implements ReportLines {
  readonly first: string[] = [];
  count = 0;

  /** The valid records of a batch. */
  validIn({ type, values }: Batch): Batch {
    const valid = (values as readonly ValueOf[typeof type][]).filter((value) => {
      const fault = faultIn(type, lineOf(type, value));
      if (fault === null) return true;
      this.count += 1;
      if (this.first.length < MAX_REPORTED)
        this.first.push(`${type} ${String(nameIn(type, value)).slice(0, 100)}: ${fault}`);
      return false;
    });
    return { type, values: valid } as Batch;
  }
}

function noOutcomes(): Record<Outcome, number> {
  return Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
}
