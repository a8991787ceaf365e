import type { Faults } from '@storegate/admin-api';
import {
  has,
  type Is,
  isCount,
  isCounts,
  isFlag,
  isLength,
  isMoment,
  isNumber,
  isText,
  isWord,
  listOf,
  type Of,
  oneOf,
  orMissing,
  orNull,
} from '../../common/shapes.ts';
import { KIND_NAMES } from '../../limits/kinds.ts';
import { STEPS } from '../events.ts';
import { peerQuery } from './query.ts';

const LISTED = {
  id: isText,
  /** The worker; `null`: a gateway of one process. */
  worker: orNull(isCount),
  at: isMoment,
  method: isText,
  /** As in events. */
  operation: isText,
  /** 499: the client closed the connection before the response. */
  status: isCount,
  complete: isFlag,
  /** All `null` if it was not refused and did not fail. */
  step: orNull(oneOf(...STEPS)),
  code: orNull(isText),
  message: orNull(isText),
  key: orNull(
    has({ id: isText, account: isText, plan: isText, subject: orNull(isText) }),
  ),
  address: isText,
  /** Identical refusals since the last kept one. */
  repeated: isCount,
};
const isListed = has(LISTED);

export interface ListedRequest extends Of<typeof isListed> {}

/** One of the last successful calls of a key. */
const isCall = has({
  worker: orNull(isCount),
  at: isMoment,
  method: isText,
  operation: isText,
  status: isCount,
  address: isText,
  /** Milliseconds. */
  duration: isLength,
});

export interface Call extends Of<typeof isCall> {}

const isDecision = has({
  verdict: oneOf('admitted', 'limited', 'banned'),
  /** `memory`: the process knew of an earlier refusal; `local`: the state was down. */
  by: oneOf('state', 'memory', 'local'),
  cost: isCount,
  /** The longest full window. */
  violated: orNull(isText),
  /** As in `Retry-After`; `null`: admitted. */
  retryAt: orNull(isMoment),
  retryAfter: orNull(isNumber),
  strikes: isCount,
  /** `null`: the plan has no bans. */
  strikesToBan: orNull(isCount),
  bannedUntil: orNull(isMoment),
  banStarted: isFlag,
  /** `null`: no ban began. */
  level: orNull(isCount),
});

/** Times are by the state's clock. */
export interface DecisionView extends Of<typeof isDecision> {}

const isWindow = has({
  /** `minute`; for one operation `login:minute`, for a tag `tag:search:minute`. */
  name: isText,
  kind: oneOf(...KIND_NAMES),
  limit: isCount,
  before: isNumber,
  after: isNumber,
  resetAt: isMoment,
  /** `null`: it refuses what is above the limit. */
  excess: orNull(oneOf('watch', 'overage')),
  /** Units of the request above the limit. */
  over: isCount,
});

/** In units that were left. */
export interface WindowView extends Of<typeof isWindow> {}

type Fault = Faults['faults'][number];

const isFaults: Is<Faults> = has({
  side: oneOf('request', 'response'),
  reportOnly: isFlag,
  count: isCount,
  faults: listOf(
    has({ in: isWord<Fault['in']>(), pointer: isText, rule: isText }),
  ),
});

const isBackendView = has({
  attempts: isCount,
  /** The last backend; `null`: none. */
  target: orNull(has({ upstream: isText, backend: isText })),
  /** Milliseconds until the response head; `null`: none. */
  head: orNull(isLength),
});

const isRequest = has({
  ...LISTED,
  /** The path template of the contract. */
  path: orNull(isText),
  /** The path as it was sent, without its query; keys are masked. Earlier versions lack it. */
  sentPath: orMissing(orNull(isText)),
  /** What the response does not reveal, such as the entry of a list. */
  reason: orNull(isText),
  traceparent: orNull(isText),
  decision: orNull(isDecision),
  /** The client's; without a key, those of its address. */
  windows: listOf(isWindow),
  faults: listOf(isFaults),
  body: has({ declared: orNull(isCount), received: isCount }),
  backend: orNull(isBackendView),
  /** Kinds of errors, the outer one first. */
  outage: orNull(isText),
  /** Milliseconds since the start; `null`: not reached. `total`: until the response ended. */
  times: has({
    authenticated: orNull(isLength),
    admitted: orNull(isLength),
    forwarded: orNull(isLength),
    answered: orNull(isLength),
    total: isLength,
  }),
});

/** Has no value that a client sent but those of the path. */
export interface RequestView extends Of<typeof isRequest> {}

const isMemory = has({
  /** Per process; 0: none. */
  requests: isCount,
  /** The kept share of successful requests since `goodSince`. */
  sample: isLength,
  /** Since when none was dropped, successful ones and others. */
  goodSince: isMoment,
  othersSince: isMoment,
});

export interface Memory extends Of<typeof isMemory> {}

const isExplained = has({
  /** `null`: not found. */
  request: orNull(isRequest),
  /** `null`: unknown. */
  memory: orNull(isMemory),
});

export interface Explained extends Of<typeof isExplained> {}

