import type { LiveNow, PeerCoverage } from '@storegate/console';
import { quantile } from '../../observe/history/buckets.ts';
import { bucketsIn, classesIn, requestsIn, verdictsIn } from '../../observe/history/row.ts';
import type { LiveAnswer } from '../../observe/peers/live.ts';
import { storesOfAll, sumOfConnections } from '../../observe/peers/stores.ts';
import { storeView } from '../operations/stores.ts';
import { readinessOf, shownConnections } from '../peer-names.ts';
import { rounded, time } from '../view.ts';
import type { Counted } from './counting.ts';

export interface PeerReading {
  readonly gateway: string;
  readonly answer: LiveAnswer;
}

/** `at`: Unix milliseconds. */
export function nowView(
  at: number,
  readings: readonly PeerReading[],
  { span, row, rows, lately }: Counted,
  missing: PeerCoverage,
): LiveNow {
  const buckets = bucketsIn(lately.row);
  return {
    at: time(at),
    span: Math.round(span),
    requests: requestsIn(row),
    ...verdictsIn(row),
    classes: classesIn(row),
    latency: {
      span: Math.round(lately.span),
      p50: rounded(quantile(buckets, 0.5)),
      p95: rounded(quantile(buckets, 0.95)),
      p99: rounded(quantile(buckets, 0.99)),
    },
    inFlight: readings.reduce((sum, { answer }) => sum + inFlight(answer), 0),
    gateways: readings.map(({ gateway, answer }, i) => ({
      gateway,
      readiness: readinessOf(answer.readiness),
      state: answer.state,
      localSince: time(earliest(answer.processes.map(({ status }) => status.aloneSince))),
      stateMs: rounded(longest(answer.processes.map(({ status }) => status.stateTime))),
      workers: answer.workers,
      processes: answer.processes.length,
      inFlight: inFlight(answer),
      requests: requestsIn(rows[i]!),
      store: shownConnections(sumOfConnections(answer.processes.map(({ status }) => status.store))),
    })),
    stores: storesOf(readings),
    ...missing,
  };
}

function storesOf(readings: readonly PeerReading[]) {
  const gateways = readings.map(({ gateway, answer: { processes } }) => ({
    gateway,
    processes: processes.map(({ status }) => status),
  }));
  return storesOfAll(gateways).map(storeView);
}

const inFlight = ({ processes }: LiveAnswer) => processes.reduce((sum, { status }) => sum + status.inFlight, 0);

const known = (values: readonly (number | null)[]) => values.filter((value) => value !== null);
const earliest = (values: readonly (number | null)[]) => ofSome(Math.min, known(values));
const longest = (values: readonly (number | null)[]) => ofSome(Math.max, known(values));
const ofSome = (choose: (...values: number[]) => number, values: readonly number[]) =>
  values.length === 0 ? null : choose(...values);
