import type { Health } from '@storegate/admin-api';
import type { Reloaded } from '../admin/context.ts';
import { ownHealth } from '../admin/health.ts';
import { readVersion } from '../common/version.ts';
import { readCertificates } from '../config/certificates.ts';
import type { Config, ServedConfig } from '../config/config.ts';
import { createLog, type Log } from '../observe/log.ts';
import { gatewayName, noPeers, type Self } from '../observe/peers/peers.ts';
import {
  type GatewaySources,
  isQuery,
  responseOf,
} from '../observe/peers/queries.ts';
import type { Parts } from '../observe/peers/query.ts';
import {
  type GatewayStatus,
  type ProcessStatus,
  status,
} from '../observe/peers/status.ts';
import {
  type ActiveApi,
  contractsOf,
  loadAll,
  refuseMistakes,
} from './apis.ts';
import { ContractLoader } from './contracts/loader.ts';
import { keepCopy } from './contracts/remote.ts';
import { optimize } from './engine.ts';
import { missingPlans } from './missing-plans.ts';
import {
  createOperating,
  type Operating,
  operatingGauges,
} from './operating.ts';
import {
  openOnlyProcess,
  type Processes,
  type ProcessesParts,
} from './processes.ts';
import type { ActiveConfig } from './reload.ts';
import { configurationStatus, gatewayConditions } from './status.ts';
import type { InheritedSockets } from './systemd.ts';
import {
  reportUnmigratedKeys,
  type UnmigratedKeys,
} from './unmigrated-keys.ts';
import { createGatewayWebhooks, webhookAdminOf } from './webhooks.ts';

export interface Started {
  readonly url: string;
  readonly adminUrl: string;
  readonly unmigratedKeys: UnmigratedKeys | null;
}

export interface Gateway {
  readonly apis: readonly ActiveApi[];
  /** Resolves with the URLs. Rejects with one sentence, and leaves nothing open. */
  start(): Promise<Started>;
  /** All changes apply to the next request, or none. Rejects with ReloadRefused. */
  reload(reason: string): Promise<Reloaded>;
  /** Drains and saves durable state. Idempotent. */
  stop(): Promise<void>;
}

interface Overrides {
  /** Without it the gateway watches no files. */
  readonly load?: () => Config;
  readonly sockets?: InheritedSockets | undefined;
  /** For tests. */
  readonly clock?: () => number;
  readonly log?: Log;
  readonly contracts?: ContractLoader;
}

const VERSION = readVersion();

/**
 * Throws, with everything closed again, if the contract or the state is invalid. Nothing listens
 * before `start`.
 */
