import type { Missing } from '../../state/transfer/missing.ts';
import { lost, type Moved, type ReportLines } from '../../state/transfer/move.ts';
import { OUTCOMES } from '../../state/transfer/port.ts';
import { type Counts, type RecordType, TYPES } from '../../state/transfer/records.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';

/** What the types are called, many and one. */
const WORDS: Readonly<Record<RecordType, string>> = {
  key: 'keys',
  token: 'tokens',
  audit: 'audit entries',
  ban: 'entries about bans',
  ledger: 'ledgers',
  use: 'last uses',
};

/** Names shown of each sort; the number says how many there are. */
const MOST_NAMES = 20;

export function countsText(counts: Counts): string {
  return TYPES.map((type) => `${counts[type]} ${WORDS[type]}`).join(', ');
}

/** What became of the records of each type, as a table. */
export function transferTable({ given, outcomes, has }: Moved, colour: boolean): string {
  const rows = TYPES.map((type) => ({ type: WORDS[type], given: given[type], ...outcomes[type], there: has[type] }));
  return table(['type', 'given', ...OUTCOMES, 'there'], rows, colour);
}

/** Tells whoever reads along what they should know of a move. */
export function printMove({ err }: Pick<Terminal, 'err'>, moved: Moved, missing: Missing): void {
  printSkipped({ err }, moved.leftOut);
  if (missing.plans.size > 0)
    err(
      `Keys name plans that are not in plans.yaml: ${names([...missing.plans])}. Their requests are refused until it has them.\n`,
    );
  if (missing.accounts.size > 0)
    err(
      `These accounts have keys of custom plans, and no limits in plans.yaml: ${names([...missing.accounts])}. Their requests are refused until it has them.\n`,
    );
}

export function printSkipped({ err }: Pick<Terminal, 'err'>, leftOut: ReportLines): void {
  for (const sentence of leftOut.first) err(`left out: ${sentence}\n`);
  if (leftOut.count > leftOut.first.length) err(`left out: ${leftOut.count - leftOut.first.length} more\n`);
}

/** Why a move was not whole, in one sentence; `null`: it was. */
export function shortfall(moved: Moved, dryRun: boolean): string | null {
  const short = Object.entries(dryRun ? {} : lost(moved)).map(
    ([type, count]) => `${count} ${WORDS[type as RecordType]}`,
  );
  const reasons = [
    ...(moved.leftOut.count > 0 ? [`${moved.leftOut.count} records left out`] : []),
    ...(short.length > 0 ? [`the target does not have ${short.join(', ')} that it was given`] : []),
  ];
  return reasons.length === 0 ? null : reasons.join('; ');
}

function names(all: readonly string[]): string {
  const shown = all.slice(0, MOST_NAMES).join(', ');
  return all.length > MOST_NAMES ? `${shown} and ${all.length - MOST_NAMES} more` : shown;
}
