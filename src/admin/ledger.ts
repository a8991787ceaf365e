import { plainReason } from '../common/errors/plain-reason.ts';
import { DAY, HOUR, MINUTE } from '../common/time.ts';
import { type LedgerResult, readLedger } from '../ledger/read.ts';
import type { Value } from '../ledger/value.ts';
import type { AdminContext } from './context.ts';
import { time } from './view.ts';

/** Passes the hours of the last day. `now`: Unix milliseconds. */
export function readLastDay(
  { ledger }: AdminContext,
  now: number,
  each: (value: Value) => Promise<void>,
): Promise<LedgerResult> {
  const from = Math.floor((now - DAY) / HOUR) * HOUR;
  return readLedger(ledger(), {
    now,
    from,
    values: (reader) => reader.values({ from, to: now + MINUTE }, 'hour'),
    each,
  });
}

/** A gateway without a stop counts as lost, so none is unresponsive. */
export function coverageView(
  context: AdminContext,
  { since, running, lost, isolated }: LedgerResult,
) {
  return {
    since: time(since),
    gateways: running.map(({ process, since }) => ({
      gateway: process,
      since: time(since),
    })),
    lost: lost.map(({ process, at, most }) => ({
      gateway: process,
      at: time(at),
      requests: most,
    })),
    unresponsive: [],
    isolated: isolationText(context, isolated),
  };
}

/** Why a response is of this gateway alone, without words of libraries; `null`: it is not. */
export const isolationText = (
  { outageText }: Pick<AdminContext, 'outageText'>,
  isolated: string | null,
): string | null => isolated && (outageText?.() ?? plainReason(isolated));
