import { Outage } from '../common/errors/outage.ts';
import { type Coverage, createCoverageSum } from './coverage.ts';
import type { LedgerAccess } from './ledger.ts';
import type { UsageReader } from './reader.ts';
import { NotSaved } from './store.ts';
import type { Value } from './value.ts';

export interface LedgerResult extends Coverage {
  /** Why only what this gateway has not stored is included; `null`: everything is. */
  readonly isolated: string | null;
  /** What was read. */
  readonly source: UsageReader;
}

interface LedgerQuestion {
  /** Unix milliseconds. */
  readonly now: number;
  readonly from: number;
  readonly values: (reader: UsageReader) => AsyncIterable<Value>;
  readonly each: (value: Value) => Promise<void>;
}

/** Passes the values to `each`; during an outage of the store those of this gateway. */
export async function readLedger(
  access: LedgerAccess,
  { now, from, values, each }: LedgerQuestion,
): Promise<LedgerResult> {
  const { source, isolated } = await readable(access);
  const coverage = createCoverageSum();
  for await (const value of values(source)) {
    coverage.add(value);
    await each(value);
  }
  return {
    ...coverage.result(from, await source.since(), now),
    isolated,
    source,
  };
}

/** Throws what is not an outage. */
async function readable({ reader, unsent, whole, flush }: LedgerAccess) {
  try {
    await flush();
    return { source: reader, isolated: null };
  } catch (error) {
    if (error instanceof NotSaved) return { source: whole, isolated: null };
    if (!(error instanceof Outage)) throw error;
    return { source: unsent, isolated: causeOf(error) };
  }
}

export const causeOf = ({ cause }: Outage): string =>
  cause instanceof Error ? cause.message : String(cause);
