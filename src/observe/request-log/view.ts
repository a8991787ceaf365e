import { types } from 'node:util';
import type { Faults } from '@storegate/admin-api';
import { ClientError, oneByte } from '@storegate/http1';
import { Outage } from '../../common/errors/outage.ts';
import { plainReason } from '../../common/errors/plain-reason.ts';
import { nextSecond, wholeSeconds } from '../../common/errors/retry-after.ts';
import { maskSecrets } from '../../common/secret-mask.ts';
import { roundMilliseconds } from '../../common/time.ts';
import {
  type Admission,
  excessOf,
  remainingIn,
} from '../../limits/admission.ts';
import { countsIn, fullNameOf } from '../../limits/scopes.ts';
import {
  type EventOf,
  outcomeCode,
  type RequestEvent,
  type RequestTrace,
} from '../events.ts';
import type {
  DecisionView,
  ListedRequest,
  RequestView,
  WindowView,
} from '../peers/requests.ts';

/** Notes from earlier events of the request. */
export interface Notes {
  readonly faults: Faults[];
  retries: number;
  /** Kinds of errors; `null`: no outage. */
  outage: string | null;
}

export interface RequestLogEntry {
  readonly event: RequestEvent;
  readonly notes: Notes | null;
  /** Unix milliseconds. */
  readonly endedAt: number;
  /** Equal ones since the last kept one. */
  readonly repeated: number;
}

/** Characters of a path that are kept. */
const LONGEST_PATH = 500;

/** To be kept: with the path alone of what was sent, in a text of its own. */
export function keptEvent(event: RequestEvent): RequestEvent {
  const { trace } = event;
  if (trace?.target === undefined) return event;
  const [path = ''] = trace.target.split('?', 1);
  const target = maskSecrets(oneByte(path.slice(0, LONGEST_PATH)));
  return { ...event, trace: { ...trace, target } };
}

/** Unix milliseconds. */
export const beganAt = ({
  event,
  endedAt,
}: Pick<RequestLogEntry, 'event' | 'endedAt'>): number =>
  Math.round(endedAt - event.duration);

export function requestView(
  { event, notes, endedAt, repeated }: RequestLogEntry,
  worker: number | null,
): RequestView {
  const {
    id,
    method,
    operation,
    status,
    complete,
    step,
    address,
    duration,
    upstream,
    trace,
  } = event;
  const times = {
    authenticated: roundMilliseconds(trace?.authenticated),
    admitted: roundMilliseconds(trace?.admitted),
    forwarded: roundMilliseconds(trace?.forwarded),
    answered:
      upstream === null
        ? null
        : roundMilliseconds((trace?.forwarded ?? 0) + upstream),
    total: roundMilliseconds(duration)!,
  };
  return {
    id,
    worker,
    method,
    operation,
    status,
    complete,
    code: outcomeCode(event),
    step,
    address,
    times,
    repeated,
    at: beganAt({ event, endedAt }),
    path: trace?.path ?? null,
    sentPath: trace?.target ?? null,
    message: trace?.message ?? null,
    reason: trace?.reason ?? null,
    key: keyOf(event),
    traceparent: trace?.traceparent ?? null,
    decision: trace?.admission ? decisionOf(trace, trace.admission) : null,
    windows: trace ? windowsOf(trace) : [],
    faults: faultsOf(trace, notes),
    body: {
      declared: trace ? trace.declared : null,
      received: trace?.received ?? 0,
    },
    backend: backendOf(event, notes),
    outage: notes?.outage ?? null,
  };
}

export function listed(request: RequestView): ListedRequest {
  const {
    path,
    sentPath,
    reason,
    traceparent,
    decision,
    windows,
    faults,
    body,
    backend,
    outage,
    times,
    ...rest
  } = request;
  return rest;
}

function keyOf({
  keyId,
  account,
  plan,
  trace,
}: RequestEvent): RequestView['key'] {
  if (keyId === null) return null;
  return {
    id: keyId,
    account: account ?? '',
    plan: plan ?? '',
    subject: trace?.subject ?? null,
  };
}

function decisionOf(
  { escalation, cost }: RequestTrace,
  admission: Admission,
): DecisionView {
  const {
    verdict,
    by = 'state',
    violated,
    retryAt,
    strikes,
    bannedUntil,
    banBegins,
  } = admission;
  return {
    verdict,
    by,
    cost,
    strikes,
    violated: violated && fullNameOf(violated),
    retryAt: verdict === 'admitted' ? null : nextSecond(retryAt),
    retryAfter:
      verdict === 'admitted' ? null : wholeSeconds(retryAt - admission.now),
    strikesToBan: escalation?.strikes ?? null,
    bannedUntil: bannedUntil > 0 ? nextSecond(bannedUntil) : null,
    banStarted: banBegins,
    level: admission.banLevel ?? null,
  };
}

/** A refused request is free. */
function windowsOf({
  usage,
  admission,
  cost,
  scopes,
}: RequestTrace): WindowView[] {
  const charged = admission?.verdict === 'admitted' ? cost : 0;
  const counting = (usage?.readings ?? []).filter(({ window }) =>
    countsIn(window, scopes),
  );
  const excesses = admission ? excessOf(admission, cost, scopes) : [];
  return counting.map((reading) => {
    const { window, used, resetAt, unfit } = reading;
    const over =
      excesses.find((excess) => excess.window === window)?.units ?? 0;
    return {
      name: fullNameOf(window),
      kind: window.kind,
      limit: window.limit,
      before: remainingIn({
        ...reading,
        used: unfit ? used : Math.max(0, used - charged),
      }),
      after: remainingIn(reading),
      resetAt: Math.round(resetAt),
      excess: window.excess ?? null,
      over,
    };
  });
}

function faultsOf(
  trace: RequestTrace | undefined,
  notes: Notes | null,
): Faults[] {
  const reported = notes?.faults ?? [];
  if (!trace?.faults) return [...reported];
  return [
    {
      side: 'request',
      reportOnly: false,
      count: trace.faultCount,
      faults: trace.faults,
    },
    ...reported,
  ];
}

export function reportedFaults({
  side,
  refused,
  count,
  faults,
}: EventOf<'contract.fault'>): Faults {
  const first = faults.map(({ in: place, pointer, rule }) => ({
    in: place,
    pointer,
    rule,
  }));
  return { side, reportOnly: !refused, count, faults: first };
}

function backendOf(
  { upstream, trace }: RequestEvent,
  notes: Notes | null,
): RequestView['backend'] {
  if (!trace || trace.forwarded === null) return null;
  const { backend: target } = trace;
  const attempts = target === null ? 0 : 1 + (notes?.retries ?? 0);
  return {
    attempts,
    target: target && { upstream: target.upstream, backend: target.backend },
    head: roundMilliseconds(upstream),
  };
}

const DEEPEST = 4;

/** Only the kinds, the outer one first: messages of libraries may hold anything. */
export function kindsOf(error: unknown): string {
  const kinds: string[] = [];
  let inner = error;
  for (let depth = 0; depth <= DEEPEST && types.isNativeError(inner); depth++) {
    kinds.push(kindOf(inner));
    inner = inner.cause;
  }
  return kinds.filter(Boolean).join(': ') || 'other';
}

/** Empty for an error that only has a message. */
function kindOf(error: Error): string {
  if (error instanceof Outage) return error.code;
  if (error instanceof ClientError) return error.failure;
  return plainReason((error as NodeJS.ErrnoException).code, '');
}
