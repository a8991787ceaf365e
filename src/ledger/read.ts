import { Outage } from '../common/errors/outage.ts';
import { type Coverage, CoverageSum } from './coverage.ts';
import type { LedgerAccess } from './ledger.ts';
import type { UsageReader } from './reader.ts';
import { NotSaved } from './store.ts';
import type { Value } from './value.ts';

export interface LedgerResult extends Coverage {
  /** Why only what this process has not stored is included; `null`: everything is. */
  readonly isolated: string | null;
}

interface LedgerQuestion {
  /** Unix milliseconds. */
  readonly now: number;
  readonly from: number;
  readonly values: (reader: UsageReader) => AsyncIterable<Value>;
  readonly each: (value: Value) => Promise<void>;
}

/** Passes the values to `each`; during an outage of the store those of this process. */
export async function readLedger(
  { reader, unsent, flush }: LedgerAccess,
  { now, from, values, each }: LedgerQuestion,
): Promise<LedgerResult> {
  const reason = await flush().then(
    () => null,
    (error: unknown) => reasonOf(error),
  );
  const source = reason === null ? reader : unsent;
  const coverage = new CoverageSum();
  for await (const value of values(source)) {
    coverage.add(value);
    await each(value);
  }
  return {
    ...coverage.result(from, await source.since(), now),
    isolated: reason,
  };
}

/** `null`: what is saved is read. Throws what is not an outage. */
function reasonOf(error: unknown): string | null {
  if (error instanceof NotSaved) return null;
  if (!(error instanceof Outage)) throw error;
  const { cause } = error;
  return cause instanceof Error ? cause.message : String(cause);
}
