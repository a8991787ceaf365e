import { randomUUID } from 'node:crypto';
import type { Guard } from '../callers/guard.ts';
import type { Config, ServedConfig } from '../config/config.ts';
import { type Observe, toAll } from '../observe/events.ts';
import { Recorder } from '../observe/history/recorder.ts';
import type { Log } from '../observe/log.ts';
import type { Gauges, RequestGauges } from '../observe/metric-rows.ts';
import { createMetrics } from '../observe/metrics.ts';
import { Peaks } from '../observe/peaks/peaks.ts';
import { sumOfConnections } from '../observe/peers/backends.ts';
import { type ProcessSources, partOf } from '../observe/peers/queries.ts';
import type { BackendConnections, ProcessReadiness } from '../observe/peers/status.ts';
import { RecentRequests } from '../observe/request-log/recent.ts';
import { sharedClock } from '../observe/shared-clock.ts';
import { Top } from '../observe/top/top.ts';
import { openTracing, tracesEndpointOf } from '../observe/tracing/tracing.ts';
import type { Storage } from '../state/storage.ts';
import { hasReceivers } from '../webhooks/endpoints.ts';
import type { ServingParts } from './long-lived.ts';
import { ProcessHealth, readinessOf } from './process-health.ts';
import type { ActiveConfig } from './reload.ts';
import { createServing, type Serving } from './serving.ts';
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

/** Rejects if the state cannot be opened. */
export async function openCarrier(parts: CarrierParts) {
  const { settings, worker, gauges, openStorage, openGuard } = parts;
  const { config } = settings;
  const all: Gauges = { ...gauges, ...requestGauges(() => ({ serving, storage })) };
  const listeners = await openListeners({ ...parts, config }, all, () => serving.upstreams.status);
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
    reportsFirstUses,
  });
  const status = () => processStatus(worker, serving, health);
  const sources: ProcessSources = {
    id: randomUUID(),
    began: performance.now(),
    status,
    ...listeners,
  };
  return {
    observe,
    storage,
    serving,
    metrics,
    get readiness(): ProcessReadiness {
      const { upstreams, keyring } = serving;
      return readinessOf(storage, health, { down: upstreams.down, knowsKeys: keyring.isReady });
    },
    answer: (question: string, argument: unknown) => partOf(sources, question, argument),
    use(settings: ActiveConfig<ServedConfig>): void {
      serving.use(settings);
      recent.use(settings.config.explain);
    },
    async end(): Promise<void> {
      guard.close?.();
      await serving.close();
      recorder.close();
    },
    /** Call after `end`. */
    async close(): Promise<void> {
      await tracing?.close();
      await storage.close();
    },
  };
}

export type Carrier = Awaited<ReturnType<typeof openCarrier>>;

export async function openListeners(
  { config, worker, clock, log, minute, others }: ListenerParts,
  gauges: Gauges,
  backends: Parameters<typeof createMetrics>[1],
) {
  const moment = sharedClock(clock);
  const listeners = {
    log,
    health: new ProcessHealth(),
    metrics: createMetrics({ ...gauges, droppedLines: () => log.droppedLines }, backends, {
      exemplars: tracesEndpointOf(config.tracing) !== null,
    }),
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
  parts: () => {
    readonly serving: Pick<Serving, 'inFlight' | 'bodies' | 'upstreams'>;
    readonly storage: Storage;
  },
): RequestGauges {
  const backend = (name: keyof BackendConnections) => () =>
    sumOfConnections(parts().serving.upstreams.status)[name];
  return {
    inFlight: () => parts().serving.inFlight,
    subjects: () => parts().storage.state.size,
    bodies: () => parts().serving.bodies.held,
    bodyBudget: () => parts().serving.bodies.budget,
    backendOpen: backend('open'),
    backendIdle: backend('idle'),
    backendMost: backend('most'),
    backendWaiting: backend('waiting'),
    unsaved: () => parts().storage.unsavedFor() / 1_000,
  };
}
