import { MINUTE } from '../common/time.ts';
import { Outage } from '../errors/outage.ts';
import type { Code } from '../errors/refusals.ts';
import type { Event, EventOf, RequestTrace } from './events.ts';
import { throttle } from './throttle.ts';

/** One line of the log. */
export interface Line {
  readonly level: 'info' | 'warn' | 'error';
  readonly fields: object;
  /** The type of the event if absent. */
  readonly message?: string;
}

/** Returns `null` for no line. Method parameters are bivariant, so the row of one event is one of `Event`, too. */
type Row<E extends Event = Event> = { line(event: E): Line | null }['line'];

/**
 * The line of each event. A row names every field that it writes: a new event does not compile without a row, and a new field, which
 * may be a secret, is in no line by default.
 */
type Rows = { readonly [T in Event['type']]: Row<EventOf<T>> };

export type LogTable = Readonly<Record<Event['type'], Row>>;

const info = (fields: object): Line => ({ level: 'info', fields });
const warn = (fields: object): Line => ({ level: 'warn', fields });
const error = (fields: object): Line => ({ level: 'error', fields });
/** The log has no line for it. */
const silent = () => null;

const SPANS_DROPPED = {
  'queue full': 'more spans wait for the receiver than tracing.batch.maxQueueSize',
  stopped: 'the gateway stopped before the receiver took them',
} as const;

/** Milliseconds between two lines about events of one kind that come in floods. */
const FLOOD = MINUTE;

/** An outage of the state or a store has one line at its begin and one at its end, and none for the requests in between. */
const LOGGED_ONCE: ReadonlySet<Code> = new Set(['state_unavailable', 'upstream_away']);