const MOST_LISTED = 200;
const LONGEST_NAME = 100;

const isName = (value: unknown): value is string =>
  isText(value) && value.length <= LONGEST_NAME;
const isLimit = (value: unknown): value is number =>
  isCount(value) && value >= 1 && value <= MOST_LISTED;

/** `null`: any. */
const NAMES = {
  key: orNull(isName),
  account: orNull(isName),
  /** Earlier versions lack it. */
  api: orMissing(orNull(isName)),
  code: orNull(isName),
};

/** The last request of a page. In a list, requests are in the order of their time, then of their id. */
const isPlace = has({ at: isMoment, id: isText });
interface RequestPlace extends Of<typeof isPlace> {}

/** Requests from this time on, and before this place. */
const PERIOD = {
  since: orNull(isMoment),
  before: orNull(isPlace),
};
const isPeriod = has(PERIOD);
export interface RequestPeriod extends Of<typeof isPeriod> {}

const FILTER = { ...NAMES, ...PERIOD, limit: isLimit };
const isFilter = has(FILTER);

export interface RequestFilter extends Of<typeof isFilter> {}

const isQuestion = has({
  ...FILTER,
  /** The `upTo` of an earlier response: only later refusals are returned. */
  newer: orNull(isCounts),
});

function isRequestId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)
  );
}

export const explain = peerQuery({
  name: 'explain',
  isArgument: isRequestId,
  otherwise: mergeExplained([]),
  part: (
    { recent }: { readonly recent: { explain(id: string): Explained } },
    id,
  ) => recent.explain(id),
  respond: ({ parts }) => mergeExplained(parts),
  isResponse: isExplained,
});

const isRefusals = has({
  requests: listOf(isListed),
  /** The number of the newest refusal that was kept, by the id of its process. */
  upTo: isCounts,
  /** Of the key that was asked for; earlier versions respond without them. */
  calls: orMissing(listOf(isCall)),
});

export interface Refusals extends Of<typeof isRefusals> {}

interface RefusalSources {
  /** Unique per process start. */
  readonly id: string;
  readonly recent: {
    readonly upTo: number;
    /** Those whose number is above `after`. */
    refusals(filter: RequestFilter, after: number): readonly ListedRequest[];
    calls(key: string): readonly Call[];
  };
}

export const refusals = peerQuery({
  name: 'refusals',
  isArgument: isQuestion,
  otherwise: { requests: [], upTo: {}, calls: [] },
  part: ({ id, recent }: RefusalSources, filter): Refusals => ({
    requests: recent.refusals(filter, filter.newer?.[id] ?? 0),
    upTo: { [id]: recent.upTo },
    calls: callsFor(filter, recent),
  }),
  respond: ({ parts }, { limit }) => ({
    requests: newestOf(
      parts.map(({ requests }) => requests),
      limit,
    ),
    upTo: upToOf(parts),
    calls: lastCallsOf(parts),
  }),
  isResponse: isRefusals,
});

/** With a code, or after an earlier response, only refusals are asked for. */
const callsFor = (
  { key, code, newer, ...period }: Of<typeof isQuestion>,
  recent: RefusalSources['recent'],
): readonly Call[] =>
  key === null || code !== null || newer !== null
    ? []
    : recent.calls(key).filter(({ at }) => isIn({ at, id: '' }, period));

/** Calls of a key that are listed. */
const MOST_CALLS = 20;

/** Of all processes, newest first. */
export const lastCallsOf = <C extends Call>(
  all: readonly { readonly calls: readonly C[] | undefined }[],
): C[] =>
  all
    .flatMap(({ calls = [] }) => calls)
    .sort((one, other) => other.at - one.at)
    .slice(0, MOST_CALLS);

/** For all processes. */
export const upToOf = (all: readonly Pick<Refusals, 'upTo'>[]) =>
  Object.fromEntries(all.flatMap(({ upTo }) => Object.entries(upTo)));

export function isIn(
  place: RequestPlace,
  { since, before }: RequestPeriod,
): boolean {
  return (
    place.at >= (since ?? 0) && (!before || newestFirst(before, place) < 0)
  );
}

const newestFirst = (one: RequestPlace, other: RequestPlace): number =>
  other.at - one.at || Number(other.id > one.id) - Number(other.id < one.id);

function mergeExplained(responses: readonly Explained[]): Explained {
  const memories = responses
    .map(({ memory }) => memory)
    .filter((memory) => memory !== null);
  const latest = (since: 'goodSince' | 'othersSince') =>
    Math.max(...memories.map((memory) => memory[since]));
  return {
    request: responses.find(({ request }) => request !== null)?.request ?? null,
    memory: memories[0]
      ? {
          ...memories[0],
          sample: Math.min(...memories.map(({ sample }) => sample)),
          goodSince: latest('goodSince'),
          othersSince: latest('othersSince'),
        }
      : null,
  };
}

export function newestOf<R extends RequestPlace>(
  lists: readonly (readonly R[])[],
  limit: number,
): R[] {
  return lists.flat().sort(newestFirst).slice(0, limit);
}
