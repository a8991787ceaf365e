import { isRowText, rowText } from '../traffic/packing.ts';
import { peerQuery } from './query.ts';
import {
  type FilterWords,
  isFilterWords,
  isListed,
  type ListedRequest,
  newestOf,
} from './requests.ts';
import {
  has,
  isCount,
  isLength,
  isText,
  listOf,
  type Of,
  oneOf,
} from './shapes.ts';
import {
  isProcess,
  type ProcessStatus,
  READINESS,
  type Readiness,
} from './status.ts';

/** Limits for one query, and for the refusals of one process and of one gateway. */
export const MOST_FOLLOWED = 50;
const MOST_PROCESSES = 1_000;
const MOST_OF_EACH = 20;
const MOST_OF_PROCESS = 100;
const MOST_OF_GATEWAY = 200;

const isRequest = has({
  /** Refusals that match one of these. */
  followed: listOf(isFilterWords),
  /**
   * The previous `upTo` by process id; only later refusals are returned, and none of processes that
   * are not listed.
   */
  after: isCounts,
});

export interface LiveRequest extends Of<typeof isRequest> {}

const isNewRefusals = has({
  /** For each filter, all matches, listed or not. */
  fitting: listOf(isCount),
  /** Newest first. */
  requests: listOf(isListed),
});

export interface NewRefusals extends Of<typeof isNewRefusals> {}

const isLiveProcess = has({
  /** Unique per process start. */
  id: isText,
  /** Milliseconds. */
  age: isLength,
  /** All requests since the start, a packed row in Base64. */
  counted: isRowText,
  /** The number of the newest refusal that was kept. */
  upTo: isCount,
  status: isProcess,
});

export interface LiveProcess extends Of<typeof isLiveProcess> {}

const isLive = has({
  readiness: oneOf(...READINESS),
  state: isText,
  workers: isCount,
  processes: listOf(isLiveProcess),
  refusals: isNewRefusals,
});

export interface LiveAnswer extends Of<typeof isLive> {}

interface Sources {
  readonly id: string;
  /** Milliseconds of `performance`. */
  readonly began: number;
  readonly status: () => ProcessStatus;
  readonly recorder: { readonly total: Float64Array };
  readonly recent: {
    readonly upTo: number;
    refusalsAfter(
      number: number,
      followed: readonly FilterWords[],
    ): NewRefusals;
  };
}

interface LiveOfProcess extends LiveProcess {
  readonly refusals: NewRefusals;
}

export const live = peerQuery({
  name: 'live',
  isArgument: (asked): asked is LiveRequest =>
    isRequest(asked) &&
    asked.followed.length <= MOST_FOLLOWED &&
    Object.keys(asked.after).length <= MOST_PROCESSES,
  otherwise: null,
  part: partOf,
  answer: (
    { parts },
    asked,
    {
      readiness,
      state,
      workers,
    }: Pick<LiveAnswer, 'state' | 'workers'> & {
      readonly readiness: () => Readiness;
    },
  ) => ({ readiness: readiness(), state, workers, ...mergeLive(parts, asked) }),
  isAnswer: (answer, { followed }): answer is LiveAnswer =>
    isLive(answer) && answer.refusals.fitting.length === followed.length,
});

function isCounts(value: unknown): value is Readonly<Record<string, number>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every(isCount)
  );
}

function partOf(
  { id, began, status, recorder, recent }: Sources,
  { followed, after }: LiveRequest,
): LiveOfProcess {
  const { upTo } = recent;
  const known = Object.hasOwn(after, id) ? after[id]! : upTo;
  return {
    id,
    age: Math.round(performance.now() - began),
    counted: rowText(recorder.total),
    upTo,
    status: status(),
    refusals: recent.refusalsAfter(known, followed),
  };
}

/** `fitting`: matches per filter, newest first. */
export function newRefusals(
  fitting: readonly (readonly ListedRequest[])[],
): NewRefusals {
  const reported = new Map<string, ListedRequest>();
  for (const list of fitting)
    for (const one of list.slice(0, MOST_OF_EACH)) reported.set(one.id, one);
  return {
    fitting: fitting.map(({ length }) => length),
    requests: newestOf([[...reported.values()]], MOST_OF_PROCESS),
  };
}

function mergeLive(
  answers: readonly LiveOfProcess[],
  { followed }: LiveRequest,
) {
  const lists = answers.map(({ refusals }) => refusals.requests);
  return {
    processes: answers.map(({ refusals: _refusals, ...process }) => process),
    refusals: {
      fitting: followed.map((_one, i) =>
        answers.reduce((sum, { refusals }) => sum + refusals.fitting[i]!, 0),
      ),
      requests: newestOf(lists, MOST_OF_GATEWAY),
    },
  };
}
