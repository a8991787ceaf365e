import type { LedgerAnswer } from '../ledger/read.ts';
import { time } from './view.ts';

/** A gateway without a stop counts as lost, so none is unresponsive. */
export function coverageView({ since, running, lost, isolated }: LedgerAnswer) {
  return {
    since: time(since),
    gateways: running.map(({ process, since }) => ({
      gateway: process,
      since: time(since),
    })),
    lost: lost.map(({ process, at }) => ({ gateway: process, at: time(at) })),
    unresponsive: [],
    isolated,
  };
}
