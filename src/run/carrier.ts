import { randomUUID } from 'node:crypto';
import type { Guard } from '../callers/guard.ts';
import type { Config, ServedConfig } from '../config/config.ts';
import { type Observe, toAll } from '../observe/events.ts';
import { Recorder } from '../observe/history/recorder.ts';
import type { Log } from '../observe/log.ts';
import type { Gauges, RequestGauges } from '../observe/metric-rows.ts';
import { createMetrics, type Metrics } from '../observe/metrics.ts';
import { Peaks } from '../observe/peaks/peaks.ts';
import { type ProcessSources, partOf } from '../observe/peers/queries.ts';
import type { ProcessReadiness } from '../observe/peers/status.ts';
import { RecentRequests } from '../observe/request-log/recent.ts';
import { sharedClock } from '../observe/shared-clock.ts';
import { Top } from '../observe/top/top.ts';
import { openTracing, tracesEndpointOf } from '../observe/tracing/tracing.ts';
import type { Storage } from '../state/storage.ts';
import { hasReceivers } from '../webhooks/endpoints.ts';
import { ProcessHealth } from './process-health.ts';
import { readinessOf } from './process-readiness.ts';
import type { ActiveConfig } from './reload.ts';
import { createServing, type Serving, type ServingParts } from './serving.ts';
import { processStatus } from './status.ts';

export interface ListenerParts {
  readonly config: Pick<Config, 'explain' | 'tracing'>;
  /** `null`: the only process. */
  readonly worker: number | null;
  readonly clock: () => number;
  readonly log: Log;
  readonly minute: (minute: Uint8Array) => void;
  readonly others: readonly Observe[];
}

export interface CarrierParts
  extends Omit<ListenerParts, 'config'>,
    Pick<ServingParts, 'ticketSecret' | 'deprecatedAtAll'> {
  readonly settings: ActiveConfig<ServedConfig>;
  readonly gauges: Omit<Gauges, keyof RequestGauges | 'workers'>;
  readonly openStorage: (observe: Observe) => Storage | Promise<Storage>;
  readonly openGuard: (observe: Observe) => Guard & { close?(): void };
}

export interface Carrier {
  readonly observe: Observe;
  readonly storage: Storage;
  readonly serving: Omit<Serving, 'use' | 'close'>;
  readonly metrics: Metrics;
  readonly readiness: ProcessReadiness;
  answer(question: string, argument: unknown): unknown;
  use(settings: ActiveConfig<ServedConfig>): void;
  end(): Promise<void>;
  /** Call after `end`. */
  close(): Promise<void>;
}

/** Rejects if the state cannot be opened. */
export async function openCarrier(parts: CarrierParts): Promise<Carrier> {
  const { settings, worker, gauges, openStorage, openGuard } = parts;
  const { config } = settings;
  const all: Gauges = { ...gauges, ...requestGauges(() => ({ serving, storage })) };
  const listeners = await openListeners({ ...parts, config }, all, () => serving.stores);
  const { observe, metrics, health, recent, recorder, tracing } = listeners;
  const storage = await openStorage(observe);
  recorder.watch();
  const guard = openGuard(observe);
  const reportsFirstUses = hasReceivers(config.webhooks);
  const serving: Serving = createServing({
    ...parts,
    storage,
    guard,
    observe,
    tracing,
    reportsFirstUses: reportsFirstUses,
  });
  const status = () => processStatus(worker, serving, health);
  const sources: ProcessSources = { id: randomUUID(), began: performance.now(), status, ...listeners };
  return {
    observe,
    storage,
    serving,
    metrics,
    get readiness() {
      return readinessOf(storage, health, serving);
    },
    answer: (question, argument) => partOf(sources, question, argument),
    use(settings) {
      serving.use(settings);
      recent.use(settings.config.explain);
    },
    async end() {
      guard.close?.();
      await serving.close();
      recorder.close();
    },
    async close() {
      await tracing?.close();
      await storage.close();
    },
  };
}

export async function openListeners(
  { config, worker, clock, log, minute, others }: ListenerParts,
  gauges: Gauges,
  stores: Parameters<typeof createMetrics>[1],
) {
  const moment = sharedClock(clock);
  const listeners = {
    log,
    health: new ProcessHealth(),
    metrics: createMetrics(gauges, stores, { exemplars: tracesEndpointOf(config.tracing) !== null }),
    recent: new RecentRequests(config.explain, { worker }),
    top: new Top(moment.clock),
    peaks: new Peaks(moment.clock),
    recorder: new Recorder(moment.clock, minute),
    tracing: await openTracing(config.tracing, { worker, observe: (event) => observe(event) }),
  };
  const all = Object.values(listeners).filter((one) => one !== null);
  const observe: Observe = moment.of(toAll(...all.map((one) => one.observe), ...others));
  return { ...listeners, observe };
}

/** The parts may be created later. */
function requestGauges(
  parts: () => { readonly serving: Pick<Serving, 'inFlight' | 'bodies' | 'store'>; readonly storage: Storage },
): RequestGauges {
  return {
    inFlight: () => parts().serving.inFlight,
    subjects: () => parts().storage.state.size,
    bodies: () => parts().serving.bodies.held,
    bodyBudget: () => parts().serving.bodies.budget,
    storeOpen: () => parts().serving.store.open,
    storeIdle: () => parts().serving.store.idle,
    storeMost: () => parts().serving.store.most,
    storeWaiting: () => parts().serving.store.waiting,
    unsaved: () => parts().storage.unsavedFor() / 1_000,
  };
}
