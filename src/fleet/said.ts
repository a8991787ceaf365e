import type { Gathered, Question } from './fleet.ts';
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
import type { ConfigurationStatus, GatewayStatus, LastReload, ProcessStatus, StoreStatus } from './status.ts';

type Is = (value: unknown) => boolean;

/** The last moment that a date can have, Unix milliseconds. */
const LAST_MOMENT = 8.64e15;

const isText: Is = (value) => typeof value === 'string';
const isCount: Is = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isLength: Is = (value) => Number.isFinite(value) && (value as number) >= 0;
const isMoment: Is = (value) => isCount(value) && (value as number) <= LAST_MOMENT;
const oneOf =
  (...words: readonly unknown[]): Is =>
  (value) =>
    words.includes(value);
const orNull =
  (is: Is): Is =>
  (value) =>
    value === null || is(value);
const listOf =
  (is: Is): Is =>
  (value) =>
    Array.isArray(value) && value.every(is);

/** An object with at least these members: those that a newer version has besides do no harm. */
function has<T>(members: { readonly [K in keyof T]: Is }): Is {
  const checks = Object.entries<Is>(members);
  return (value) => {
    if (typeof value !== 'object' || value === null) return false;
    return checks.every(([name, is]) => Object.hasOwn(value, name) && is(value[name as keyof typeof value]));
  };
}

const isProcess = has<ProcessStatus>({
  worker: orNull(isCount),
  pid: isCount,
  inFlight: isCount,
  memory: isCount,
  aloneSince: orNull(isMoment),
  stateTime: orNull(isLength),
  store: has<StoreStatus>({ open: isCount, idle: isCount, waiting: isCount, most: isCount }),
});

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
  readiness: oneOf('ready', 'stopping', 'state_away', 'no_worker'),
  state: isText,
  workers: isCount,
  processes: listOf(isProcess),
  configuration: isConfiguration,
});

/** Whether a gateway, perhaps of another version, answered what is understood here. */
export function isGatewayStatus(answer: unknown): answer is GatewayStatus {
  return isStatus(answer);
}

const isFlag: Is = (value) => typeof value === 'boolean';
const isNumber: Is = (value) => Number.isFinite(value);

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

const isRequest = has<ToldRequest>({
  ...LISTED,
  path: orNull(isText),
  traceparent: orNull(isText),
  decision: orNull(isDecision),
  windows: listOf(isWindow),
  faults: listOf(isFaults),
  body: has<ToldRequest['body']>({ declared: orNull(isCount), received: isCount }),
  store: orNull(has<ToldStore>({ attempts: isCount, head: orNull(isLength) })),
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

/** What was answered and is understood. A gateway with another answer, perhaps of another version, counts as silent. */
export function understood<Q extends Question>(
  { answers, silent, apart }: Gathered<Q>,
  isAnswer: (answer: unknown) => boolean,
): Gathered<Q> {
  const others = answers.filter(({ answer }) => !isAnswer(answer)).map(({ gateway }) => gateway);
  return {
    answers: answers.filter(({ answer }) => isAnswer(answer)),
    silent: others.length === 0 ? silent : [...silent, ...others].sort(),
    apart,
  };
}
