import { randomUUID } from 'node:crypto';
import { createGuard } from '../common/clients/guard.ts';
import type { Config, ServedConfig } from '../config/config.ts';
import {
  accessTo,
  createLedger,
  type Ledger,
  type UsageReceiver,
} from '../ledger/ledger.ts';
import { type Observe, toAll } from '../observe/events.ts';
import type { Log } from '../observe/log.ts';
import type { Gauges, RequestGauges } from '../observe/metric-rows.ts';
import { createMetrics } from '../observe/metrics.ts';
import { sumOfConnections } from '../observe/peers/backends.ts';
import { deprecated } from '../observe/peers/deprecated.ts';
import { ask, type Peers } from '../observe/peers/peers.ts';
import { type ProcessSources, partOf } from '../observe/peers/queries.ts';
import type {
  BackendConnections,
  ProcessReadiness,
} from '../observe/peers/status.ts';
import { createRecentRequests } from '../observe/request-log/recent.ts';
import { sharedClock } from '../observe/shared-clock.ts';
import { openTracing, tracesEndpointOf } from '../observe/tracing/tracing.ts';
import type { Storage } from '../records/storage.ts';
import { hasEndpoints } from '../webhooks/endpoints.ts';
import type { UsageExportOptions } from '../webhooks/usage-export.ts';
import type { ServingParts } from './long-lived.ts';
import { createProcessHealth, readinessOf } from './process-health.ts';
import type { ActiveConfig } from './reload.ts';
import { createServing, type Serving } from './serving.ts';
import { processStatus } from './status.ts';

interface ListenerParts {
  readonly config: Pick<Config, 'explain' | 'tracing' | 'usage' | 'plans'>;
  /** From 1; `null`: the only process. */
  readonly worker: number | null;
  readonly clock: () => number;
  readonly log: Log;
  readonly others: readonly Observe[];
}

export interface ProcessParts
  extends Omit<ListenerParts, 'config'>,
    Pick<ServingParts, 'ticketSecret'> {
  readonly settings: ActiveConfig<ServedConfig>;
  readonly workers: number;
  readonly gauges: Omit<Gauges, keyof RequestGauges | 'workers'>;
  /** The gateway of this process, which responds for all its processes. */
  readonly gateway: Pick<Peers, 'ask'>;
}

/**
 * Opens the part of a gateway that handles requests, all but the operators' side. Rejects if the
 * state cannot be opened.
 */
export async function openProcess(parts: ProcessParts) {
  const { settings, worker, gauges, gateway } = parts;
  const { config } = settings;
  const all: Gauges = {
    ...gauges,
    ...requestGauges(() => ({ serving, storage, ledger })),
  };
  const listeners = await openListeners(
    { ...parts, config },
    all,
    () => serving.upstreams.status,
  );
  const { log, observe, metrics, health, recent, ledger, tracing } = listeners;
  const storage = await openStorage(parts, observe);
  ledger.begin(
    storage,
    await usageReceiver({ config, clock: parts.clock, observe }),
  );
  const guard = createGuard(
    config.http.authFailureLimit,
    storage.openAddressWindow,
  );
  const access = accessTo(storage.ledger, ledger.writer, (warning) =>
    observe({ type: 'state.warning', warning }),
  );
  const serving: Serving = createServing({
    ...parts,
    storage,
    guard,
    observe,
    tracing,
    reportsFirstUses: hasEndpoints(config.webhooks),
    ledger: access,
    async deprecatedBy(keyId) {
      const { responses } = await ask(gateway, deprecated, keyId);
      return responses[0]?.response ?? deprecated.part(serving, keyId);
    },
  });
  const { uses, upstreams, keyring } = serving;
  const sources: ProcessSources = {
    id: randomUUID().slice(0, 8),
    status: () =>
      processStatus(
        worker,
        serving,
        health,
        { logLines: log.droppedLines, requests: ledger.writer.dropped },
        ledger.recorder,
      ),
    uses,
    ...listeners,
  };
  return {
    ledger: access,
    usage: ledger.writer,
    observe,
    storage,
    serving,
    uses,
    metrics,
    readiness: (): ProcessReadiness =>
      readinessOf(storage, health, {
        down: upstreams.down,
        knowsKeys: keyring.isReady,
      }),
    /** `part` of the question. */
    part: (question: string, argument: unknown) =>
      partOf(sources, question, argument),
    async use(settings: ActiveConfig<ServedConfig>): Promise<void> {
      await serving.use(settings);
      recent.use(settings.config.explain);
      ledger.use(settings.config);
    },
    drain: serving.drain,
    async end(): Promise<void> {
      await serving.close();
      await ledger.close();
    },
    /** Call after `end`. */
    async close(): Promise<void> {
      await tracing?.close();
      await storage.close();
    },
  };
}

export type Process = Awaited<ReturnType<typeof openProcess>>;

/** Not loaded if usage is not exported. */
async function usageReceiver(
  options: UsageExportOptions,
): Promise<UsageReceiver | null> {
  if (options.config.usage.export.url === null) return null;
  const { createUsageExport } = await import('../webhooks/usage-export.ts');
  return createUsageExport(options);
}

async function openStorage(
  { settings, worker, workers, clock }: ProcessParts,
  observe: Observe,
): Promise<Storage> {
  const { redis, data: folder, audit } = settings.config;
  if (redis === null) {
    const { openEmbedded } = await import('../records/embedded/open.ts');
    return openEmbedded(folder, { clock, audit, observe });
  }
  const { openRedis } = await import('../records/redis/open.ts');
  return await openRedis(redis, {
    observe,
    audit,
    folder,
    worker: worker ?? 1,
    workers,
  });
}

export async function openListeners(
  { config, worker, clock, log, others }: ListenerParts,
  gauges: Gauges,
  backends: Parameters<typeof createMetrics>[1],
) {
  const moment = sharedClock(clock);
  const listeners = {
    log,
    health: createProcessHealth(),
    metrics: createMetrics(
      { ...gauges, droppedLines: () => log.droppedLines },
      backends,
      {
        exemplars: tracesEndpointOf(config.tracing) !== null,
      },
    ),
    recent: createRecentRequests(config.explain, {
      worker,
      clock: moment.clock,
    }),
    ledger: createLedger({
      clock: moment.clock,
      observe: (event) => observe(event),
    }),
    tracing: await openTracing(config.tracing, {
      worker,
      observe: (event) => observe(event),
    }),
  };
  listeners.ledger.use(config);
  const all = Object.values(listeners).filter((one) => one !== null);
  const observe: Observe = moment.of(
    toAll(...all.map((one) => one.observe), ...others),
  );
  return { ...listeners, observe };
}

/** The parts may be created later. */
function requestGauges(
  parts: () => {
    readonly serving: Serving;
    readonly storage: Storage;
    readonly ledger: Ledger;
  },
): RequestGauges {
  const backend = (name: keyof BackendConnections) => () =>
    sumOfConnections(parts().serving.upstreams.status)[name];
  return {
    inFlight: () => parts().serving.inFlight,
    subjects: () => parts().storage.state.size,
    bodies: () => parts().serving.bodies.budget.held,
    bodyBudget: () => parts().serving.bodies.budget.most,
    backendOpen: backend('open'),
    backendIdle: backend('idle'),
    backendMost: backend('most'),
    backendWaiting: backend('waiting'),
    unsaved: () => parts().storage.unsavedFor() / 1_000,
    usageBytes: () => parts().ledger.bytes,
    usageWaiting: () => parts().ledger.writer.waiting,
    exportDelay: () => parts().ledger.exportDelay / 1_000,
  };
}
