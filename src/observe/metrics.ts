import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Observe, RequestEvent } from './events.ts';
import type { Figures } from './figures.ts';
import { counterTally, histogramTally } from './tallies.ts';

export interface Metrics {
  readonly observe: Observe;
  readonly contentType: string;
  /** The exposition text for Prometheus. */
  text(): Promise<string>;
  /** The same as values, for addition to those of other processes. */
  figures(): Promise<Figures>;
}

/** The gauges of a process that carries requests, read when Prometheus asks. */
export interface CarryingGauges {
  readonly inFlight: () => number;
  readonly subjects: () => number;
}

/** The gauges of a process whose workers carry requests. */
export interface SupervisingGauges {
  /** The number of workers that serve. */
  readonly workers: () => number;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Counts events. Every label value comes from a fixed set (operations, plans, codes), never from a request. */
export function createMetrics(gauges: CarryingGauges | SupervisingGauges): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });

  const requests = counterTally(registry, {
    name: 'storegate_requests_total',
    help: 'Requests of the public listener, by operation, method and status of the answer; 499: the caller left before it.',
    labelNames: ['operation', 'method', 'status'],
  });
  const refusals = counterTally(registry, {
    name: 'storegate_refusals_total',
    help: 'Requests that did not end with a whole answer of the store, by error code; caller_left: the caller went away first.',
    labelNames: ['code'],
  });
  const admissions = counterTally(registry, {
    name: 'storegate_admissions_total',
    help: 'Decisions of the admit stage, by plan and verdict.',
    labelNames: ['plan', 'verdict'],
  });
  const bans = counterTally(registry, {
    name: 'storegate_bans_total',
    help: 'Bans that began because a key kept sending after refusals, by plan.',
    labelNames: ['plan'],
  });
  const incomplete = counterTally(registry, {
    name: 'storegate_incomplete_answers_total',
    help: 'Answers that broke off before their end, because either side went away.',
    labelNames: [],
  });
  const retiring = counterTally(registry, {
    name: 'storegate_retiring_key_requests_total',
    help: 'Requests that came with the secret before the last rotation of their key, by plan.',
    labelNames: ['plan'],
  });
  const reloads = counterTally(registry, {
    name: 'storegate_reloads_total',
    help: 'Times that the configuration was read again, by result: done, or refused because of a mistake in it.',
    labelNames: ['result'],
  });
  const contractFaults = counterTally(registry, {
    name: 'storegate_contract_faults_total',
    help: 'Requests and answers that did not fit the contract where that is only told, by operation and side.',
    labelNames: ['operation', 'side'],
  });
  const retries = counterTally(registry, {
    name: 'storegate_upstream_retries_total',
    help: 'Requests sent to the store a second time because an idle connection had died.',
    labelNames: [],
  });
  const stateOutages = counterTally(registry, {
    name: 'storegate_state_outages_total',
    help: 'Times that the shared state went away.',
    labelNames: [],
  });
  const alone = counterTally(registry, {
    name: 'storegate_state_alone_total',
    help: 'Requests decided without the shared state, by policy: counted here (local), refused (deny), unchecked (allow).',
    labelNames: ['policy'],
  });
  const workerExits = 'workers' in gauges ? supervise(gauges) : () => {};
  let stateMode = 'normal';
  const durations = histogramTally(
    registry,
    {
      name: 'storegate_request_duration_seconds',
      help: 'From the first look at a request to the end of its answer, by operation.',
      labelNames: ['operation'],
    },
    SECONDS,
  );
  const upstream = histogramTally(
    registry,
    {
      name: 'storegate_upstream_duration_seconds',
      help: 'From handing a request to the store to the head of its answer, by operation.',
      labelNames: ['operation'],
    },
    SECONDS,
  );
  if ('inFlight' in gauges) carry(gauges);

  function supervise({ workers }: SupervisingGauges): () => void {
    gauge('storegate_workers', 'Worker processes that serve now.', workers);
    return counterTally(registry, {
      name: 'storegate_worker_exits_total',
      help: 'Worker processes that ended without being asked to.',
      labelNames: [],
    });
  }

  function carry({ inFlight, subjects }: CarryingGauges): void {
    gauge('storegate_requests_in_flight', 'Requests that have no whole answer yet.', inFlight);
    gauge('storegate_subjects', 'Keys and accounts whose counters this gateway remembers.', subjects);
    new Gauge({
      name: 'storegate_state_mode',
      help: 'How admission is decided now: normal, or the policy for an outage of the shared state.',
      labelNames: ['mode'],
      // Each of several processes has its own mode; every mode that any of them is in is 1.
      aggregator: 'max',
      registers: [registry],
      collect() {
        this.reset();
        this.set({ mode: stateMode }, 1);
      },
    });
  }

  function gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  }

  function request(event: RequestEvent): void {
    const { operation, method, status, duration, code, verdict, plan } = event;
    requests(operation, method, status);
    durations(duration / 1000, operation);
    if (event.upstream !== null) upstream(event.upstream / 1000, operation);
    if (code !== null) refusals(code);
    if (verdict !== null) admissions(plan ?? 'none', verdict);
    if (!event.complete) incomplete();
  }

  return {
    observe(event) {
      if (event.type === 'request') request(event);
      else if (event.type === 'ban') bans(event.plan);
      else if (event.type === 'retry') retries();
      else if (event.type === 'contract.fault') contractFaults(event.operation, event.side);
      else if (event.type === 'key.retiring') retiring(event.plan);
      else if (event.type === 'reload.done') reloads('done');
      else if (event.type === 'reload.refused') reloads('refused');
      else if (event.type === 'worker.ended') {
        if (event.unexpected) workerExits();
      } else if (event.type === 'state.alone') alone(event.policy);
      else if (event.type === 'state.outage') {
        stateOutages();
        stateMode = event.policy;
      } else if (event.type === 'state.recovered') stateMode = 'normal';
    },
    contentType: registry.contentType,
    text: () => registry.metrics(),
    figures: () => registry.getMetricsAsJSON(),
  };
}
