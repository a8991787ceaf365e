import { NotPacked } from '../history/packing.ts';
import type { Gathered, Question } from './fleet.ts';
import { type LiveAnswer, type LiveProcess, type NewRefusals, unpackCounted } from './live.ts';
import { READINESS } from './readiness.ts';
import type {
  Explained,
  ListedRequest,
  Memory,
  ToldDecision,
  ToldFaults,
  ToldRequest,
  ToldStore,
  ToldWindow,
} from './requests.ts';
import {
  has,
  type Is,
  isCount,
  isFlag,
  isLength,
  isMoment,
  isNumber,
  isText,
  listOf,
  oneOf,
  orNull,
} from './shapes.ts';
import type {
  ConfigurationStatus,
  GatewayStatus,
  LastReload,
  ProcessStatus,
  StoreConnections,
  StoreStatus,
} from './status.ts';

const CONNECTIONS = { open: isCount, idle: isCount, waiting: isCount, most: isCount };

const isStore = has<StoreStatus>({
  ...CONNECTIONS,
  upstream: isText,
  store: isText,
  weight: isCount,
  state: oneOf('up', 'away', 'returning'),
  since: isMoment,
  reason: orNull(isText),
  inFlight: isCount,
  requests: isCount,
  failures: isCount,
  retries: isCount,
});
const areStores = listOf(isStore);

const isKnownProcess = has<Omit<ProcessStatus, 'stores'>>({
  worker: orNull(isCount),
  pid: isCount,
  inFlight: isCount,
  memory: isCount,
  aloneSince: orNull(isMoment),
  stateTime: orNull(isLength),
  store: has<StoreConnections>(CONNECTIONS),
});

/** Gateways of older versions tell of no stores. */
const isProcess: Is = (value) => isKnownProcess(value) && areStores((value as ProcessStatus).stores ?? []);

const isConfiguration = has<ConfigurationStatus>({
  settings: isText,
  plans: isText,
  contract: isText,
  waiting: listOf(isText),
  lastReload: orNull(has<LastReload>({ at: isMoment, reason: isText, problems: listOf(isText) })),
});

const isStatus = has<GatewayStatus>({
  version: isText,
  node: isText,
  startedAt: isMoment,
  url: orNull(isText),
  adminUrl: orNull(isText),
  readiness: oneOf(...READINESS),
  state: isText,
  workers: isCount,
  processes: listOf(isProcess),
  configuration: isConfiguration,
});

/** Whether a gateway, perhaps of another version, answered what is understood here. */
export function isGatewayStatus(answer: unknown): answer is GatewayStatus {
  return isStatus(answer);
}

const LISTED: { readonly [K in keyof ListedRequest]: Is } = {
  id: isText,
  worker: orNull(isCount),
  at: isMoment,
  method: isText,
  operation: isText,
  status: isCount,
  complete: isFlag,
  step: orNull(oneOf('door', 'pages', 'authenticate', 'usage', 'admit', 'contract', 'store')),
  code: orNull(isText),
  message: orNull(isText),
  key: orNull(
    has<NonNullable<ToldRequest['key']>>({ id: isText, account: isText, plan: isText, subject: orNull(isText) }),
  ),
  address: isText,
  more: isCount,
};

const isDecision = has<ToldDecision>({
  verdict: oneOf('admitted', 'limited', 'banned'),
  by: oneOf('state', 'memory', 'alone'),
  cost: isCount,
  violated: orNull(isText),
  retryAt: orNull(isMoment),
  retryAfter: orNull(isNumber),
  strikes: isCount,
  strikesToBan: orNull(isCount),
  bannedUntil: orNull(isMoment),
  banBegan: isFlag,
  rung: orNull(isCount),
});

const isWindow = has<ToldWindow>({
  name: isText,
  kind: oneOf('fixed', 'sliding'),
  limit: isCount,
  before: isNumber,
  after: isNumber,
  resetAt: isMoment,
});

const isFaults = has<ToldFaults>({
  side: oneOf('request', 'response'),
  reportOnly: isFlag,
  count: isCount,
  faults: listOf(has<ToldFaults['faults'][number]>({ in: isText, pointer: isText, rule: isText })),
});

const isKnownOfStore = has<Omit<ToldStore, 'asked'>>({ attempts: isCount, head: orNull(isLength) });
const isStoreName = has<NonNullable<ToldStore['asked']>>({ upstream: isText, store: isText });
const isToldStore: Is = (value) => isKnownOfStore(value) && orNull(isStoreName)((value as ToldStore).asked ?? null);

const isRequest = has<ToldRequest>({
  ...LISTED,
  path: orNull(isText),
  reason: orNull(isText),
  traceparent: orNull(isText),
  decision: orNull(isDecision),
  windows: listOf(isWindow),
  faults: listOf(isFaults),
  body: has<ToldRequest['body']>({ declared: orNull(isCount), received: isCount }),
  store: orNull(isToldStore),
  outage: orNull(isText),
  times: has<ToldRequest['times']>({
    authenticated: orNull(isLength),
    admitted: orNull(isLength),
    forwarded: orNull(isLength),
    answered: orNull(isLength),
    total: isLength,
  }),
});

const isExplanation = has<Explained>({
  request: orNull(isRequest),
  memory: orNull(has<Memory>({ requests: isCount, sample: isLength, goodSince: isMoment, othersSince: isMoment })),
});

/** The same for what became of one request. */
export function isExplained(answer: unknown): answer is Explained {
  return isExplanation(answer);
}

const isListed = listOf(has<ListedRequest>(LISTED));

/** The same for a list of requests. */
export function isListOfRequests(answer: unknown): answer is readonly ListedRequest[] {
  return isListed(answer);
}

const isLive = has<LiveAnswer>({
  readiness: oneOf(...READINESS),
  state: isText,
  workers: isCount,
  processes: listOf(
    has<LiveProcess>({ id: isText, age: isLength, counted: isPackedRow, upTo: isCount, status: isProcess }),
  ),
  refusals: has<NewRefusals>({ fitting: listOf(isCount), requests: isListed }),
});

/** Whether a gateway, perhaps of another version, answered a question about so many followed ones with what is understood here. */
export function isLiveAnswer(answer: unknown, followed: number): answer is LiveAnswer {
  return isLive(answer) && (answer as LiveAnswer).refusals.fitting.length === followed;
}

function isPackedRow(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  try {
    unpackCounted(value);
    return true;
  } catch (error) {
    if (error instanceof NotPacked) return false;
    throw error;
  }
}

/** What was answered and is understood. A gateway with another answer, perhaps of another version, counts as silent. */
export function understood<Q extends Question>(
  { answers, silent, lost, apart }: Gathered<Q>,
  isAnswer: (answer: unknown) => boolean,
): Gathered<Q> {
  const others = answers.filter(({ answer }) => !isAnswer(answer)).map(({ gateway }) => gateway);
  return {
    answers: answers.filter(({ answer }) => isAnswer(answer)),
    silent: others.length === 0 ? silent : [...silent, ...others].sort(),
    lost,
    apart,
  };
}
