import type { Code } from '../common/errors/catalogue.ts';
import { Outage } from '../common/errors/outage.ts';
import { MINUTE } from '../common/time.ts';
import type { Event, EventOf } from './events.ts';
import { createRequestFields } from './request-fields.ts';
import { throttle } from './throttle.ts';

interface Line {
  readonly level: 'info' | 'warn' | 'error';
  /** A text is the inside of a JSON object. */
  readonly fields: object | string;
  /** The type of the event if absent. */
  readonly message?: string | undefined;
}

/**
 * `null`: no line. Method parameters are bivariant, so the row of one event is assignable to a row
 * of `Event`.
 */
type Row<E extends Event = Event> = { line(event: E): Line | null }['line'];

/**
 * A row names every field that it writes: a new event does not compile without a row, and a new
 * field, which may be a secret, is not logged by default.
 */
type Rows = { readonly [T in Event['type']]: Row<EventOf<T>> };

const lineOf =
  (level: Line['level']) =>
  (fields: Line['fields'], message?: string): Line => ({
    level,
    fields,
    message,
  });

const info = lineOf('info');
const warn = lineOf('warn');
const error = lineOf('error');
const silent = () => null;

const SPANS_DROPPED = {
  'queue full':
    'more spans wait for the collector than tracing.batch.maxQueueSize',
  stopped: 'the gateway stopped before the collector accepted them',
} as const;

/** Outages have a line at their begin and end, none per request. */
const LOGGED_ONCE: ReadonlySet<Code> = new Set([
  'state_unavailable',
  'upstream_down',
]);

