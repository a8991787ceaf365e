import { setImmediate } from 'node:timers/promises';
import type { KeyRecord } from '../../keys/key.ts';
import type { AuditEntry } from '../../keys/operators/audit-log.ts';
import { windowsOf } from '../../keys/subjects.ts';
import type { Plans } from '../../limits/plans.ts';
import { faultIn } from './check.ts';
import type { FileWriter } from './file-target.ts';
import { Fingerprints } from './fingerprints.ts';
import { lineOf } from './lines.ts';
import {
  type Batch,
  type Counts,
  nameIn,
  noCounts,
  OUTCOMES,
  type Outcome,
  type RecordType,
  type Source,
  type Target,
  TransferError,
  TYPES,
  type ValueOf,
} from './records.ts';
import { entryPrint, SOMETHING_ELSE } from './rules.ts';

/** Maximum reported lines; further ones are only counted. */
const MAX_REPORTED = 100;
/** Maximum missing names of each kind; a state with more does not belong to this configuration. */
const MAX_MISSING = 1_000;

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
  for await (const batch of validBatches(source, leftOut, pass)) file.take(batch);
  return { has: await file.finish(), leftOut };
}

/** References of keys that the configuration lacks: requests with these keys would be refused. */
export class MissingPlans {
  readonly #plans: Plans;
  readonly plans = new Set<string>();
  /** Accounts without limits whose keys and plans have none either. */
  readonly accounts = new Set<string>();

  constructor(plans: Plans) {
    this.#plans = plans;
  }

  note(key: KeyRecord): void {
    if (key.revokedAt !== null) return;
    const [names, name] = this.#plans.plans.has(key.plan)
      ? [this.accounts, key.account]
      : [this.plans, key.plan];
    if (names === this.accounts && windowsOf(key, this.#plans) !== null) return;
    if (names.size < MAX_MISSING) names.add(name);
  }
}

/**
 * Imports a source into a target, which must be empty or an earlier copy of it. Throws
 * TransferError otherwise.
 */
export async function transferState(
  source: Source,
  target: Target,
  options: TransferOptions,
): Promise<TransferResult> {
  const { missing, pass, actor, requestId, clock, dryRun } = options;
  await rejectMerge(source, target);
  const given = noCounts();
  const outcomes = noOutcomes();
  const leftOut = new ReportCollector();
  for await (const batch of validBatches(source, leftOut, pass)) {
    const { type, values } = batch;
    for (const outcome of await target.take(batch)) outcomes[type][outcome] += 1;
    if (type === 'key') for (const key of values) missing.note(key);
    given[type] += values.length;
  }
  const [added, changed] = (['added', 'changed'] as const).map((outcome) =>
    Object.fromEntries(TYPES.map((type) => [type, outcomes[type][outcome]])),
  );
  const hasChanged = Object.values(outcomes).some(({ added, changed }) => added + changed > 0);
  const after = { from: source.kind, given, added, changed };
  const entry = {
    at: clock(),
    actor,
    action: 'state.import',
    target: 'state',
    before: null,
    after,
    requestId,
  };
  return {
    given,
    outcomes,
    leftOut,
    has: await target.finish(dryRun || !hasChanged ? null : entry),
  };
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

/** Reports to `pass` how many records were read. */
async function* validBatches(
  source: Source,
  leftOut: ReportCollector,
  pass: TransferOptions['pass'],
) {
  let through = 0;
  for await (const batch of prefetch(source.read())) {
    yield source.isChecked ? batch : leftOut.validIn(batch);
    through += batch.values.length;
    pass(through);
    // File and folder access is synchronous, and signals are handled only between turns.
    await setImmediate();
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

function noOutcomes(): Record<RecordType, Record<Outcome, number>> {
  const none = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0]));
  return Object.fromEntries(TYPES.map((type) => [type, { ...none }])) as ReturnType<
    typeof noOutcomes
  >;
}

/** The compared types. */
const KIND_NAMES: Partial<Record<RecordType, string>> = {
  key: 'keys',
  token: 'tokens',
  audit: 'audit entries',
  ban: 'entries about bans',
};

/**
 * Throws TransferError if the target holds keys, tokens or entries that the source lacks: states
 * are never merged.
 */
async function rejectMerge(source: Source, target: Target): Promise<void> {
  if (!(await target.isUsed())) return;
  const known = new Fingerprints();
  const oldest: Partial<Record<RecordType, number>> = {};
  for await (const { type, values } of prefetch(source.read())) {
    if (!(type in KIND_NAMES)) continue;
    for (const value of values) {
      known.add(printOf(type, value));
      if (isEntry(value)) oldest[type] ??= value.at;
    }
  }
  const extra = noCounts();
  for await (const { type, values } of target.held()) {
    for (const value of values) {
      if (!known.has(printOf(type, value)) && !(isEntry(value) && isDropped(value, oldest[type])))
        extra[type] += 1;
    }
  }
  const types = TYPES.filter((type) => extra[type] > 0);
  if (types.length === 0) return;
  const held = types.map((type) => `${extra[type]} ${KIND_NAMES[type]}`).join(', ');
  throw new TransferError(
    `${target.name} has ${held} that ${source.name} does not have: nothing was changed. ${SOMETHING_ELSE}`,
  );
}

function isEntry(value: ValueOf[RecordType]): value is AuditEntry {
  return 'action' in value;
}

/** Whether an entry is of a transfer, or may have been dropped from the log of the source. */
function isDropped({ action, at }: AuditEntry, oldest: number | undefined): boolean {
  return action === 'state.import' || (oldest !== undefined && at < oldest);
}

function printOf(type: RecordType, value: ValueOf[RecordType]): string {
  return `${type} ${isEntry(value) ? entryPrint(value) : nameIn(type, value)}`;
}

/** Requests each value while the previous one is in use, so that reads and writes overlap. */
async function* prefetch<T>(values: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = values[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (let one = await next; !one.done; one = await next) {
      next = iterator.next();
      // The consumer of `next` gets the error, if it reaches it.
      next.catch(() => {});
      yield one.value;
    }
  } finally {
    await next.catch(() => {});
    await iterator.return?.();
  }
}
