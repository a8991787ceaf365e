import { readVersion } from '../common/version.ts';
import { counter, gauge, histogram, type MetricRow, standing } from './metric-rows.ts';

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
    help: 'Requests that did not end with a whole answer of the store, by error code; caller_left: the caller went away first.',
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
    name: 'storegate_incomplete_answers_total',
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
    on: ['reload.done', 'reload.refused'],
    name: 'storegate_reloads_total',
    help: 'Times that the configuration was read again, by result: done, or refused because of a mistake in it.',
    labelNames: ['result'],
    count:
      (add) =>
      ({ type }) =>
        add(type === 'reload.done' ? 'done' : 'refused'),
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
    help: 'Requests sent to the store a second time because an idle connection had died.',
    labelNames: [],
    count: (add) => () => add(),
  }),
  counter({
    on: ['state.outage'],
    name: 'storegate_state_outages_total',
    help: 'Times that the shared state went away.',
    labelNames: [],
    count: (add) => () => add(),
  }),
  counter({
    on: ['state.alone'],
    name: 'storegate_state_alone_total',
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
  gauge({
    name: 'storegate_contract_exempted_operations',
    help: 'Operations that contract.leniency exempts from the contract, because it has mistakes there.',
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
    help: 'Memory that bodies of requests under way hold, of what door.bodyBudget allows.',
    reads: 'bodies',
  }),
  gauge({
    name: 'storegate_state_unsaved_seconds',
    help: 'For how long the counters of the embedded state could not be written to disk; 0: they can.',
    reads: 'unsaved',
  }),
  standing({
    on: ['state.outage', 'state.recovered'],
    name: 'storegate_state_mode',
    help: 'How admission is decided now: normal, or the policy for an outage of the shared state.',
    labelNames: ['mode'],
    initially: ['normal'],
    count: (set) => (event) => set(event.type === 'state.outage' ? event.policy : 'normal'),
    onlyWith: 'inFlight',
  }),
  gauge({
    name: 'storegate_key_copy_age_seconds',
    help: 'For how long the copy of the keys in the data folder may have missed changes in Redis; +Inf: there is no copy yet.',
    reads: 'keyCopyAge',
  }),
  standing({
    on: [],
    name: 'storegate_build_info',
    help: 'The version of storegate and of the Node that runs it; always 1.',
    labelNames: ['version', 'node'],
    initially: [readVersion(), process.version],
    count: () => () => {},
  }),
  standing({
    on: ['state.connection'],
    name: 'storegate_state_connections',
    help: 'How the connections to the shared state are: whole, or cut where one of them is lost.',
    labelNames: ['standing'],
    initially: ['whole'],
    count: (set) => {
      const cut = new Set<string>();
      return ({ of, isCut }) => {
        if (isCut) cut.add(of);
        else cut.delete(of);
        set(cut.size === 0 ? 'whole' : 'cut');
      };
    },
    onlyWith: 'inFlight',
  }),
];
