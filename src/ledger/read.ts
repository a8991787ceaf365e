import { Outage } from '../common/errors/outage.ts';
import type { Block } from './block.ts';
import { type Coverage, CoverageSum } from './coverage.ts';
import type { LedgerAccess } from './ledger.ts';
import type { LedgerReader } from './reader.ts';

export interface LedgerResult extends Coverage {
  /** Why only what this process has not stored is included; `null`: everything is. */
  readonly isolated: string | null;
}

interface LedgerQuestion {
  /** Unix milliseconds. */
  readonly now: number;
  readonly from: number;
  readonly blocks: (reader: LedgerReader) => AsyncIterable<Block>;
  readonly each: (block: Block) => Promise<void>;
}

/** Passes the blocks to `each`; during an outage of the store those that are in this process. */
export async function readLedger(
  { reader, unsent, flush }: LedgerAccess,
  { now, from, blocks, each }: LedgerQuestion,
): Promise<LedgerResult> {
  const reason = await flush().then(
    () => null,
    (error: unknown) => reasonOf(error),
  );
  const source = reason === null ? reader : unsent;
  const coverage = new CoverageSum();
  for await (const block of blocks(source)) {
    coverage.add(block);
    await each(block);
  }
  return {
    ...coverage.result(from, await source.since(), now),
    isolated: reason,
  };
}

/** Throws what is not an outage. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Outage)) throw error;
  const { cause } = error;
  return cause instanceof Error ? cause.message : String(cause);
}
