import type { Fault } from '@storegate/openapi';
import {
  has,
  isCount,
  isFlag,
  isLength,
  isMoment,
  isNumber,
  isText,
  isWord,
  listOf,
  type Of,
  oneOf,
  orAbsent,
  orNull,
} from './shapes.ts';

const isStep = oneOf('door', 'pages', 'authenticate', 'usage', 'admit', 'contract', 'store');

/** The parts of the way of a request. */
export type Step = Of<typeof isStep>;

const LISTED = {
  id: isText,
  /** The process that carried it: the number of a worker; `null`: its gateway is one process. */
  worker: orNull(isCount),
  /** When it began, Unix milliseconds. */
  at: isMoment,
  method: isText,
  /** The operation of the contract, `mount <path>`, or a fixed word for everything else. */
  operation: isText,
  /** 499 if the caller left before the answer. */
  status: isCount,
  /** Whether the whole answer went out. */
  complete: isFlag,
  /** Where it was refused or failed, and what the caller was told; all `null` if it was not. */
  step: orNull(isStep),
  code: orNull(isText),
  message: orNull(isText),
  key: orNull(has({ id: isText, account: isText, plan: isText, subject: orNull(isText) })),
  address: isText,
  /** Equal refusals since the one that was kept before it, which were not kept. */
  more: isCount,
};
export const isListed = has(LISTED);

/** A refusal or failure in a list. */
export interface ListedRequest extends Of<typeof isListed> {}

const isDecision = has({
  verdict: oneOf('admitted', 'limited', 'banned'),
  /** `state`; `memory`: this process knew of an earlier refusal; `alone`: the state was away. */
  by: oneOf('state', 'memory', 'alone'),
  cost: isCount,
  /** The longest window that it did not fit into, by its name in `windows`. */
  violated: orNull(isText),
  /** When to come back, and in how many whole seconds, as `Retry-After` said; `null` when admitted. */
  retryAt: orNull(isMoment),
  retryAfter: orNull(isNumber),
  strikes: isCount,
  /** How many are a ban; `null`: keys of this plan are never banned. */
  strikesToBan: orNull(isCount),
  bannedUntil: orNull(isMoment),
  /** The ban began with this request. */
  banBegan: isFlag,
  /** Bans that are not forgotten, this one included; `null`: none began. */
  rung: orNull(isCount),
});

/** What admission decided. Times are Unix milliseconds by the state's clock. */
export interface DecisionView extends Of<typeof isDecision> {}

const isWindow = has({
  /** `minute`; for one operation `login:minute`, for all with a tag `tag:search:minute`. */
  name: isText,
  kind: oneOf('fixed', 'sliding'),
  limit: isCount,
  before: isNumber,
  after: isNumber,
  /** Unix milliseconds. */
  resetAt: isMoment,
});

/** One window that the request counted in, before and after it, in units that were left. */
export interface WindowView extends Of<typeof isWindow> {}

const isFaults = has({
  side: oneOf('request', 'response'),
  /** It was only reported. */
  reportOnly: isFlag,
  count: isCount,
  /** The first of them. */
  faults: listOf(has({ in: isWord<Fault['in']>(), pointer: isText, rule: isWord<Fault['rule']>() })),
});

/** What of a request, or of the store's answer, did not fit the contract. */
export interface FaultsView extends Of<typeof isFaults> {}

const isStoreView = has({
  attempts: isCount,
  /** The one that was asked last; `null`: none was, or it is not known. */
  asked: orAbsent(orNull(has({ upstream: isText, store: isText }))),
  /** Milliseconds until the head of its answer; `null`: none came. */
  head: orNull(isLength),
});

export interface StoreView extends Of<typeof isStoreView> {}

const isRequest = has({
  ...LISTED,
  /** The path as the contract has it. */
  path: orNull(isText),
  /** What decided, where the caller is not told: such as the entry of a list. */
  reason: orNull(isText),
  traceparent: orNull(isText),
  decision: orNull(isDecision),
  /** The client's; where no key was found, that of its address. */
  windows: listOf(isWindow),
  faults: listOf(isFaults),
  body: has({ declared: orNull(isCount), received: isCount }),
  /** `null`: it was not asked. */
  store: orNull(isStoreView),
  /** What was away: kinds of errors, the outer one first; `null`: nothing. */
  outage: orNull(isText),
  /** Milliseconds from its begin; `null`: not reached. `total`: until its answer had ended. */
  times: has({
    authenticated: orNull(isLength),
    admitted: orNull(isLength),
    forwarded: orNull(isLength),
    answered: orNull(isLength),
    total: isLength,
  }),
});

/** One request of the last ones, as told to operators: what was decided at each step, and why. Has no value that a caller sent. */
export interface RequestView extends Of<typeof isRequest> {}

const isMemory = has({
  /** How many each process keeps; 0: none. */
  requests: isCount,
  /** The share of good ones that is kept. */
  sample: isLength,
  /** Since when none was dropped to make room, good ones and others. */
  goodSince: isMoment,
  othersSince: isMoment,
});

/** What processes keep of the last requests. Times are Unix milliseconds. */
export interface Memory extends Of<typeof isMemory> {}

export const isExplained = has({
  /** `null`: it does not have it. */
  request: orNull(isRequest),
  /** `null`: none of its processes said. */
  memory: orNull(isMemory),
});

/** The answer of one gateway. */
export interface Explained extends Of<typeof isExplained> {}

/** Which refusals and failures are asked for; `null`: any. */
export interface RequestFilter {
  readonly key: string | null;
  readonly account: string | null;
  readonly code: string | null;
  /** At most so many, the newest. */
  readonly limit: number;
}

/** The most that one question may ask for. */
export const MOST_LISTED = 200;

export function isRequestId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);
}

/** Whether these are the words of a filter. */
export function isFilterWords(value: unknown): value is Omit<RequestFilter, 'limit'> {
  const { key, account, code } = Object(value) as Record<string, unknown>;
  return [key, account, code].every((one) => one === null || (typeof one === 'string' && one.length <= 100));
}

/** Whether a request fits the words of a filter. */
export function fits(
  { key, code, status }: Pick<ListedRequest, 'key' | 'code' | 'status'>,
  words: Omit<RequestFilter, 'limit'>,
): boolean {
  if (words.key !== null && words.key !== key?.id) return false;
  if (words.account !== null && words.account !== key?.account) return false;
  // Failures of a mount's target have no code of ours.
  return words.code === null || words.code === (code ?? `${status}`);
}

/** Puts together what processes answered. */
export function mergeExplained(answers: readonly Explained[]): Explained {
  const memories = answers.map(({ memory }) => memory).filter((memory) => memory !== null);
  const latest = (since: 'goodSince' | 'othersSince') => Math.max(...memories.map((memory) => memory[since]));
  return {
    request: answers.find(({ request }) => request !== null)?.request ?? null,
    memory: memories[0] ? { ...memories[0], goodSince: latest('goodSince'), othersSince: latest('othersSince') } : null,
  };
}

/** The newest of several lists that are newest first. */
export function newestOf<R extends { readonly at: number }>(lists: readonly (readonly R[])[], limit: number): R[] {
  return lists
    .flat()
    .sort((one, other) => other.at - one.at)
    .slice(0, limit);
}
