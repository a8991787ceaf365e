import type { Health } from '@storegate/admin-api';
import type { Reloaded } from '../admin/context.ts';
import { ownHealth } from '../admin/health.ts';
import { readCertificates } from '../config/certificates.ts';
import type { Config, ServedConfig } from '../config/config.ts';
import type { Contract } from '../config/contract/contract.ts';
import { createLog, type Log } from '../observe/log.ts';
import { noPeers, type Peers, type Self } from '../observe/peers/peers.ts';
import type { Parts } from '../observe/peers/query.ts';
import {
  type GatewayStatus,
  type ProcessStatus,
  status,
} from '../observe/peers/status.ts';
import { answersOf } from './answers.ts';
import { ContractLoader } from './contracts/loader.ts';
import { keepCopy } from './contracts/remote.ts';
import { optimize } from './engine.ts';
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
import { type ActiveConfig, refuseUnknownUpstreams } from './reload.ts';
import type { InheritedSockets } from './systemd.ts';
import {
  reportUnmigratedKeys,
  type UnmigratedKeys,
} from './unmigrated-keys.ts';
import {
  createGatewayWebhooks,
  type GatewayWebhooks,
  webhookAdminOf,
} from './webhooks.ts';

export interface Started {
  readonly url: string;
  readonly adminUrl: string;
  readonly unmigratedKeys: UnmigratedKeys | null;
}

export interface Gateway {
  readonly contract: Contract;
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
  const { fetched, ...initial } = await firstSettings(config, contracts);
  optimize();
  const log = overrides.log ?? createLog(config.log);
  const phase: Phase = {
    startedAt: Date.now(),
    started: null,
    stopping: new AbortController(),
  };
  const readiness = () =>
    phase.stopping.signal.aborted
      ? 'stopping'
      : processes.readiness().readiness;
  const webhooks = createGatewayWebhooks(config);
  // Gauges are read, and questions answered, after all parts exist.
  let operating: Operating;
  const workers = workersOf(config);
  const self = answersOf(() => ({
    ...phase,
    processes,
    operating,
    readiness,
    workers,
    clock,
  }));
  const states = { readiness, health: () => healthOf(self, clock) };
  const processes = await openProcesses({
    settings: initial,
    gateway: noPeers(self),
    clock,
    log,
    others: webhooks.listeners,
    onDetection: webhooks.hear,
    gauges: {
      ...operatingGauges(() => operating.reloader, states, phase.startedAt),
      ...webhooks.gauges,
    },
  });
  const { observe, storage } = processes;
  const peers = storage.join(self, (error) =>
    observe({ type: 'bug', id: 'peers', error }),
  );
  const parts = { config, sockets, contracts, processes, webhooks, peers, log };
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
    await letGo({ ...parts, operating: null });
    throw error;
  }
  if (fetched !== undefined) await keepCopy(config.data, fetched, observe);
  return running({ ...parts, operating }, phase);
}

/** 0: one process. */
const workersOf = ({ workers }: Config): number =>
  workers === 1 ? 0 : workers;

/** As the gateway sees itself. */
const healthOf = async (
  { name, answer }: Self,
  clock: () => number,
): Promise<Health> =>
  ownHealth(name, (await answer(status.name, null)) as GatewayStatus, clock());

async function firstSettings(
  config: ServedConfig,
  contracts: ContractLoader,
): Promise<ActiveConfig<ServedConfig>> {
  const certificates = readCertificates(config);
  const settings = {
    config,
    certificates,
    ...(await contracts.loadFirst(config)),
  };
  refuseUnknownUpstreams(settings.contract, config);
  return settings;
}

async function openProcesses(parts: ProcessesParts): Promise<Processes> {
  if (parts.settings.config.workers === 1) return await openOnlyProcess(parts);
  return await (await import('./workers/open.ts')).openWorkers(parts);
}

interface GatewayParts {
  readonly config: ServedConfig;
  readonly sockets: InheritedSockets;
  readonly contracts: ContractLoader;
  readonly processes: Processes;
  readonly operating: Operating;
  readonly webhooks: GatewayWebhooks;
  readonly peers: Peers;
  readonly log: Log;
}

interface Phase {
  readonly startedAt: number;
  started: Started | null;
  readonly stopping: AbortController;
}

function running(parts: GatewayParts, phase: Phase): Gateway {
  const { contracts, processes, operating } = parts;
  const { observe } = processes;
  let ended: Promise<void> | null = null;

  async function drainAndLetGo(): Promise<void> {
    phase.stopping.abort();
    contracts.close();
    const { parts: all } = (await processes.ask(
      status.name,
      null,
    )) as Parts<ProcessStatus>;
    observe({
      type: 'stopping',
      inFlight: all.reduce((sum, { inFlight }) => sum + inFlight, 0),
    });
    const cutOff = await processes.drain();
    await letGo(parts);
    observe({ type: 'stopped', cutOff });
  }

  return {
    get contract() {
      return operating.reloader.current.contract;
    },
    async start() {
      try {
        phase.started = await listen(parts, phase);
        return phase.started;
      } catch (error) {
        phase.stopping.abort();
        ended = letGo(parts);
        await ended;
        throw error;
      }
    },
    reload: (reason) => operating.reloader.reload(reason),
    stop() {
      ended ??= drainAndLetGo();
      return ended;
    },
  };
}

async function listen(
  parts: GatewayParts,
  { stopping }: Phase,
): Promise<Started> {
  const { config, sockets, processes, operating } = parts;
  const { observe, storage } = processes;
  const adminUrl = await operating.listen(sockets.admin);
  const url = await processes.listen(sockets.public);
  operating.announce(adminUrl);
  observe({ type: 'started', url, adminUrl, state: storage.kind });
  const unmigratedKeys = await reportUnmigratedKeys(config, storage.keys, {
    observe,
    stopped: stopping.signal,
  });
  return { url, adminUrl, unmigratedKeys };
}

/** In this order no request, event, usage or webhook event is lost. */
async function letGo(
  parts: Omit<GatewayParts, 'operating'> & {
    readonly operating: Operating | null;
  },
): Promise<void> {
  const { operating, peers, processes, webhooks, log } = parts;
  await operating?.close();
  await peers.close();
  await processes.end();
  await webhooks.close();
  await processes.close();
  log.close();
}
