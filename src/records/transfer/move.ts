import { setImmediate } from 'node:timers/promises';
import {
  gapUntil,
  isPending,
  type MovedUsage,
  waitingMinute,
} from '../../ledger/moved-usage.ts';
import type { AuditDraft } from '../operators/audit-log.ts';
import { createRecordChecker, nameOf } from './check.ts';
import {
  type Batch,
  type Counts,
  noCounts,
  type RecordType,
  type Source,
  type Target,
  TransferError,
  TYPES,
} from './form.ts';

/** Maximum reported records that were left out; further ones are only counted. */
const MAX_REPORTED = 100;

/** Names of the record types, for sentences. */
export const TYPE_NAMES: Readonly<Record<RecordType, string>> = {
  key: 'keys',
  token: 'tokens',
  audit: 'audit entries',
  ban: 'ban entries',
  counters: 'counters',
  use: 'last uses',
  usage: 'values of usage',
};

export interface MoveResult {
  readonly given: Counts;
  readonly leftOut: LeftOut;
  /** Values of usage without a key that the target had. */
  readonly replaced: number;
  /** Minutes of usage whose export waits, and which stay in the source. */
  readonly unexported: number;
  /** What the target has now. */
  readonly has: Counts;
}

export interface MoveOptions {
  /** Called with each batch that is moved, and with the number of records read so far. */
  readonly onBatch: (batch: Batch, read: number) => void;
  /** `at`: Unix milliseconds. */
  readonly by: Pick<AuditDraft, 'at' | 'actor' | 'requestId'>;
  /** Whether gateways export usage. */
  readonly exports: boolean;
  /** Reads and checks everything, and adds nothing. */
  readonly dryRun: boolean;
}

/**
 * Moves all valid records of a source into an empty target. Throws TransferError before any change
 * if the target is not empty: two states are never merged.
 */
export async function moveState(
  source: Source,
  target: Target,
  { onBatch, by, dryRun, exports }: MoveOptions,
): Promise<MoveResult> {
  const replaced = await rejectUsed(target);
  const given = noCounts();
  const leftOut = new LeftOut();
  // What a gateway still counts in the source, or counts after a backup, is not in the target.
  const isCopy = !source.isStopped || !target.isState;
  const waiting = new Set<number | null>();
  let read = 0;
  for await (const batch of source.read()) {
    const whole = source.isChecked ? batch : leftOut.validIn(batch);
    const valid = isCopy ? withoutExports(whole) : whole;
    if (isCopy && whole.type === 'usage')
      for (const one of whole.values as readonly MovedUsage[])
        waiting.add(waitingMinute(one, exports));
    if (!dryRun && valid.values.length > 0) await target.add(valid);
    given[valid.type] += valid.values.length;
    read += batch.values.length;
    onBatch(valid, read);
    // File and folder access is synchronous, and signals are handled only between turns.
    await setImmediate();
  }
  if (!dryRun) {
    if (target.isState && (isCopy || leftOut.count > 0))
      await target.add({ type: 'usage', values: [gapUntil(by.at)] });
    await target.finish(entryOf(source, given, by), { isCopy });
  }
  return {
    given,
    leftOut,
    replaced,
    unexported: [...waiting].filter((minute) => minute !== null).length,
    has: await target.counts(),
  };
}

function withoutExports(batch: Batch): Batch {
  if (batch.type !== 'usage') return batch;
  const values = batch.values as readonly MovedUsage[];
  return { type: 'usage', values: values.filter((one) => !isPending(one)) };
}

/**
 * A gateway that ran on an empty state has counted requests that it did not know: their usage alone
 * is not a state. Resolves with its number of values.
 */
async function rejectUsed(target: Target): Promise<number> {
  const counts = await target.counts();
  const { usage } = counts;
  const isState =
    TYPES.some((type) => type !== 'usage' && counts[type] > 0) ||
    (usage > 0 && (await target.hasUsageOfKeys()));
  if (!isState) return usage;
  const held = TYPES.filter((type) => counts[type] > 0);
  const content = held
    .map((type) => `${counts[type]} ${TYPE_NAMES[type]}`)
    .join(', ');
  throw new TransferError(
    `${target.name} is not empty, it has ${content}: nothing was changed. States are never merged: name an empty folder or Redis.`,
  );
}

function entryOf(
  { kind }: Source,
  given: Counts,
  by: MoveOptions['by'],
): AuditDraft {
  const after = { from: kind, given };
  return {
    ...by,
    action: 'state.import',
    target: 'state',
    before: null,
    after,
  };
}

/** Records that the target lacks. Counters may have expired meanwhile, and usage is added up. */
export function missingRecords({ given, has }: MoveResult): Partial<Counts> {
  const short = TYPES.filter(
    (type) =>
      type !== 'counters' && type !== 'usage' && has[type] < given[type],
  );
  return Object.fromEntries(
    short.map((type) => [type, given[type] - has[type]]),
  );
}

/** The invalid records of a state, which are not moved. */
class LeftOut {
  readonly first: string[] = [];
  count = 0;
  readonly #checker = createRecordChecker();

  validIn({ type, values }: Batch): Batch {
    const valid = values.filter((value) => {
      const fault = this.#checker.faultIn(type, value);
      if (fault === null) return true;
      this.count += 1;
      if (this.first.length < MAX_REPORTED)
        this.first.push(`${nameOf(value).slice(0, 100)}, ${fault}`);
      return false;
    });
    return { type, values: valid };
  }
}
