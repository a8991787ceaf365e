import type {
  Backend,
  Connections,
  ContractCopy,
  PeerCoverage,
} from '../generated/types.ts';
import { number, plural } from './format.ts';

// Gateways in words, for the console and the command line.

/** Formats a time of RFC 3339. */
export type WriteTime = (at: string) => string;

export const NO_GATEWAY = 'No gateway is running.';

export const NO_USAGE = 'No requests have been counted.';

export const processName = ({
  gateway,
  worker,
}: {
  gateway: string;
  worker: number | null;
}): string => (worker === null ? gateway : `${gateway}, worker ${worker}`);

/** Milliseconds of the slowest access to the state; `null`: the state is in the gateway itself. */
export function slowestOf(
  all: readonly { stateMs: number | null }[],
): number | null {
  const times = all
    .map(({ stateMs }) => stateMs)
    .filter((time) => time !== null);
  return times.length === 0 ? null : Math.max(...times);
}

const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** A text with its times as `time` writes them. */
export const withTimes = (text: string, time: WriteTime): string =>
  text.replace(TIME, (at) => time(at));

/** What a response lacks: `Redis has not answered since 14:02; figures of this gateway alone.` */
export function missingGateways(
  { unresponsive, isolated }: PeerCoverage,
  time: WriteTime = (at) => at,
): string[] {
  return [
    ...unresponsive.map((gateway) => `${gateway} did not respond.`),
    ...(isolated === null
      ? []
      : [`${withTimes(isolated, time)}; figures of this gateway alone.`]),
  ];
}

/** What usage lacks of a process. `requests`: of its busiest second. */
export const lostGateway = (
  { gateway, at, requests }: { gateway: string; at: string; requests: number },
  time: WriteTime,
): string =>
  `${gateway} was last seen at ${time(at)} and did not shut down: ${lostSecond(1, requests)}`;

/** The same of several processes together. */
export const lostProcesses = (count: number, requests: number): string =>
  `${plural(count, 'process', 'processes')} did not shut down: ${lostSecond(count, requests)}`;

function lostSecond(count: number, requests: number): string {
  const busiest = plural(requests, 'request');
  return count === 1
    ? `at most its last second is missing; its busiest second had ${busiest}.`
    : `at most the last second of each is missing; their busiest seconds had ${busiest} together.`;
}

export const droppedRequests = (dropped: number): string =>
  `At least ${plural(dropped, 'request')} could not be stored.`;

export function contractCopyText(
  gateway: string,
  copy: ContractCopy,
  time: WriteTime,
): string {
  const { fetched, reason } = copy;
  return `${gateway} uses a copy of the contract from ${time(fetched)}: the URL ${reason}.`;
}

// Backends in words, for the console and the command line.

const REASONS: Readonly<Record<string, string>> = {
  unreachable: 'connection failed',
  untrusted: 'TLS certificate rejected',
  broken: 'invalid response',
  hanging: 'no response in time',
  failing: 'too many failed requests',
  statuses: 'too many error responses',
  check: 'health check failed',
};

/** Whether no operator has to look at it. */
export const isWell = ({ state }: Pick<Backend, 'state'>): boolean =>
  state === 'up';

/** `up`, `recovering`, `down`, `down for 1 of 4 processes`. */
export function stateText({
  state,
  down,
  total,
}: Pick<Backend, 'state' | 'down' | 'total'>): string {
  return state === 'partial' ? `down for ${down} of ${total} processes` : state;
}

/** Why it is or was down; empty without a reason. */
export function reasonText({ reason }: Pick<Backend, 'reason'>): string {
  if (reason === null) return '';
  return Object.hasOwn(REASONS, reason) ? REASONS[reason]! : reason;
}

/** Connections in use, of all together: `3 of 64, 2 waiting`. */
export function connectionsText(...all: readonly Connections[]): string {
  const sum = (name: keyof Connections) =>
    all.reduce((total, one) => total + one[name], 0);
  const waiting = sum('waiting');
  return `${number(sum('open') - sum('idle'))} of ${number(sum('limit'))}${waiting > 0 ? `, ${number(waiting)} waiting` : ''}`;
}
