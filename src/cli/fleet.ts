import type { OfFleet } from '@storegate/console';
import { textOf } from './table.ts';

/** Remarks, each on a line, and behind them who did not answer. */
export function withSilent(remarks: readonly string[], { silent, apart }: OfFleet): string {
  const told = [
    ...remarks,
    ...silent.map((gateway) => `${gateway} was heard a few seconds ago, and does not answer.`),
    ...(apart === null ? [] : [`No other gateway could be asked: ${apart}`]),
  ];
  return told.map((line) => `${textOf(line)}\n`).join('');
}
