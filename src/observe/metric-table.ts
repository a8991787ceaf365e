import { readVersion } from '../common/version.ts';
import { fullNameOf } from '../limits/scopes.ts';
import { excessIn } from './excess.ts';
import {
  counter,
  everyEvent,
  gauge,
  histogram,
  info,
  type MetricRow,
  ofBackends,
  readCounter,
} from './metric-rows.ts';

/** A nearby Redis replies in less than a millisecond. */
const STATE_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
  0.5, 1, 2.5,
];

/**
 * In the order of the exposition. Label values come from a fixed set (operations, plans, codes),
 * never from a request.
 */
export const METRICS: readonly MetricRow[] = [
  counter('storegate_requests_total', ['request'], {
    help: 'Requests to the public listener; status 499: the client disconnected first.',
    labelNames: ['api', 'operation', 'method', 'status'],
    count: (add, { api, operation, method, status }) =>
      add(api ?? '', operation, method, status),
  }),
  counter('storegate_refusals_total', ['request'], {
    help: 'Requests without a complete response of the backend, by error code, client_closed_request and slow_reader.',
    labelNames: ['code'],
    count: (add, { code }) => code !== null && add(code),
  }),
  counter('storegate_reported_refusals_total', ['request'], {
    help: 'Forwarded requests that violate the contract, by error code: contract.requests, x-report-only.',
    labelNames: ['code'],
    count: (add, { trace }) => trace?.reported != null && add(trace.reported),
  }),
  counter('storegate_admissions_total', ['request'], {
    help: 'Decisions of admission.',
    labelNames: ['plan', 'verdict'],
    count: (add, { plan, verdict }) =>
      verdict !== null && add(plan ?? 'none', verdict),
  }),
  counter(
    'storegate_cost_settlements_total',
    ['cost.settled', 'cost.invalid'],
    {
      help: 'Responses that changed the charged units (cost.header, cost.refund); invalid: the header was not a valid number.',
      labelNames: ['result'],
      count: (add, event) =>
        add(event.type === 'cost.settled' ? event.result : 'invalid'),
      onlyWith: 'inFlight',
    },
  ),
  counter('storegate_near_limit_admissions_total', ['request'], {
    help: 'Admitted requests that left at most a fifth of a window.',
    labelNames: ['plan'],
    count: (add, { nearLimit, plan }) => nearLimit && add(plan ?? 'none'),
  }),
  counter('storegate_excess_requests_total', ['request'], {
    help: 'Admitted requests above a limit; watch: it would have refused them (`enforce: false`), overage: it charged them.',
    labelNames: ['plan', 'window', 'excess'],
    count: (add, event) => {
      for (const { window } of excessIn(event))
        add(event.plan ?? 'none', fullNameOf(window), window.excess!);
    },
  }),
  counter('storegate_forwarded_requests_total', ['request'], {
    help: 'Requests for backends and targets: answered, or rejected because backends were saturated.',
    labelNames: ['plan', 'result'],
    count: (add, { upstream, code, plan }) => {
      if (upstream !== null) add(plan ?? 'none', 'answered');
      else if (code === 'upstream_busy') add(plan ?? 'none', 'rejected');
    },
  }),
  counter('storegate_bans_total', ['ban'], {
    help: 'Automatic bans that started.',
    labelNames: ['plan'],
    count: (add, { plan }) => add(plan),
  }),
  counter('storegate_incomplete_responses_total', ['request'], {
    help: 'Responses that ended early.',
    labelNames: [],
    count: (add, { complete }) => complete || add(),
  }),
  counter('storegate_connections_refused_total', ['connection.refused'], {
    help: 'Connections closed at once: too many of one address, or in total.',
    labelNames: ['reason'],
    count: (add, { reason }) => add(reason),
  }),
  counter('storegate_connections_ended_total', ['connection.ended'], {
    help: 'Idle connections closed for new ones; key: whether they ever had a valid key.',
    labelNames: ['key'],
    count: (add, { withKey, withoutKey }) => {
      for (let i = 0; i < withKey; i++) add('valid');
      for (let i = 0; i < withoutKey; i++) add('none');
    },
  }),
  counter('storegate_tls_handshakes_total', ['tls.established'], {
    help: 'TLS handshakes of the public listener.',
    labelNames: ['version', 'resumed'],
    count: (add, { version, resumed }) => add(version, resumed ? 'yes' : 'no'),
  }),
  counter('storegate_tls_handshake_failures_total', ['tls.failed'], {
    help: 'Failed TLS handshakes of the public listener; plaintext: HTTP without TLS.',
    labelNames: ['reason'],
    count: (add, { reason }) => add(reason),
  }),
  everyEvent(
    'storegate_proxy_headers_refused_total',
    'proxy.refused',
    'Connections of load balancers without a valid PROXY protocol header.',
  ),
  counter('storegate_retiring_key_requests_total', ['key.retiring'], {
    help: 'Requests with the old secret of a rotated key.',
    labelNames: ['plan'],
    count: (add, { plan }) => add(plan),
  }),
  counter('storegate_reloads_total', ['reload.done', 'reload.failed'], {
    help: 'Reloads of the configuration: success or failure.',
    labelNames: ['result'],
    count: (add, { type }) =>
      add(type === 'reload.done' ? 'success' : 'failure'),
  }),
  counter('storegate_spans_total', ['spans'], {
    help: 'Spans: exported, failed or dropped.',
    labelNames: ['result'],
    count: (add, { result, count }) => {
      for (let i = 0; i < count; i++) add(result);
    },
  }),
  readCounter(
    'storegate_log_lines_dropped_total',
    'droppedLines',
    'Log lines dropped because standard output did not take them.',
  ),
  gauge(
    'storegate_config_last_reload_successful',
    'reloadSuccess',
    '1 if the last start or reload was successful, otherwise 0.',
  ),
  gauge(
    'storegate_config_last_reload_timestamp_seconds',
    'reloadTime',
    'Time of the last start or reload.',
  ),
  info('storegate_config_info', ['configuration.applied'], {
    help: 'Digests of the configuration, equal for equal gateways. Always 1.',
    labelNames: ['settings', 'plans', 'contract'],
    count: (set, { settings, plans, contract }) =>
      set(settings, plans, contract),
    onlyWith: 'exempted',
  }),
  gauge('storegate_ready', 'ready', '1 if the gateway is ready, otherwise 0.'),
  gauge(
    'storegate_health',
    'health',
    'Health of the gateway as it sees itself: 0 OK, 1 degraded, 2 down.',
  ),
  counter('storegate_contract_faults_total', ['contract.fault'], {
    help: 'Requests and responses that violate the contract and are only reported.',
    labelNames: ['api', 'operation', 'side'],
    count: (add, { api, operation, side }) => add(api ?? '', operation, side),
  }),
  everyEvent(
    'storegate_upstream_retries_total',
    'retry',
    'Retries of requests.',
  ),
  everyEvent(
    'storegate_upstream_retry_budget_exhausted_total',
    'retry.refused',
    'Requests not retried because upstream.retries.budget was used up.',
    { onlyWith: 'inFlight' },
  ),
  everyEvent(
    'storegate_state_outages_total',
    'state.outage',
    'Outages of Redis.',
  ),
  counter('storegate_state_local_mode_requests_total', ['state.local_mode'], {
    help: 'Requests decided without Redis, by redis.onOutage.',
    labelNames: ['policy'],
    count: (add, { policy }) => add(policy),
  }),
  gauge('storegate_workers', 'workers', 'Workers that serve.'),
  counter('storegate_worker_exits_total', ['worker.ended'], {
    help: 'Workers that ended unexpectedly.',
    labelNames: [],
    count: (add, { unexpected }) => unexpected && add(),
    onlyWith: 'workers',
  }),
  histogram('storegate_request_duration_seconds', ['request'], {
    help: 'Time from the request to the end of its response.',
    labelNames: ['api', 'operation'],
    count: (add, { api, operation, duration }) =>
      add(duration / 1000, api ?? '', operation),
  }),
  histogram('storegate_upstream_duration_seconds', ['request'], {
    help: 'Time from forwarding a request to the response headers.',
    labelNames: ['api', 'operation'],
    count: (add, { api, operation, upstream }) =>
      upstream !== null && add(upstream / 1000, api ?? '', operation),
  }),
  histogram('storegate_state_duration_seconds', ['state.responded'], {
    help: 'Time of a decision by Redis.',
    labelNames: [],
    buckets: STATE_SECONDS,
    count: (add, { duration }) => add(duration / 1000),
    onlyWith: 'inFlight',
  }),
  ofBackends('storegate_backend_up', 'gauge', {
    help: '1 if a backend gets requests, 0 if it is down; with several workers the mean.',
    aggregator: 'average',
    read: ({ state }) => Number(state !== 'down'),
  }),
  counter('storegate_backend_ejections_total', ['upstream.down'], {
    help: 'Times that a backend went down for a process.',
    labelNames: ['upstream', 'backend', 'reason'],
    count: (add, { upstream, backend, reason }) =>
      add(upstream, backend, reason),
    onlyWith: 'inFlight',
  }),
  ofBackends('storegate_backend_requests_total', 'counter', {
    help: 'Requests sent to a backend, including retries.',
    read: ({ requests }) => requests,
  }),
  ofBackends('storegate_backend_failures_total', 'counter', {
    help: 'Requests without a valid response: no connection, timeout, invalid, or a failure status.',
    read: ({ failures }) => failures,
  }),
  ofBackends('storegate_backend_retries_total', 'counter', {
    help: 'Requests retried because this backend failed.',
    read: ({ retries }) => retries,
  }),
  ofBackends('storegate_backend_requests_in_flight', 'gauge', {
    help: 'Requests that a backend is processing.',
    read: ({ inFlight }) => inFlight,
  }),
  ofBackends('storegate_backend_connections_open', 'gauge', {
    help: 'Open connections to a backend.',
    read: ({ open }) => open,
  }),
  gauge(
    'storegate_upstream_connections_open',
    'backendOpen',
    'Open connections to all backends.',
  ),
  gauge(
    'storegate_upstream_connections_idle',
    'backendIdle',
    'Idle connections to all backends.',
  ),
  gauge(
    'storegate_upstream_connections_limit',
    'backendMost',
    'Most connections to all backends.',
  ),
  gauge(
    'storegate_upstream_pending_requests',
    'backendWaiting',
    'Requests waiting for a connection to a backend.',
  ),
  gauge(
    'storegate_certificate_expiry_timestamp_seconds',
    'certificateEnd',
    'Earliest expiry of the certificates in use; +Inf without certificates.',
  ),
  gauge(
    'storegate_contract_unsupported_operations',
    'exempted',
    'Operations with a mistake, treated by contract.onUnsupported.',
  ),
  gauge(
    'storegate_requests_in_flight',
    'inFlight',
    'Requests without a complete response.',
  ),
  gauge(
    'storegate_subjects',
    'subjects',
    'Keys and accounts with counters in memory.',
  ),
  gauge('storegate_body_bytes', 'bodies', 'Memory used by request bodies.'),
  gauge(
    'storegate_body_budget_bytes',
    'bodyBudget',
    'Memory for request bodies: http.bodyBudget.',
  ),
  gauge(
    'storegate_state_write_failing_seconds',
    'unsaved',
    'Time since counters could not be written to disk; 0: they can.',
  ),
  gauge(
    'storegate_usage_bytes',
    'usageBytes',
    'Size of the usage that one gateway last measured for all: at most usage.maxBytes.',
  ),
  gauge(
    'storegate_usage_waiting_bytes',
    'usageWaiting',
    'Usage that waits until Redis or the disk can store it; at most 16 MiB per process.',
  ),
  everyEvent(
    'storegate_usage_export_refused_total',
    'usage.export_refused',
    'Events of usage that usage.export.url refuses, which are not exported.',
    { onlyWith: 'exportDelay' },
  ),
  gauge(
    'storegate_usage_export_delay_seconds',
    'exportDelay',
    'Age of the oldest usage that usage.export.url has not accepted; 0: none waits.',
  ),
  info('storegate_state_mode', ['state.outage', 'state.recovered'], {
    help: 'normal: the state decides; local, deny or allow: Redis is down, and redis.onOutage does.',
    labelNames: ['mode'],
    initially: ['normal'],
    count: (set, event) =>
      set(event.type === 'state.outage' ? event.policy : 'normal'),
    onlyWith: 'inFlight',
  }),
  gauge(
    'storegate_key_cache_age_seconds',
    'keyCacheAge',
    'Age of the key cache; +Inf: not complete yet.',
  ),
  info('storegate_build_info', [], {
    help: 'Versions of storegate and Node. Always 1.',
    labelNames: ['version', 'node'],
    initially: [readVersion(), process.version],
    count: () => {},
  }),
  info('storegate_state_connections', ['state.connection'], {
    help: 'Connections to Redis: up, or down if one is lost.',
    labelNames: ['status'],
    initially: ['up'],
    count: (set, { of, isCut }, cut) => {
      if (isCut) cut.add(of);
      else cut.delete(of);
      set(cut.size === 0 ? 'up' : 'down');
    },
    onlyWith: 'inFlight',
  }),
  counter('storegate_webhook_deliveries_total', ['webhook.delivery'], {
    help: 'Deliveries of events by result; dropped: too many pending, or too old.',
    labelNames: ['endpoint', 'result'],
    count: (add, { endpoint, result, count }) => {
      for (let i = 0; i < count; i++) add(endpoint, result);
    },
    onlyWith: 'webhooksWaiting',
  }),
  gauge(
    'storegate_webhooks_pending',
    'webhooksWaiting',
    'Pending events at all gateways.',
  ),
  gauge(
    'storegate_webhooks_oldest_pending_seconds',
    'webhooksOldest',
    'Age of the oldest pending event.',
  ),
  gauge(
    'storegate_webhooks_failing_seconds',
    'webhooksFailing',
    'How long the longest-failing endpoint has failed; 0: none fails.',
  ),
];