interface LogTableOptions {
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** The rows of one log. */
export function createLogTable({ now = () => performance.now() }: LogTableOptions = {}): LogTable {
  const inFlood = throttle(FLOOD, now);

  /** One line for each kind and span; `count`: the events since the line before. */
  function throttled(kind: string, line: (count: number) => Line): Line | null {
    const count = inFlood(kind);
    return count === null ? null : line(count);
  }

  const rows: Rows = {
    request: requestLine,
    outage: ({ id, error }) =>
      error instanceof Outage && LOGGED_ONCE.has(error.code) ? null : warn({ id, reason: reasonOf(error) }),
    bug: ({ id, error: err }) => error({ id, err }),
    ban: ({ id, keyId, plan, until }) => info({ id, keyId, plan, until }),
    'ban.begun': silent,
    'key.first_used': silent,
    'key.retiring': silent,
    'webhook.told': ({ result, endpoint }) =>
      result !== 'lost'
        ? null
        : throttled(`webhook.lost ${endpoint}`, (times) => ({ ...warn({ endpoint, times }), message: 'webhook.lost' })),
    'webhook.failing': ({ endpoint, error: reason }) => warn({ endpoint, reason }),
    'webhook.well': ({ endpoint, failures }) => info({ endpoint, failures }),
    'bans.unrecorded': ({ count }) => warn({ count }),
    'reload.done': ({ reason, changed, needRestart }) => info({ reason, changed, needRestart }),
    'reload.refused': ({ reason, problems }) => error({ reason, problems }),
    'configuration.used': silent,
    'uses.unsaved': ({ error }) => warn({ reason: reasonOf(error) }),
    'contract.fault': ({ id, operation, side, count, faults }) => info({ id, operation, side, count, faults }),
    'contract.exempted': ({ operations }) => warn({ count: operations.length, operations }),
    // In lines of requests `upstream` is a number, and systems that read logs take one type for each field.
    retry: ({ id, upstream: upstreamName, store, error }) => ({
      ...warn({ id, upstreamName, store, reason: reasonOf(error) }),
      message: 'retry: the request is sent again',
    }),
    'retry.refused': silent,
    'store.away': ({ upstream: upstreamName, store, reason, error: cause }) =>
      error({ upstreamName, store, reason, ...(cause !== undefined && { error: reasonOf(cause) }) }),
    'store.back': ({ upstream: upstreamName, store, after, removed }) => info({ upstreamName, store, after, removed }),
    'store.check_failed': ({ upstream: upstreamName, store, error: cause }) => ({
      ...warn({ upstreamName, store, ...(cause !== undefined && { error: reasonOf(cause) }) }),
      message:
        'store.check_failed: the store keeps its requests, as too few others could take them; see upstream.healthChecks.path',
    }),
    'store.state': silent,
    'state.outage': ({ policy, error }) => warn({ policy, reason: reasonOf(error) }),
    'state.absent': ({ reason, copyAge }) => warn({ reason, copyAge: `${Math.round(copyAge / 1_000)} s` }),
    'state.unfit': ({ reason }) => error({ reason }),
    'state.recovered': ({ after }) => info({ after }),
    'state.answered': silent,
    'state.alone': silent,
    'state.connection': silent,
    'state.unsaved': ({ error: cause }) => error({ reason: reasonOf(cause) }),
    'state.saved': () => info({}),
    'state.left': ({ folder, keys, unknown, command }) => warn({ folder, keys, unknown, command }),
    'state.warning': ({ warning }) => warn({ warning }),
    spans: (event) =>
      event.result !== 'dropped'
        ? null
        : throttled(`spans.dropped ${event.reason}`, () => ({
            ...warn({ reason: SPANS_DROPPED[event.reason] }),
            message: 'spans.dropped',
          })),
    'collector.away': ({ error }) => throttled('collector.away', (count) => warn({ reason: reasonOf(error), count })),
    'collector.back': ({ after, lost }) => throttled('collector.back', () => info({ after, lost })),
    'connection.refused': ({ reason, address }) =>
      throttled(`connection.refused ${reason}`, (count) => warn({ reason, address, count })),
    'tls.opened': silent,
    // Whoever looks for open ports comes by all the time; a balancer that is not set up well is a matter of ours.
    'tls.failed': ({ reason, address }) =>
      throttled(`tls.failed ${reason}`, (count) => info({ reason, address, count })),
    'proxy.refused': ({ reason, address }) => throttled('proxy.refused', (count) => warn({ reason, address, count })),
    'tls.warning': ({ warning }) => warn({ warning }),
    'worker.started': ({ worker, pid }) => info({ worker, pid }),
    'worker.ended': ({ unexpected, worker, pid, reason, replacedAfter }) =>
      (unexpected ? error : info)({ worker, pid, reason, replacedAfter }),
    'primary.silent': ({ error }) => warn({ reason: reasonOf(error) }),
    'primary.heard': () => info({}),
    'primary.gone': ({ inFlight }) => warn({ inFlight }),
    started: ({ url, adminUrl, state }) => info({ url, adminUrl, state }),
    stopping: ({ inFlight }) => info({ inFlight }),
    stopped: ({ cutOff }) => info({ cutOff }),
  };
  return rows;
}

function requestLine(event: EventOf<'request'>): Line {
  const { id, method, operation, status, complete, code, verdict, nearLimit, keyId, account, plan, address } = event;
  return info({
    ...{ id, method, operation, status, complete, code, verdict, nearLimit, keyId, account, plan, address },
    duration: rounded(event.duration),
    upstream: rounded(event.upstream),
    ...moreIn(event.trace),
  });
}

/** Where it stands in a traceparent. Log systems find the trace by it. */
const TRACE_ID = { from: 3, to: 35 } as const;

/** What only some lines of requests have: what refused them, faults, and the trace that the request belongs to. */
function moreIn(trace: RequestTrace | undefined): object | null {
  if (trace === undefined) return null;
  const { faults, faultCount, traceparent, reason } = trace;
  const store = trace.store === null || trace.store.isSole ? null : trace.store.store;
  if (faults === null && traceparent === null && reason === null && store === null) return null;
  const traced = traceparent && { traceId: traceparent.slice(TRACE_ID.from, TRACE_ID.to), traceparent };
  return { ...(store && { store }), ...(reason && { reason }), ...(faults && { faults, faultCount }), ...traced };
}

function rounded(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.round(milliseconds * 1000) / 1000;
}

/** The chain of causes, without stacks, because an outage is no bug. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  const own = code && !error.message.includes(code) ? `${error.message} (${code})` : error.message;
  if (error.cause === undefined) return own;
  const cause = reasonOf(error.cause);
  // Whoever hands an error on may say what it says.
  if (own.includes(cause)) return own;
  return cause.startsWith(own) ? cause : `${own}: ${cause}`;
}
