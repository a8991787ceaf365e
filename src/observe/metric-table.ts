import { readVersion } from '../common/version.ts';
import { counter, gauge, histogram, info, type MetricRow, ofStores } from './metric-rows.ts';

/** A nearby Redis answers in less than a millisecond. */
const STATE_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/**
 * In the order of the exposition. Label values come from a fixed set (operations, plans, codes), never from a request.
 */
export const METRICS: readonly MetricRow[] = [
  counter({
    on: ['request'],
    name: 'storegate_requests_total',
    help: 'Requests to the public listener; status 499: the client disconnected before the response.',
    labelNames: ['operation', 'method', 'status'],
    count: (add, { operation, method, status }) => add(operation, method, status),
  }),
  counter({
    on: ['request'],
    name: 'storegate_refusals_total',
    help: 'Requests without a complete response of the backend, by error code, client_closed_request and slow_reader.',
    labelNames: ['code'],
    count: (add, { code }) => code !== null && add(code),
  }),
  counter({
    on: ['request'],
    name: 'storegate_admissions_total',
    help: 'Decisions of admission.',
    labelNames: ['plan', 'verdict'],
    count: (add, { plan, verdict }) => verdict !== null && add(plan ?? 'none', verdict),
  }),
  counter({
    on: ['request'],
    name: 'storegate_near_limit_admissions_total',
    help: 'Admitted requests that left at most a fifth of a window.',
    labelNames: ['plan'],
    count: (add, { nearLimit, plan }) => nearLimit && add(plan ?? 'none'),
  }),
  counter({
    on: ['request'],
    name: 'storegate_forwarded_requests_total',
    help: 'Requests for backends and mount targets: answered, or rejected because backends were saturated.',
    labelNames: ['plan', 'result'],
    count: (add, { upstream, code, plan }) => {
      if (upstream !== null) add(plan ?? 'none', 'answered');
      else if (code === 'upstream_busy') add(plan ?? 'none', 'rejected');
    },
  }),
  counter({
    on: ['ban'],
    name: 'storegate_bans_total',
    help: 'Automatic bans that started.',
    labelNames: ['plan'],
    count: (add, { plan }) => add(plan),
  }),
  counter({
    on: ['request'],
    name: 'storegate_incomplete_responses_total',
    help: 'Responses that ended early.',
    labelNames: [],
    count: (add, { complete }) => complete || add(),
  }),
  counter({
    on: ['connection.refused'],
    name: 'storegate_connections_refused_total',
    help: 'Connections closed at once: too many of one address, or in total.',
    labelNames: ['reason'],
    count: (add, { reason }) => add(reason),
  }),
  counter({
    on: ['tls.established'],
    name: 'storegate_tls_handshakes_total',
    help: 'TLS handshakes of the public listener.',
    labelNames: ['version', 'resumed'],
    count: (add, { version, resumed }) => add(version, resumed ? 'yes' : 'no'),
  }),
  counter({
    on: ['tls.failed'],
    name: 'storegate_tls_handshake_failures_total',
    help: 'Failed TLS handshakes of the public listener; plaintext: HTTP without TLS.',
    labelNames: ['reason'],
    count: (add, { reason }) => add(reason),
  }),
  counter({
    on: ['proxy.refused'],
    name: 'storegate_proxy_headers_refused_total',
    help: 'Connections of load balancers without a valid PROXY protocol header.',
    labelNames: [],
    count: (add) => add(),
  }),
  counter({
    on: ['key.retiring'],
    name: 'storegate_retiring_key_requests_total',
    help: 'Requests with the old secret of a rotated key.',
    labelNames: ['plan'],
    count: (add, { plan }) => add(plan),
  }),
  counter({
    on: ['reload.done', 'reload.failed'],
    name: 'storegate_reloads_total',
    help: 'Reloads of the configuration: success or failure.',
    labelNames: ['result'],
    count: (add, { type }) => add(type === 'reload.done' ? 'success' : 'failure'),
  }),
  counter({
    on: ['spans'],
    name: 'storegate_spans_total',
    help: 'Spans: exported, failed or dropped.',
    labelNames: ['result'],
    count: (add, { result, count }) => {
      for (let i = 0; i < count; i++) add(result);
    },
  }),
  gauge({
    name: 'storegate_config_last_reload_successful',
    help: '1 if the last start or reload was successful, otherwise 0.',
    reads: 'reloadSuccess',
  }),
  gauge({
    name: 'storegate_config_last_reload_timestamp_seconds',
    help: 'Time of the last start or reload.',
    reads: 'reloadTime',
  }),
  info({
    on: ['configuration.applied'],
    name: 'storegate_config_info',
    help: 'Digests of the configuration, equal for equal gateways. Always 1.',
    labelNames: ['settings', 'plans', 'contract'],
    count: (set, { settings, plans, contract }) => set(settings, plans, contract),
    onlyWith: 'exempted',
  }),
  gauge({
    name: 'storegate_ready',
    help: '1 if the gateway is ready, otherwise 0.',
    reads: 'ready',
  }),
  counter({
    on: ['contract.fault'],
    name: 'storegate_contract_faults_total',
    help: 'Requests and responses that violate the contract and are only reported.',
    labelNames: ['operation', 'side'],
    count: (add, { operation, side }) => add(operation, side),
  }),
  counter({
    on: ['retry'],
    name: 'storegate_upstream_retries_total',
    help: 'Retries of requests.',
    labelNames: [],
    count: (add) => add(),
  }),
  counter({
    on: ['retry.refused'],
    name: 'storegate_upstream_retry_budget_exhausted_total',
    help: 'Requests not retried because upstream.retries.budget was used up.',
    labelNames: [],
    count: (add) => add(),
    onlyWith: 'inFlight',
  }),
  counter({
    on: ['state.outage'],
    name: 'storegate_state_outages_total',
    help: 'Outages of Redis.',
    labelNames: [],
    count: (add) => add(),
  }),
  counter({
    on: ['state.local_mode'],
    name: 'storegate_state_local_mode_requests_total',
    help: 'Requests decided without Redis, by redis.onOutage.',
    labelNames: ['policy'],
    count: (add, { policy }) => add(policy),
  }),
  gauge({
    name: 'storegate_workers',
    help: 'Workers that serve.',
    reads: 'workers',
  }),
  counter({
    on: ['worker.ended'],
    name: 'storegate_worker_exits_total',
    help: 'Workers that ended unexpectedly.',
    labelNames: [],
    count: (add, { unexpected }) => unexpected && add(),
    onlyWith: 'workers',
  }),
  histogram({
    on: ['request'],
    name: 'storegate_request_duration_seconds',
    help: 'Time from the request to the end of its response.',
    labelNames: ['operation'],
    count: (add, { operation, duration }) => add(duration / 1000, operation),
  }),
  histogram({
    on: ['request'],
    name: 'storegate_upstream_duration_seconds',
    help: 'Time from forwarding a request to the response headers.',
    labelNames: ['operation'],
    count: (add, { operation, upstream }) => upstream !== null && add(upstream / 1000, operation),
  }),
  histogram({
    on: ['state.answered'],
    name: 'storegate_state_duration_seconds',
    help: 'Time of a decision by Redis.',
    labelNames: [],
    buckets: STATE_SECONDS,
    count: (add, { duration }) => add(duration / 1000),
    onlyWith: 'inFlight',
  }),
  ofStores({
    name: 'storegate_store_up',
    help: '1 if a backend gets requests, 0 if it is down; with several workers the mean.',
    type: 'gauge',
    together: 'average',
    read: ({ state }) => Number(state !== 'away'),
  }),
  counter({
    on: ['upstream.down'],
    name: 'storegate_store_ejections_total',
    help: 'Times that a backend went down for a process.',
    labelNames: ['upstream', 'store', 'reason'],
    count: (add, { upstream, store, reason }) => add(upstream, store, reason),
    onlyWith: 'inFlight',
  }),
  ofStores({
    name: 'storegate_store_requests_total',
    help: 'Requests sent to a backend, including retries.',
    type: 'counter',
    together: 'sum',
    read: ({ requests }) => requests,
  }),
  ofStores({
    name: 'storegate_store_failures_total',
    help: 'Requests without a valid response: no connection, timeout, invalid, or a failure status.',
    type: 'counter',
    together: 'sum',
    read: ({ failures }) => failures,
  }),
  ofStores({
    name: 'storegate_store_retries_total',
    help: 'Requests retried because this backend failed.',
    type: 'counter',
    together: 'sum',
    read: ({ retries }) => retries,
  }),
  ofStores({
    name: 'storegate_store_requests_in_flight',
    help: 'Requests that a backend is processing.',
    type: 'gauge',
    together: 'sum',
    read: ({ inFlight }) => inFlight,
  }),
  ofStores({
    name: 'storegate_store_connections_open',
    help: 'Open connections to a backend.',
    type: 'gauge',
    together: 'sum',
    read: ({ open }) => open,
  }),
  gauge({
    name: 'storegate_upstream_connections_open',
    help: 'Open connections to all backends.',
    reads: 'storeOpen',
  }),
  gauge({
    name: 'storegate_upstream_connections_idle',
    help: 'Idle connections to all backends.',
    reads: 'storeIdle',
  }),
  gauge({
    name: 'storegate_upstream_connections_limit',
    help: 'Most connections to all backends.',
    reads: 'storeMost',
  }),
  gauge({
    name: 'storegate_upstream_pending_requests',
    help: 'Requests waiting for a connection to a backend.',
    reads: 'storeWaiting',
  }),
  gauge({
    name: 'storegate_certificate_expiry_timestamp_seconds',
    help: 'Earliest expiry of the certificates in use; +Inf without certificates.',
    reads: 'certificateEnd',
  }),
  gauge({
    name: 'storegate_contract_unsupported_operations',
    help: 'Operations with a mistake, treated by contract.onUnsupported.',
    reads: 'exempted',
  }),
  gauge({
    name: 'storegate_requests_in_flight',
    help: 'Requests without a complete response.',
    reads: 'inFlight',
  }),
  gauge({
    name: 'storegate_subjects',
    help: 'Keys and accounts with counters in memory.',
    reads: 'subjects',
  }),
  gauge({
    name: 'storegate_body_bytes',
    help: 'Memory used by request bodies.',
    reads: 'bodies',
  }),
  gauge({
    name: 'storegate_body_budget_bytes',
    help: 'Memory for request bodies: http.bodyBudget.',
    reads: 'bodyBudget',
  }),
  gauge({
    name: 'storegate_state_write_failing_seconds',
    help: 'Time since counters could not be written to disk; 0: they can.',
    reads: 'unsaved',
  }),
  info({
    on: ['state.outage', 'state.recovered'],
    name: 'storegate_state_mode',
    help: 'normal, or the policy of redis.onOutage in force.',
    labelNames: ['mode'],
    initially: ['normal'],
    count: (set, event) => set(event.type === 'state.outage' ? event.policy : 'normal'),
    onlyWith: 'inFlight',
  }),
  gauge({
    name: 'storegate_key_cache_age_seconds',
    help: 'Age of the key cache; +Inf: not complete yet.',
    reads: 'keyCacheAge',
  }),
  info({
    on: [],
    name: 'storegate_build_info',
    help: 'Versions of storegate and Node. Always 1.',
    labelNames: ['version', 'node'],
    initially: [readVersion(), process.version],
    count: () => {},
  }),
  info({
    on: ['state.connection'],
    name: 'storegate_state_connections',
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
  counter({
    on: ['webhook.delivery'],
    name: 'storegate_webhook_deliveries_total',
    help: 'Deliveries of events by result; dropped: too many pending, or too old.',
    labelNames: ['endpoint', 'result'],
    count: (add, { endpoint, result, count }) => {
      for (let i = 0; i < count; i++) add(endpoint, result);
    },
    onlyWith: 'webhooksWaiting',
  }),
  gauge({
    name: 'storegate_webhooks_pending',
    help: 'Pending events at all gateways.',
    reads: 'webhooksWaiting',
  }),
  gauge({
    name: 'storegate_webhooks_oldest_pending_seconds',
    help: 'Age of the oldest pending event.',
    reads: 'webhooksOldest',
  }),
  gauge({
    name: 'storegate_webhooks_failing_seconds',
    help: 'How long the longest-failing endpoint has failed; 0: none fails.',
    reads: 'webhooksFailing',
  }),
];
