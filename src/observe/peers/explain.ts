import { question } from './question.ts';
import { LISTED } from './refusals.ts';
import {
  type Explained,
  isRequestId,
  type Memory,
  mergeExplained,
  type ToldDecision,
  type ToldFaults,
  type ToldRequest,
  type ToldStore,
  type ToldWindow,
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

const isExplained = has<Explained>({
  request: orNull(isRequest),
  memory: orNull(has<Memory>({ requests: isCount, sample: isLength, goodSince: isMoment, othersSince: isMoment })),
});

/** The request with this id, if this gateway carried it and has it yet. */
export const explain = question({
  name: 'explain',
  isArgument: isRequestId,
  otherwise: mergeExplained([]),
  part: ({ recent }: { readonly recent: { explain(id: string): Explained } }, id) => recent.explain(id),
  answer: ({ parts }) => mergeExplained(parts),
  isAnswer: isExplained,
});