export async function createGateway(
  config: ServedConfig,
  overrides: Overrides = {},
): Promise<Gateway> {
  const {
    clock = Date.now,
    load,
    sockets = {},
    contracts = new ContractLoader(),
  } = overrides;
  const { fetched, initial } = await firstSettings(config, contracts);
  optimize();
  const log = overrides.log ?? createLog(config.log);
  const startedAt = Date.now();
  const stopping = new AbortController();
  let started: Started | null = null;
  let ended: Promise<void> | null = null;
  // Gauges are read, and queries get a response, after all parts exist.
  let operating: Operating | null = null;
  const reloader = () => operating!.reloader;
  const readiness = () =>
    stopping.signal.aborted ? 'stopping' : processes.readiness().readiness;
  const webhooks = createGatewayWebhooks(config);
  const self: Self = {
    name: gatewayName(),
    respond: (name, argument) =>
      isQuery(name)
        ? responseOf(name, argument, { status: statusNow }, processes.ask)
        : null,
  };
  const states = { readiness, health: () => healthOf(self, clock) };
  const processes = await openProcesses({
    settings: initial,
    gateway: noPeers(self),
    clock,
    log,
    others: webhooks.listeners,
    onDetection: webhooks.receive,
    gauges: {
      ...operatingGauges(reloader, states, startedAt),
      ...webhooks.gauges,
    },
  });
  const { observe, storage } = processes;
  const peers = storage.join(self, (error) =>
    observe({ type: 'bug', id: 'peers', error }),
  );
  try {
    const sender = { config, gateway: self.name, clock };
    await webhooks.open(
      { ...sender, records: storage, outbox: storage.outbox },
      observe,
    );
    operating = createOperating({
      initial,
      load,
      contracts,
      processes,
      webhooks: webhookAdminOf({ ...sender, outbox: webhooks.outbox }),
      ...states,
      peers,
      clock,
    });
  } catch (error) {
    await letGo();
    throw error;
  }
  for (const one of fetched) await keepCopy(config.data, one, observe);

  return {
    get apis() {
      return reloader().current.apis;
    },
    async start() {
      try {
        started = await listen(operating);
        return started;
      } catch (error) {
        stopping.abort();
        ended = letGo();
        await ended;
        throw error;
      }
    },
    reload: (reason) => reloader().reload(reason),
    stop() {
      ended ??= drainAndLetGo();
      return ended;
    },
  };

  /** For the gateway's own processes and its peers. */
  function statusNow(): ReturnType<GatewaySources['status']> {
    const now = clock();
    const cacheAge = Math.min(now - startedAt, storage.keyCacheAge?.() ?? 0);
    return {
      version: VERSION,
      node: process.version,
      url: started?.url ?? null,
      adminUrl: started?.adminUrl ?? null,
      state: storage.kind,
      // 0: one process.
      workers: config.workers === 1 ? 0 : config.workers,
      startedAt,
      readiness: readiness(),
      configuration: configurationStatus(reloader()),
      conditions: gatewayConditions(reloader(), { now, cacheAge }),
    };
  }

  async function listen({ listen, announce }: Operating): Promise<Started> {
    const adminUrl = await listen(sockets.admin);
    const url = await processes.listen(sockets.public);
    await announce();
    observe({ type: 'started', url, adminUrl, state: storage.kind });
    for (const warning of missingPlans(config))
      observe({ type: 'state.warning', warning });
    const unmigratedKeys = await reportUnmigratedKeys(config, storage.keys, {
      observe,
      stopped: stopping.signal,
    });
    return { url, adminUrl, unmigratedKeys };
  }

  async function drainAndLetGo(): Promise<void> {
    stopping.abort();
    contracts.close();
    const { parts } = (await processes.ask(
      status.name,
      null,
    )) as Parts<ProcessStatus>;
    observe({
      type: 'stopping',
      inFlight: parts.reduce((sum, { inFlight }) => sum + inFlight, 0),
    });
    const cutOff = await processes.drain();
    await letGo();
    observe({ type: 'stopped', cutOff });
  }

  /** In this order no request, event, usage or webhook event is lost. */
  async function letGo(): Promise<void> {
    await operating?.close();
    await peers.close();
    await processes.end();
    await webhooks.close();
    await processes.close();
    log.close();
  }
}

/** As the gateway sees itself. */
const healthOf = async (
  { name, respond }: Self,
  clock: () => number,
): Promise<Health> =>
  ownHealth(name, (await respond(status.name, null)) as GatewayStatus, clock());

async function firstSettings(config: ServedConfig, contracts: ContractLoader) {
  const certificates = readCertificates(config);
  const { apis, fetched } = await loadAll(config.apis, (api) =>
    contracts.loadFirst({ ...api, data: config.data }),
  );
  const contract = contractsOf(apis);
  refuseMistakes(apis, config);
  const initial: ActiveConfig<ServedConfig> = {
    config,
    certificates,
    apis,
    contract,
  };
  return { initial, fetched };
}

async function openProcesses(parts: ProcessesParts): Promise<Processes> {
  if (parts.settings.config.workers === 1) return await openOnlyProcess(parts);
  return await (await import('./workers/open.ts')).openWorkers(parts);
}
