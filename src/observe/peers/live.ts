import { addPacked, packRow } from '../history/packing.ts';
import { COLUMNS, type Row } from '../history/row.ts';
import type { Readiness } from './readiness.ts';
import { isFilterWords, type ListedRequest, newestOf, type RequestFilter } from './requests.ts';
import { isCount } from './shapes.ts';
import type { ProcessStatus } from './status.ts';

/** Which refusals somebody follows. */
export type Followed = Omit<RequestFilter, 'limit'>;

/** What one question may follow, and the most refusals that one process, and one gateway, tell at once. */
export const MOST_FOLLOWED = 50;
const MOST_PROCESSES = 1_000;
const MOST_OF_EACH = 20;
const MOST_OF_PROCESS = 100;
const MOST_OF_GATEWAY = 200;

/** How gateways stand now, and which refusals are new. */
export interface LiveQuestion {
  /** The refusals that are asked for: those that fit one of these. */
  readonly followed: readonly Followed[];
  /** By the id of a process its `upTo` of the last time: only what came later is asked for. Of others nothing is. */
  readonly after: Readonly<Record<string, number>>;
}

/** Refusals that are new. */
export interface NewRefusals {
  /** For each that was followed, how many fit it, listed or not. */
  readonly fitting: readonly number[];
  /** The newest of all that fit one, newest first. */
  readonly requests: readonly ListedRequest[];
}

/** What a process that carries requests tells. */
export interface LiveProcess {
  /** Names this process and no other, nor the one that takes its place. */
  readonly id: string;
  /** Milliseconds for which it has counted. */
  readonly age: number;
  /** All requests since it began, a row as in observe/history, packed, in Base64. */
  readonly counted: string;
  /** The number of the newest refusal that it has kept. */
  readonly upTo: number;
  readonly status: ProcessStatus;
}

export interface LiveAnswer {
  readonly readiness: Readiness;
  /** As in the status of a gateway. */
  readonly state: string;
  readonly workers: number;
  /** Those that answered in time. */
  readonly processes: readonly LiveProcess[];
  readonly refusals: NewRefusals;
}

/** What a process that carries requests answers, for its gateway to put together. */
export interface LiveOfProcess extends LiveProcess {
  readonly refusals: NewRefusals;
}

/** `null`: this is no such question. */
export function readLiveQuestion(asked: unknown): LiveQuestion | null {
  const { followed, after } = Object(asked) as Partial<LiveQuestion>;
  if (!Array.isArray(followed) || followed.length > MOST_FOLLOWED || !followed.every(isFilterWords)) return null;
  if (typeof after !== 'object' || after === null || Array.isArray(after)) return null;
  const numbers = Object.values(after);
  if (numbers.length > MOST_PROCESSES || !numbers.every(isCount)) return null;
  return { followed: followed.map(({ key, account, code }) => ({ key, account, code })), after };
}

/** Of all that fit something followed, how many, and the newest. `fitting`: for each its own, newest first. */
export function newRefusals(fitting: readonly (readonly ListedRequest[])[]): NewRefusals {
  const told = new Map<string, ListedRequest>();
  for (const list of fitting) for (const one of list.slice(0, MOST_OF_EACH)) told.set(one.id, one);
  return {
    fitting: fitting.map(({ length }) => length),
    requests: newestOf([[...told.values()]], MOST_OF_PROCESS),
  };
}

/** A gateway's answer of those of its processes. */
export function mergeLive(
  answers: readonly LiveOfProcess[],
  { followed }: LiveQuestion,
): Pick<LiveAnswer, 'processes' | 'refusals'> {
  return {
    processes: answers.map(({ refusals: _refusals, ...process }) => process),
    refusals: {
      fitting: followed.map((_one, i) => answers.reduce((sum, { refusals }) => sum + refusals.fitting[i]!, 0)),
      requests: newestOf(
        answers.map(({ refusals }) => refusals.requests),
        MOST_OF_GATEWAY,
      ),
    },
  };
}

export const packCounted = (row: Row): string => packRow(row).toString('base64');

/** Throws NotPacked. */
export function unpackCounted(packed: string): Float64Array {
  const row = new Float64Array(COLUMNS);
  addPacked(row, Buffer.from(packed, 'base64'));
  return row;
}
