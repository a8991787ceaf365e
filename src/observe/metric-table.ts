import { readVersion } from '../common/version.ts';
import { counter, gauge, histogram, info, type MetricRow, ofStores } from './metric-rows.ts';

/** A Redis nearby answers in less than a millisecond, where most requests take longer. */
const STATE_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/**
 * Every metric of the gateway, in the order of the exposition. Every label value comes from a fixed set (operations, plans,
 * codes), never from a request.
 */
export const METRICS: readonly MetricRow[] = [
  counter({
    on: ['request'],
    name: 'storegate_requests_total',
    help: 'Requests of the public listener, by operation, method and status of the answer; 499: the caller left before it.',
    labelNames: ['operation', 'method', 'status'],
    count:
      (add) =>
      ({ operation, method, status }) =>
        add(operation, method, status),
  }),
  counter({
    on: ['request'],
    name: 'storegate_refusals_total',
    help: 'Requests that did not end with a whole answer of the store, by error code; client_closed_request: the caller went away first; slow_reader: it read so slowly that the gateway ended it.',
    labelNames: ['code'],
    count:
      (add) =>
      ({ code }) =>
        code !== null && add(code),
  }),
  counter({
    on: ['request'],
    name: 'storegate_admissions_total',
    help: 'Decisions of the admit stage, by plan and verdict.',
    labelNames: ['plan', 'verdict'],
    count:
      (add) =>
      ({ plan, verdict }) =>
        verdict !== null && add(plan ?? 'none', verdict),
  }),
  counter({
    on: ['request'],
    name: 'storegate_near_limit_admissions_total',
    help: 'Admitted requests that left a fifth or less of a window that they count in, by plan.',
    labelNames: ['plan'],
    count:
      (add) =>
      ({ nearLimit, plan }) =>
        nearLimit && add(plan ?? 'none'),
  }),
  counter({
    on: ['request'],
    name: 'storegate_forwarded_requests_total',
    help: 'Requests for the store or the target of a mount, by plan and result: answered, or rejected because stores were busy.',
    labelNames: ['plan', 'result'],
    count:
      (add) =>
      ({ upstream, code, plan }) => {
        if (upstream !== null) add(plan ?? 'none', 'answered');
        else if (code === 'upstream_busy') add(plan ?? 'none', 'rejected');
      },
  }),
  counter({
    on: ['ban'],
    name: 'storegate_bans_total',
    help: 'Bans that began because a key kept sending after refusals, by plan.',
    labelNames: ['plan'],
    count:
      (add) =>
      ({ plan }) =>
        add(plan),
  }),
  counter({
    on: ['request'],
    name: 'storegate_incomplete_responses_total',
    help: 'Answers that broke off before their end, because either side went away.',
    labelNames: [],
    count:
      (add) =>
      ({ complete }) =>
        complete || add(),
  }),
  counter({
    on: ['connection.refused'],
    name: 'storegate_connections_refused_total',
    help: 'Connections closed at once, by reason: address (its caller address had too many), total (all callers together had).',
    labelNames: ['reason'],
    count:
      (add) =>
      ({ reason }) =>
        add(reason),
  }),
  counter({
    on: ['tls.established'],
    name: 'storegate_tls_handshakes_total',
    help: 'Handshakes of TLS at the public listener, by version and by whether they resumed a session (yes, no).',
    labelNames: ['version', 'resumed'],
    count:
      (add) =>
      ({ version, resumed }) =>
        add(version, resumed ? 'yes' : 'no'),
  }),
  counter({
    on: ['tls.failed'],
    name: 'storegate_tls_handshake_failures_total',
    help: 'Handshakes of TLS at the public listener that came to nothing, by reason; plaintext: HTTP without TLS.',
    labelNames: ['reason'],
    count:
      (add) =>
      ({ reason }) =>
        add(reason),
  }),
  counter({
    on: ['proxy.refused'],
    name: 'storegate_proxy_headers_refused_total',
    help: 'Connections of balancers that did not begin with a good header of the PROXY protocol, and were closed.',
    labelNames: [],
    count: (add) => () => add(),
  }),
  counter({
    on: ['key.retiring'],
    name: 'storegate_retiring_key_requests_total',
    help: 'Requests that came with the secret before the last rotation of their key, by plan.',
    labelNames: ['plan'],
    count:
      (add) =>
      ({ plan }) =>
        add(plan),
  }),
  counter({
    on: ['reload.done', 'reload.failed'],
    name: 'storegate_reloads_total',
    help: 'Times that the configuration was read again, by result: success, or failure because of a mistake in it.',
    labelNames: ['result'],
    count:
      (add) =>
      ({ type }) =>
        add(type === 'reload.done' ? 'success' : 'failure'),
  }),
  counter({
    on: ['spans'],
    name: 'storegate_spans_total',
    help: 'Spans of requests, by result: exported, failed (the receiver of spans did not take them) or dropped (too many waited).',
    labelNames: ['result'],
    count:
      (add) =>
      ({ result, count }) => {
        for (let i = 0; i < count; i++) add(result);
      },
  }),
  gauge({
    name: 'storegate_config_last_reload_successful',
    help: 'Whether the files were good when they were read last, at the start or by a reload: 1, or 0 if they were refused.',
    reads: 'reloadSuccess',
  }),
  gauge({
    name: 'storegate_config_last_reload_timestamp_seconds',
    help: 'When the files were read last: at the start, by a reload that was asked for, or because they changed.',
    reads: 'reloadTime',
  }),
  info({
    on: ['configuration.applied'],
    name: 'storegate_config_info',
    help: 'Digests of what decides about requests; gateways that do the same have the same. Always 1.',
    labelNames: ['settings', 'plans', 'contract'],
    count:
      (set) =>
      ({ settings, plans, contract }) =>
        set(settings, plans, contract),
    onlyWith: 'exempted',
  }),
  gauge({
    name: 'storegate_ready',
    help: 'Whether the gateway wants requests: 1, or 0 while it stops, has no worker, or cannot decide without the shared state.',
    reads: 'ready',
  }),
  counter({
    on: ['contract.fault'],
    name: 'storegate_contract_faults_total',
    help: 'Requests and answers that did not fit the contract where that is only told, by operation and side.',
    labelNames: ['operation', 'side'],
    count:
      (add) =>
      ({ operation, side }) =>
        add(operation, side),
  }),
  counter({
    on: ['retry'],
    name: 'storegate_upstream_retries_total',
    help: 'Requests that were sent again, to the same store or to another one, because a store had failed.',
    labelNames: [],
    count: (add) => () => add(),
  }),
  counter({
    on: ['retry.refused'],
    name: 'storegate_upstream_retry_budget_exhausted_total',
    help: 'Requests that were not sent again where they might have been, because upstream.retries.budget was used up.',
    labelNames: [],
    count: (add) => () => add(),
    onlyWith: 'inFlight',
  }),
  counter({
    on: ['state.outage'],
    name: 'storegate_state_outages_total',
    help: 'Times that the shared state went away.',
    labelNames: [],
    count: (add) => () => add(),
  }),
  counter({
    on: ['state.local_mode'],
    name: 'storegate_state_local_mode_requests_total',
    help: 'Requests decided without the shared state, by policy: counted here (local), refused (deny), unchecked (allow).',
    labelNames: ['policy'],
    count:
      (add) =>
      ({ policy }) =>
        add(policy),
  }),
  gauge({
    name: 'storegate_workers',
    help: 'Worker processes that serve now.',
    reads: 'workers',
  }),
  counter({
    on: ['worker.ended'],
    name: 'storegate_worker_exits_total',
    help: 'Worker processes that ended without being asked to.',
    labelNames: [],
    count:
      (add) =>
      ({ unexpected }) =>
        unexpected && add(),
    onlyWith: 'workers',
  }),
  histogram({
    on: ['request'],
    name: 'storegate_request_duration_seconds',
    help: 'From the first look at a request to the end of its answer, by operation.',
    labelNames: ['operation'],
    count:
      (add) =>
      ({ operation, duration }) =>
        add(duration / 1000, operation),
  }),
  histogram({
    on: ['request'],
    name: 'storegate_upstream_duration_seconds',
    help: 'From handing a request to the store to the head of its answer, by operation.',
    labelNames: ['operation'],
    count:
      (add) =>
      ({ operation, upstream }) =>
        upstream !== null && add(upstream / 1000, operation),
  }),
  histogram({
    on: ['state.answered'],
    name: 'storegate_state_duration_seconds',
    help: 'From asking the shared state about a request to its answer.',
    labelNames: [],
    buckets: STATE_SECONDS,
    count:
      (add) =>
      ({ duration }) =>
        add(duration / 1000),
    onlyWith: 'inFlight',
  }),
  ofStores({
    name: 'storegate_store_up',
    help: 'Whether a store gets requests: 1, or 0 while it is away; of several workers the share that sends it some.',
    type: 'gauge',
    together: 'average',
    read: ({ state }) => Number(state !== 'away'),
  }),
  counter({
    on: ['upstream.down'],
    name: 'storegate_store_ejections_total',
    help: 'Times that a store went away for a process, by what took it away.',
    labelNames: ['upstream', 'store', 'reason'],
    count:
      (add) =>
      ({ upstream, store, reason }) =>
        add(upstream, store, reason),
    onlyWith: 'inFlight',
  }),
  ofStores({
    name: 'storegate_store_requests_total',
    help: 'Requests that were sent to a store, those sent again included.',
    type: 'counter',
    together: 'sum',
    read: ({ requests }) => requests,
  }),
  ofStores({
    name: 'storegate_store_failures_total',
    help: 'Requests that got no usable answer from a store: no connection, none in time, a broken one, a status that counts as failure.',
    type: 'counter',
    together: 'sum',
    read: ({ failures }) => failures,
  }),
  ofStores({
    name: 'storegate_store_retries_total',
    help: 'Requests that were sent again because this store had failed.',
    type: 'counter',
    together: 'sum',
    read: ({ retries }) => retries,
  }),
  ofStores({
    name: 'storegate_store_requests_in_flight',
    help: 'Requests that a store has not answered.',
    type: 'gauge',
    together: 'sum',
    read: ({ inFlight }) => inFlight,
  }),
  ofStores({
    name: 'storegate_store_connections_open',
    help: 'Connections to a store that are open.',
    type: 'gauge',
    together: 'sum',
    read: ({ open }) => open,
  }),
  gauge({
    name: 'storegate_upstream_connections_open',
    help: 'Connections to all stores together that are open.',
    reads: 'storeOpen',
  }),
  gauge({
    name: 'storegate_upstream_connections_idle',
    help: 'Connections to all stores together that are open and unused.',
    reads: 'storeIdle',
  }),
  gauge({
    name: 'storegate_upstream_connections_limit',
    help: 'How many connections to all stores together there may be: upstream.connections for each.',
    reads: 'storeMost',
  }),
  gauge({
    name: 'storegate_upstream_pending_requests',
    help: 'Requests that wait for a connection to a store.',
    reads: 'storeWaiting',
  }),
  gauge({
    name: 'storegate_certificate_expiry_timestamp_seconds',
    help: 'When the first of the certificates in use ends (listeners, and those shown to stores), Unix seconds; +Inf: there is none.',
    reads: 'certificateEnd',
  }),
  gauge({
    name: 'storegate_contract_unsupported_operations',
    help: 'Operations that contract.onUnsupported exempts from the contract, because it has mistakes there.',
    reads: 'exempted',
  }),
  gauge({
    name: 'storegate_requests_in_flight',
    help: 'Requests that have no whole answer yet.',
    reads: 'inFlight',
  }),
  gauge({
    name: 'storegate_subjects',
    help: 'Keys and accounts whose counters this gateway remembers.',
    reads: 'subjects',
  }),
  gauge({
    name: 'storegate_body_bytes',
    help: 'Memory that bodies of requests under way hold, of what http.bodyBudget allows.',
    reads: 'bodies',
  }),
  gauge({
    name: 'storegate_body_budget_bytes',
    help: 'Memory that bodies of requests under way may hold: http.bodyBudget.',
    reads: 'bodyBudget',
  }),
  gauge({
    name: 'storegate_state_write_failing_seconds',
    help: 'For how long the counters of the embedded state could not be written to disk; 0: they can.',
    reads: 'unsaved',
  }),
  info({
    on: ['state.outage', 'state.recovered'],
    name: 'storegate_state_mode',
    help: 'How admission is decided now: normal, or the policy for an outage of the shared state.',
    labelNames: ['mode'],
    initially: ['normal'],
    count: (set) => (event) => set(event.type === 'state.outage' ? event.policy : 'normal'),
    onlyWith: 'inFlight',
  }),
  gauge({
    name: 'storegate_key_cache_age_seconds',
    help: 'For how long the copy of the keys in the data folder may have missed changes in Redis; +Inf: there is no copy yet.',
    reads: 'keyCopyAge',
  }),
  info({
    on: [],
    name: 'storegate_build_info',
    help: 'The version of storegate and of the Node that runs it; always 1.',
    labelNames: ['version', 'node'],
    initially: [readVersion(), process.version],
    count: () => () => {},
  }),
  info({
    on: ['state.connection'],
    name: 'storegate_state_connections',
    help: 'Connections to the shared state, by status: up, or down if one of them is lost.',
    labelNames: ['status'],
    initially: ['up'],
    count: (set) => {
      const cut = new Set<string>();
      return ({ of, isCut }) => {
        if (isCut) cut.add(of);
        else cut.delete(of);
        set(cut.size === 0 ? 'up' : 'down');
      };
    },
    onlyWith: 'inFlight',
  }),
  counter({
    on: ['webhook.delivery'],
    name: 'storegate_webhook_deliveries_total',
    help: 'Attempts to tell an event to a receiver of webhooks, by its host and result; dropped: too many were pending, or the event was too old.',
    labelNames: ['endpoint', 'result'],
    count:
      (add) =>
      ({ endpoint, result, count }) => {
        for (let i = 0; i < count; i++) add(endpoint, result);
      },
    onlyWith: 'webhooksWaiting',
  }),
  gauge({
    name: 'storegate_webhooks_pending',
    help: 'Events that wait for receivers of webhooks, at all gateways that share the state.',
    reads: 'webhooksWaiting',
  }),
  gauge({
    name: 'storegate_webhooks_oldest_pending_seconds',
    help: 'For how long the oldest of them has waited.',
    reads: 'webhooksOldest',
  }),
  gauge({
    name: 'storegate_webhooks_failing_seconds',
    help: 'For how long a receiver of webhooks has taken no event, of several that fail the longest; 0: all do.',
    reads: 'webhooksFailing',
  }),
];