export function createLogTable(): Readonly<Record<Event['type'], Row>> {
  const inFlood = throttle(MINUTE);
  const fieldsOf = createRequestFields();

  function throttled(
    kind: string,
    line: (count: number) => Line,
    events?: number,
  ): Line | null {
    const count = inFlood(kind, events);
    return count === null ? null : line(count);
  }

  const rows: Rows = {
    request: (event) => info(fieldsOf(event)),
    outage: ({ id, error }) =>
      error instanceof Outage && LOGGED_ONCE.has(error.code)
        ? null
        : warn({ id, reason: reasonOf(error) }),
    bug: ({ id, error: thrown }) => error({ id, err: errorFields(thrown) }),
    // The name of the webhook event, which has no line of its own.
    ban: ({ id, keyId, plan, until }) =>
      info({ id, keyId, plan, until }, 'ban.started'),
    'ban.started': silent,
    'key.first_used': silent,
    'key.retiring': silent,
    'webhook.delivery': ({ result, endpoint, count }) =>
      result !== 'dropped'
        ? null
        : throttled(
            `webhook.dropped ${endpoint}`,
            (times) => warn({ endpoint, times }, 'webhook.dropped'),
            count,
          ),
    'webhook.failing': ({ endpoint, error: reason }) =>
      warn({ endpoint, reason }),
    'webhook.recovered': ({ endpoint, failures }) =>
      info({ endpoint, failures }),
    'usage.expired': ({ hours, days, before }) => info({ hours, days, before }),
    'usage.export_failed': ({ endpoint, error: reason }) =>
      warn({ endpoint, reason }),
    'usage.export_refused': (event) => {
      const { endpoint, error: reason, id, account } = event;
      const { minute, requests, units } = event;
      return warn({ endpoint, reason, id, account, minute, requests, units });
    },
    'usage.export_recovered': ({ endpoint, failures }) =>
      info({ endpoint, failures }),
    'ban_log.dropped': ({ count }) => warn({ count }),
    'log.dropped': ({ count, duration, reason }) =>
      warn({ count, duration, reason }),
    'reload.done': ({ reason, changed, needRestart }) =>
      info({ reason, changed, needRestart }),
    'reload.failed': ({ reason, problems }) => error({ reason, problems }),
    // The end has a level at which the begin is seen.
    'health.changed': ({ before, status: health, reasons }) =>
      (health === 'down' ? error : warn)({ before, health, reasons }),
    'configuration.applied': silent,
    'last_used.write_failed': ({ error }) =>
      throttled('last_used.write_failed', () =>
        warn({ reason: reasonOf(error) }),
      ),
    'contract.fault': ({ id, api, operation, side, count, faults }) =>
      info({
        id,
        ...(api !== null && { api }),
        operation,
        side,
        count,
        faults,
      }),
    'contract.copy_in_use': ({ url, fetched, reason }) =>
      warn({ url, fetched, reason }),
    'contract.copy_failed': ({ url, error }) =>
      warn({ url, reason: reasonOf(error) }),
    'contract.exempted': ({ operations }) =>
      warn({ count: operations.length, operations }),
    'contract.hidden': ({ operations }) =>
      warn({ count: operations.length, operations }),
    'cost.settled': silent,
    'cost.invalid': ({ operation }) =>
      throttled(`cost.invalid ${operation}`, (count) =>
        warn({ operation, count }),
      ),
    // In lines of requests `upstream` is a number, and log systems take one type per field.
    retry: ({ id, upstream: upstreamName, backend, error }) =>
      warn(
        { id, upstreamName, backend, reason: reasonOf(error) },
        'retry: the request is sent again',
      ),
    'retry.refused': silent,
    'upstream.down': ({
      upstream: upstreamName,
      backend,
      reason,
      error: cause,
    }) =>
      error({
        upstreamName,
        backend,
        reason,
        ...(cause !== undefined && { error: reasonOf(cause) }),
      }),
    'upstream.up': ({ upstream: upstreamName, backend, duration, removed }) =>
      info({ upstreamName, backend, duration, removed }),
    'upstream.check_failed': ({
      upstream: upstreamName,
      backend,
      error: cause,
    }) =>
      warn(
        {
          upstreamName,
          backend,
          ...(cause !== undefined && { error: reasonOf(cause) }),
        },
        'upstream.check_failed: the backend keeps its requests, as too few others could take them; see upstream.healthChecks.path',
      ),
    'upstream.state': silent,
    'state.outage': ({ policy, error }) =>
      warn({ policy, reason: reasonOf(error) }),
    'state.unavailable_at_start': ({ reason, copyAge }) =>
      warn({ reason, copyAge: `${Math.round(copyAge / 1_000)} s` }),
    'state.incompatible': ({ reason }) => error({ reason }),
    'state.recovered': ({ duration }) => info({ duration }),
    'state.responded': silent,
    'state.local_mode': silent,
    'state.connection': silent,
    'state.data_doubted': silent,
    'state.data_lost': silent,
    'state.write_failed': ({ error: cause }) =>
      error({ reason: reasonOf(cause) }),
    'state.write_recovered': () => info({}),
    'state.unmigrated_keys': ({ folder, keys, unknown, command }) =>
      warn({ folder, keys, unknown, command }),
    'state.warning': ({ warning }) => warn({ warning }),
    spans: (event) =>
      event.result !== 'dropped'
        ? null
        : throttled(`spans.dropped ${event.reason}`, () =>
            warn({ reason: SPANS_DROPPED[event.reason] }, 'spans.dropped'),
          ),
    'otlp.export_failed': ({ error }) =>
      throttled('otlp.export_failed', (count) =>
        warn({ reason: reasonOf(error), count }),
      ),
    'otlp.export_recovered': ({ duration, dropped }) =>
      throttled('otlp.export_recovered', () => info({ duration, dropped })),
    'connection.ended': ({ withKey, withoutKey }) =>
      throttled('connection.ended', (count) =>
        warn({ withKey, withoutKey, count }),
      ),
    'connection.refused': ({ reason, address }) =>
      throttled(`connection.refused ${reason}`, (count) =>
        warn({ reason, address, count }),
      ),
    'tls.established': silent,
    // Port scans are constant; a misconfigured balancer deserves a warning.
    'tls.failed': ({ reason, address }) =>
      throttled(`tls.failed ${reason}`, (count) =>
        info({ reason, address, count }),
      ),
    'proxy.refused': ({ reason, address }) =>
      throttled('proxy.refused', (count) => warn({ reason, address, count })),
    'tls.warning': ({ warning }) => warn({ warning }),
    'worker.started': ({ worker, pid }) => info({ worker, pid }),
    'worker.ended': ({ unexpected, worker, pid, reason, replacedAfter }) =>
      (unexpected ? error : info)({ worker, pid, reason, replacedAfter }),
    'primary.exited': ({ inFlight }) => warn({ inFlight }),
    started: ({ url, adminUrl, state }) => info({ url, adminUrl, state }),
    stopping: ({ inFlight }) => info({ inFlight }),
    stopped: ({ cutOff }) => info({ cutOff }),
  };
  return rows;
}

function errorFields(thrown: unknown): object {
  if (!(thrown instanceof Error))
    return { type: typeof thrown, message: String(thrown) };
  return {
    type: thrown.name,
    message: reasonOf(thrown),
    stack: stackOf(thrown),
  };
}

function stackOf({ stack, message, cause }: Error): string {
  const own = stack ?? message;
  return cause instanceof Error ? `${own}\ncaused by: ${stackOf(cause)}` : own;
}

/** Without stacks, because an outage is not a bug. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  const own =
    code && !error.message.includes(code)
      ? `${error.message} (${code})`
      : error.message;
  if (error.cause === undefined) return own;
  const cause = reasonOf(error.cause);
  // The outer message may already contain that of its cause.
  if (own.includes(cause)) return own;
  return cause.startsWith(own) ? cause : `${own}: ${cause}`;
}
