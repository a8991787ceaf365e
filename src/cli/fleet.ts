import { textOf } from './table.ts';

/** What an answer says of gateways that it was not heard from. */
export interface OfFleet {
  readonly silent: readonly string[];
  readonly apart: string | null;
}

/** Remarks, each on a line, and behind them who did not answer. */
export function withSilent(remarks: readonly string[], { silent, apart }: OfFleet): string {
  const told = [
    ...remarks,
    ...silent.map((gateway) => `${gateway} was heard a few seconds ago, and does not answer.`),
    ...(apart === null ? [] : [`No other gateway could be asked: ${apart}`]),
  ];
  return told.map((line) => `${textOf(line)}\n`).join('');
}
