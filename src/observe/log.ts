import { pino } from 'pino';
import type { Config } from '../config/config.ts';
import { Outage } from '../errors/outage.ts';
import type { Code } from '../errors/refusals.ts';
import type { Observe, RequestTrace } from './events.ts';
import { prettyLine } from './pretty.ts';
import { seldom } from './seldom.ts';

export interface Log {
  readonly observe: Observe;
}

export interface Destination {
  write(line: string): void;
  /** Whether a person reads along, and sees colours there. */
  readonly isTTY?: boolean;
}

/** Milliseconds between two lines about refused connections, which come in floods. */
const REFUSED_CONNECTIONS = 60_000;

/** Milliseconds between two lines that say the same of the receiver of spans. */
const COLLECTOR = 60_000;
/** The same about events that never reach a receiver: where too many wait, each new one drops one. */
const LOST_WEBHOOKS = 60_000;

export interface LogOptions {
  /** The target of the lines; standard output by default. */
  readonly destination?: Destination;
  /** The number of the worker, on every line. */
  readonly worker?: number;
}

/** Writes JSON lines, or lines for a person. They name keys by id, never by secret. */
export function createLog(
  { level, requests, format }: Config['log'],
  { destination = process.stdout, worker }: LogOptions = {},
): Log {
  const logger = pino(
    { level, base: worker === undefined ? null : { worker }, timestamp: timeOf() },
    ...targetOf(format, destination),
  );

  const refusedConnections = seldom(REFUSED_CONNECTIONS);
  const droppedSpans = seldom(COLLECTOR);
  const collectorAway = seldom(COLLECTOR);
  const collectorBack = seldom(COLLECTOR);
  const failedHandshakes = seldom(REFUSED_CONNECTIONS);
  const refusedHeaders = seldom(REFUSED_CONNECTIONS);
  const lostWebhooks = seldom(LOST_WEBHOOKS);

  const observe: Observe = (event) => {
    switch (event.type) {
      case 'request': {
        if (!requests || !logger.isLevelEnabled('info')) return;
        const { type, trace, unheeding, deprecated, ...fields } = event;
        const { duration, upstream } = fields;
        logger.info({ ...fields, duration: rounded(duration), upstream: rounded(upstream), ...moreIn(trace) }, type);
        return;
      }
      case 'connection.refused': {
        const { type, ...fields } = event;
        const count = refusedConnections(event.reason);
        if (count !== null) logger.warn({ ...fields, count }, type);
        return;
      }
      case 'spans':
        if (event.result === 'dropped' && droppedSpans(event.result) !== null)
          logger.warn({ reason: 'more spans wait for the receiver than tracing.batch.queue' }, 'spans.dropped');
        return;
      case 'collector.away': {
        const count = collectorAway(event.type);
        if (count !== null) logger.warn({ reason: reasonOf(event.error), count }, event.type);
        return;
      }
      case 'collector.back': {
        const { type, ...fields } = event;
        if (collectorBack(type) !== null) logger.info(fields, type);
        return;
      }
      case 'tls.failed':
      case 'proxy.refused': {
        const { type, ...fields } = event;
        const count = type === 'tls.failed' ? failedHandshakes(event.reason) : refusedHeaders('header');
        // Whoever looks for open ports comes by all the time; a balancer that is not set up well is a matter of ours.
        if (count !== null) logger[type === 'tls.failed' ? 'info' : 'warn']({ ...fields, count }, type);
        return;
      }
      case 'tls.warning':
        logger.warn({ warning: event.warning }, event.type);
        return;
      case 'tls.opened':
      case 'key.retiring':
      case 'ban.begun':
      case 'key.first_used':
      case 'configuration.used':
      case 'store.state':
      case 'retry.refused':
      case 'state.answered':
      case 'state.alone':
      case 'state.connection':
        return;
      case 'state.outage':
        logger.warn({ policy: event.policy, reason: reasonOf(event.error) }, event.type);
        return;
      case 'state.unsaved':
        logger.error({ reason: reasonOf(event.error) }, event.type);
        return;
      case 'state.absent':
        logger.warn({ reason: event.reason, copyAge: `${Math.round(event.copyAge / 1_000)} s` }, event.type);
        return;
      case 'state.unfit':
        logger.error({ reason: event.reason }, event.type);
        return;
      case 'uses.unsaved':
        logger.warn({ reason: reasonOf(event.error) }, event.type);
        return;
      case 'primary.silent':
        logger.warn({ reason: reasonOf(event.error) }, event.type);
        return;
      case 'primary.gone':
        logger.warn({ inFlight: event.inFlight }, event.type);
        return;
      case 'worker.ended': {
        const { type, unexpected, ...fields } = event;
        if (unexpected) logger.error(fields, type);
        else logger.info(fields, type);
        return;
      }
      case 'reload.refused':
        logger.error({ reason: event.reason, problems: event.problems }, event.type);
        return;
      case 'state.left': {
        const { type, ...fields } = event;
        logger.warn(fields, type);
        return;
      }
      case 'bans.unrecorded':
        logger.warn({ count: event.count }, event.type);
        return;
      case 'webhook.told': {
        const lost = event.result === 'lost' ? lostWebhooks(event.endpoint) : null;
        if (lost !== null) logger.warn({ endpoint: event.endpoint, times: lost }, 'webhook.lost');
        return;
      }
      case 'webhook.failing':
        logger.warn({ endpoint: event.endpoint, reason: event.error }, event.type);
        return;
      case 'contract.exempted':
        logger.warn({ count: event.operations.length, operations: event.operations }, event.type);
        return;
      case 'state.warning':
        logger.warn({ warning: event.warning }, event.type);
        return;
      case 'outage':
        // An outage of the state or a store has one line at its begin and one at its end, and none for the requests in between.
        if (event.error instanceof Outage && TOLD_ONCE.has(event.error.code)) return;
        logger.warn({ id: event.id, reason: reasonOf(event.error) }, 'outage');
        return;
      case 'bug':
        logger.error({ id: event.id, err: event.error }, 'bug');
        return;
      case 'retry':
        logger.warn(
          { id: event.id, upstreamName: event.upstream, store: event.store, reason: reasonOf(event.error) },
          'retry: the request is sent again',
        );
        return;
      case 'store.away': {
        // In lines of requests `upstream` is a number, and systems that read logs take one type for each field.
        const { upstream: upstreamName, store, reason, error } = event;
        logger.error(
          { upstreamName, store, reason, ...(error !== undefined && { error: reasonOf(error) }) },
          event.type,
        );
        return;
      }
      case 'store.back': {
        const { type, upstream: upstreamName, ...fields } = event;
        logger.info({ upstreamName, ...fields }, type);
        return;
      }
      default: {
        const { type, ...fields } = event;
        logger.info(fields, type);
      }
    }
  };

  return { observe };
}

const TOLD_ONCE: ReadonlySet<Code> = new Set(['state_unavailable', 'upstream_away']);

/** Where pino writes to; JSON for standard output takes pino's own, faster way. */
function targetOf(format: Config['log']['format'], destination: Destination): Destination[] {
  const isTerminal = destination.isTTY === true;
  if (format === 'pretty' || (format === 'auto' && isTerminal)) {
    const colour = isTerminal && !process.env.NO_COLOR;
    return [{ write: (line) => void destination.write(prettyLine(line, colour)) }];
  }
  return destination === process.stdout ? [] : [destination];
}

/** The time in pino's format. Formatting it takes a sixth of the time of a line, and many lines share a millisecond. */
function timeOf(): () => string {
  let last = Number.NaN;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== last) {
      last = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
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
