import type { Reloaded } from '../admin/context.ts';
import { readVersion } from '../common/version.ts';
import { readCertificates } from '../config/certificates.ts';
import type { Config, ServedConfig } from '../config/config.ts';
import type { Contract } from '../config/contract/contract.ts';
import { makeToken } from '../keys/operators/tokens.ts';
import { History } from '../observe/history/history.ts';
import { createLog, type Log } from '../observe/log.ts';
import { gatewayName, type Peers } from '../observe/peers/peers.ts';
import { answerOf, type GatewaySources, isQuery } from '../observe/peers/queries.ts';
import { type StoredHistory, storeHistory } from '../state/history/folder.ts';
import type { Carriers, CarriersParts } from './carriers.ts';
import { ContractLoader } from './contracts/loader.ts';
import { keepCopy } from './contracts/remote.ts';
import { optimize } from './engine.ts';
import { createOperating, type Operating, operatingGauges } from './operating.ts';
import { type ActiveConfig, refuseUnknownUpstreams } from './reload.ts';
import { configurationStatus } from './status.ts';
import type { InheritedSockets } from './systemd.ts';
import { reportUnmigratedKeys, type UnmigratedKeys } from './unmigrated-keys.ts';
import { GatewayWebhooks, webhookAdminOf } from './webhooks.ts';

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

export interface Overrides {
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
  const { clock = Date.now, load, sockets = {}, contracts = new ContractLoader() } = overrides;
  const { fetched, ...initial } = await firstSettings(config, contracts);
  optimize();
  const log = overrides.log ?? createLog(config.log);
  const phase: Phase = { startedAt: Date.now(), started: null, stopping: new AbortController() };
  const readiness = () =>
    phase.stopping.signal.aborted ? 'stopping' : carriers.readiness.readiness;
  const webhooks = new GatewayWebhooks(config);
  const history = new History();
  let stored: StoredHistory | null = null;
  // Gauges are read, and questions answered, after all parts exist.
  let operating: Operating;
  const carriers = await openCarriers({
    settings: initial,
    clock,
    log,
    others: webhooks.listeners,
    onDetection: webhooks.hear,
    minute: (minute) => stored?.mark(history.add(minute)),
    gauges: {
      ...operatingGauges(() => operating.reloader, readiness, phase.startedAt),
      ...webhooks.gauges,
    },
  });
  const { observe, storage } = carriers;
  stored = storeHistory(config.data, history, (error) =>
    observe({
      type: 'state.warning',
      warning: `the history: ${error instanceof Error ? error.message : error}`,
    }),
  );
  const gateway = gatewayName();
  const about = { readiness, state: storage.kind, workers: carriers.workers };
  const sources: GatewaySources = {
    ...about,
    history,
    status: () => ({
      version: VERSION,
      node: process.version,
      url: phase.started?.url ?? null,
      adminUrl: phase.started?.adminUrl ?? null,
      ...about,
      startedAt: phase.startedAt,
      readiness: readiness(),
      configuration: configurationStatus(operating.reloader),
    }),
    windowsSince: { of: (plan, window) => operating.windowsSince.of(plan, window) },
  };
  const peers = storage.join(
    {
      name: gateway,
      answer: (name, argument) =>
        isQuery(name) ? answerOf(name, argument, sources, carriers.ask) : null,
    },
    (error) => observe({ type: 'bug', id: 'peers', error }),
  );
  const ownToken = storage.announce ? makeToken() : null;
  const parts = { config, sockets, contracts, carriers, stored, webhooks, peers, log, ownToken };
  try {
    await webhooks.open(
      { config, gateway, records: storage, outbox: storage.outbox, clock },
      observe,
    );
    const webhookAdmin = webhookAdminOf({ config, gateway, outbox: webhooks.outbox, clock });
    operating = createOperating({
      initial,
      load,
      contracts,
      carriers,
      webhooks: webhookAdmin,
      ownToken,
      readiness,
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

async function firstSettings(
  config: ServedConfig,
  contracts: ContractLoader,
): Promise<ActiveConfig<ServedConfig>> {
  const certificates = readCertificates(config);
  const settings = { config, certificates, ...(await contracts.loadFirst(config)) };
  refuseUnknownUpstreams(settings.contract, config);
  return settings;
}

async function openCarriers(parts: CarriersParts): Promise<Carriers> {
  if (parts.settings.config.workers === 1)
    return await (await import('./single-process.ts')).openSingleProcess(parts);
  return await (await import('./workers/carriers.ts')).openWorkers(parts);
}

interface GatewayParts {
  readonly config: ServedConfig;
  readonly sockets: InheritedSockets;
  readonly contracts: ContractLoader;
  readonly carriers: Carriers;
  readonly operating: Operating;
  /** `null`: its files cannot be used. */
  readonly stored: StoredHistory | null;
  readonly webhooks: GatewayWebhooks;
  readonly peers: Peers;
  readonly log: Log;
  /** For commands on this machine that cannot open the state themselves. */
  readonly ownToken: string | null;
}

interface Phase {
  readonly startedAt: number;
  started: Started | null;
  readonly stopping: AbortController;
}

function running(parts: GatewayParts, phase: Phase): Gateway {
  const { contracts, carriers, operating } = parts;
  const { observe } = carriers;
  let ended: Promise<void> | null = null;

  async function drainAndLetGo(): Promise<void> {
    phase.stopping.abort();
    contracts.close();
    observe({ type: 'stopping', inFlight: await carriers.inFlight() });
    const cutOff = await carriers.drain();
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

async function listen(parts: GatewayParts, { stopping }: Phase): Promise<Started> {
  const { config, sockets, carriers, operating, ownToken } = parts;
  const { observe, storage } = carriers;
  const adminUrl = await operating.listen(sockets.admin);
  const url = await carriers.listen(sockets.public);
  if (ownToken !== null) storage.announce?.({ url: adminUrl, token: ownToken });
  observe({ type: 'started', url, adminUrl, state: storage.kind });
  const unmigratedKeys = await reportUnmigratedKeys(config, storage.keys, {
    observe,
    stopped: stopping.signal,
  });
  return { url, adminUrl, unmigratedKeys };
}

/** In this order no request, event, minute or webhook event is lost. */
async function letGo(
  parts: Omit<GatewayParts, 'operating'> & { readonly operating: Operating | null },
): Promise<void> {
  const { operating, peers, carriers, stored, webhooks, log } = parts;
  await operating?.close();
  await peers.close();
  await carriers.end();
  await stored?.close();
  await webhooks.close();
  await carriers.close();
  log.close();
}
