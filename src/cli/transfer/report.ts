import { type Counts, OUTCOMES, type RecordType, TYPES } from '../../state/transfer/records.ts';
import {
  type MissingPlans,
  missingRecords,
  type ReportLines,
  type TransferResult,
} from '../../state/transfer/transfer.ts';
import { shortList, type View } from '../output.ts';
import type { Terminal } from '../terminal.ts';

const WORDS: Readonly<Record<RecordType, string>> = {
  key: 'keys',
  token: 'tokens',
  audit: 'audit entries',
  ban: 'ban entries',
  ledger: 'counters',
  use: 'last uses',
};

const MAX_NAMES = 20;

export function countsText(counts: Counts): string {
  return TYPES.map((type) => `${counts[type]} ${WORDS[type]}`).join(', ');
}

export const movedView: View<TransferResult> = {
  text({ given, outcomes, has }, page) {
    const rows = TYPES.map((type) => ({
      type: WORDS[type],
      source: given[type],
      ...outcomes[type],
      target: has[type],
    }));
    return page.table(['type', 'source', ...OUTCOMES, 'target'], rows);
  },
};

/** The gateway would refuse requests with these keys. */
export function warnOfMissing(
  { err }: Pick<Terminal, 'err'>,
  { plans, accounts }: MissingPlans,
): void {
  if (plans.size > 0)
    err(
      `Keys use plans that are not in plans.yaml: ${shortList([...plans], MAX_NAMES)}. Their requests are refused.\n`,
    );
  if (accounts.size > 0)
    err(
      `Accounts of custom plans lack limits in plans.yaml: ${shortList([...accounts], MAX_NAMES)}. Their requests are refused.\n`,
    );
}

export function warnOfLeftOut({ err }: Pick<Terminal, 'err'>, { first, count }: ReportLines): void {
  for (const sentence of first) err(`left out: ${sentence}\n`);
  if (count > first.length) err(`left out: ${count - first.length} more\n`);
}

/** `null`: the move is complete. */
export function shortfall(moved: TransferResult, dryRun: boolean): string | null {
  const short = Object.entries(dryRun ? {} : missingRecords(moved)).map(
    ([type, count]) => `${count} ${WORDS[type as RecordType]}`,
  );
  const reasons = [
    ...(moved.leftOut.count > 0 ? [`${moved.leftOut.count} records left out`] : []),
    ...(short.length > 0 ? [`the target lacks ${short.join(', ')}`] : []),
  ];
  return reasons.length === 0 ? null : reasons.join('; ');
}
