import type { Fault } from '@storegate/openapi';
import type { StoreName } from '../events.ts';

/** The parts of the way of a request. */
export type Step = 'door' | 'pages' | 'authenticate' | 'usage' | 'admit' | 'contract' | 'store';

/** One request of the last ones, as told to operators: what was decided at each step, and why. Has no value that a caller sent. */
export interface ToldRequest {
  readonly id: string;
  /** The process that carried it: the number of a worker; `null`: its gateway is one process. */
  readonly worker: number | null;
  /** When it began, Unix milliseconds. */
  readonly at: number;
  readonly method: string;
  /** The operation of the contract, `mount <path>`, or a fixed word for everything else. */
  readonly operation: string;
  /** The path as the contract has it. */
  readonly path: string | null;
  /** 499 if the caller left before the answer. */
  readonly status: number;
  /** Whether the whole answer went out. */
  readonly complete: boolean;
  /** Where it was refused or failed, and what the caller was told; all `null` if it was not. */
  readonly step: Step | null;
  readonly code: string | null;
  readonly message: string | null;
  /** What decided, where the caller is not told: such as the entry of a list. */
  readonly reason: string | null;
  readonly key: {
    readonly id: string;
    readonly account: string;
    readonly plan: string;
    readonly subject: string | null;
  } | null;
  readonly address: string;
  readonly traceparent: string | null;
  readonly decision: ToldDecision | null;
  /** The client's; where no key was found, that of its address. */
  readonly windows: readonly ToldWindow[];
  readonly faults: readonly ToldFaults[];
  readonly body: { readonly declared: number | null; readonly received: number };
  /** `null`: it was not asked. */
  readonly store: ToldStore | null;
  /** What was away: kinds of errors, the outer one first; `null`: nothing. */
  readonly outage: string | null;
  /** Milliseconds from its begin; `null`: not reached. `total`: until its answer had ended. */
  readonly times: {
    readonly authenticated: number | null;
    readonly admitted: number | null;
    readonly forwarded: number | null;
    readonly answered: number | null;
    readonly total: number;
  };
  /** Equal refusals since the one that was kept before it, which were not kept. */
  readonly more: number;
}

/** What admission decided. Times are Unix milliseconds by the state's clock. */
export interface ToldDecision {
  readonly verdict: 'admitted' | 'limited' | 'banned';
  /** `state`; `memory`: this process knew of an earlier refusal; `alone`: the state was away. */
  readonly by: 'state' | 'memory' | 'alone';
  readonly cost: number;
  /** The longest window that it did not fit into, by its name in `windows`. */
  readonly violated: string | null;
  /** When to come back, and in how many whole seconds, as `Retry-After` said; `null` when admitted. */
  readonly retryAt: number | null;
  readonly retryAfter: number | null;
  readonly strikes: number;
  /** How many are a ban; `null`: keys of this plan are never banned. */
  readonly strikesToBan: number | null;
  readonly bannedUntil: number | null;
  /** The ban began with this request. */
  readonly banBegan: boolean;
  /** Bans that are not forgotten, this one included; `null`: none began. */
  readonly rung: number | null;
}

/** One window that the request counted in, before and after it, in units that were left. */
export interface ToldWindow {
  /** `minute`; for one operation `login:minute`, for all with a tag `tag:search:minute`. */
  readonly name: string;
  readonly kind: 'fixed' | 'sliding';
  readonly limit: number;
  readonly before: number;
  readonly after: number;
  /** Unix milliseconds. */
  readonly resetAt: number;
}

/** What of a request, or of the store's answer, did not fit the contract. */
export interface ToldFaults {
  readonly side: 'request' | 'response';
  /** It was only reported. */
  readonly reportOnly: boolean;
  readonly count: number;
  /** The first of them. */
  readonly faults: readonly Pick<Fault, 'in' | 'pointer' | 'rule'>[];
}

export interface ToldStore {
  readonly attempts: number;
  /** The one that was asked last; `null`: none was, or it is not known. Gateways of older versions do not tell it. */
  readonly asked?: Omit<StoreName, 'isSole'> | null;
  /** Milliseconds until the head of its answer; `null`: none came. */
  readonly head: number | null;
}

/** What processes keep of the last requests. Times are Unix milliseconds. */
export interface Memory {
  /** How many each process keeps; 0: none. */
  readonly requests: number;
  /** The share of good ones that is kept. */
  readonly sample: number;
  /** Since when none was dropped to make room, good ones and others. */
  readonly goodSince: number;
  readonly othersSince: number;
}

/** The answer of one gateway. */
export interface Explained {
  /** `null`: it does not have it. */
  readonly request: ToldRequest | null;
  /** `null`: none of its processes said. */
  readonly memory: Memory | null;
}

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

/** A refusal or failure in a list. */
export type ListedRequest = Omit<
  ToldRequest,
  'path' | 'reason' | 'traceparent' | 'decision' | 'windows' | 'faults' | 'body' | 'store' | 'outage' | 'times'
>;

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
