import { makeTicketSecret } from '@storegate/http1/tls';
import type { Reloaded } from '../admin/context.ts';
import { createGuard } from '../callers/guard.ts';
import { readCertificates } from '../config/certificates.ts';
import type { Config, ServedConfig } from '../config/config.ts';
import { makeToken } from '../keys/operators/tokens.ts';
import { createLog, type Log } from '../observe/log.ts';
import { gatewayName } from '../observe/peers/fleet.ts';
import { answerOf, type GatewaySources, isQuestion } from '../observe/peers/questions.ts';
import { openEmbedded } from '../state/embedded/open.ts';
import { openCarrier } from './carrier.ts';
import { ContractLoader } from './contracts/loader.ts';
import { operatingGauges } from './gauges.ts';
import { GatewayHistory } from './history.ts';
import { type LeftBehind, tellLeftBehind } from './left-behind.ts';
import { createOperating, type Operating } from './operating.ts';
import { gatewayStatus } from './status.ts';
import { refuseUnknownUpstreams } from './upstream-names.ts';
import { deskOf, GatewayWebhooks } from './webhooks.ts';

export interface Started {
  readonly url: string;
  readonly adminUrl: string;
  /** Keys that the data folder has and the Redis in use does not. */
  readonly leftBehind: LeftBehind | null;
}

export interface Gateway {
  /** Binds both listeners; resolves with their URLs. Rejects with one clear sentence, and leaves nothing open. */
  start(): Promise<Started>;
  /** Reads the files again. All of it holds from the next request on, or nothing changes. Rejects with ReloadRefused. */
  reload(reason: string): Promise<Reloaded>;
  /** Drains, saves what must survive, closes everything. Idempotent. */
  stop(): Promise<void>;
}

export interface Overrides {
  /** Reads the configuration again for a reload. Without it the gateway watches no files and keeps its configuration. */
  readonly load?: () => Config;
  /** For tests: the time, the destination of the log, and who reads contracts. */
  readonly clock?: () => number;
  readonly log?: Log;
  readonly contracts?: ContractLoader;
}

/**
 * Assembles a gateway of one process from a checked configuration that has the store's URL: the part that carries requests,
 * and the part for operators. Reads the contract and opens the state; throws, with everything closed again, when one of them
 * is unfit. Nothing listens before `start`.
 */
export async function createGateway(config: ServedConfig, overrides: Overrides = {}): Promise<Gateway> {
  const { clock = Date.now, load, contracts = new ContractLoader() } = overrides;
  const startedAt = Date.now();
  const certificates = readCertificates(config);
  const settings = { config, certificates, ...(await contracts.loadFirst(config.contract)) };
  refuseUnknownUpstreams(settings.contract, config);
  const log = overrides.log ?? createLog(config.log);
  const webhooks = new GatewayWebhooks(config);
  const past = new GatewayHistory();
  const carrier = await openCarrier({
    ...{ settings, worker: null, clock, log, minute: past.add, others: webhooks.listeners },
    gauges: {
      ...operatingGauges({ operating: () => operating, readiness: () => readiness(), startedAt }),
      ...(config.redis?.keyCopy.enabled ? { keyCopyAge: () => (storage.keyCopyAge?.() ?? 0) / 1_000 } : {}),
      ...webhooks.gauges,
    },
    openStorage: async (observe) =>
      config.redis
        ? await (await import('../state/redis/open.ts')).openRedis(config.redis, {
            observe,
            audit: config.audit,
            folder: config.data,
          })
        : openEmbedded(config.data, { clock, audit: config.audit, observe }),
    openGuard: () => createGuard(config.door.guard),
    ticketSecret: makeTicketSecret(),
  });
  const { observe, storage, serving, metrics } = carrier;
  past.open(config.data, observe);
  const ownToken = makeToken();
  const readiness = () => (stopping !== null ? 'stopping' : carrier.ability.readiness);
  const ofGateway: GatewaySources = {
    status: () =>
      gatewayStatus({
        ...{ startedAt, urls: started, readiness: readiness(), state: storage.kind, workers: 0 },
        configuration: operating.configuration,
      }),
    ...{ readiness, state: storage.kind, workers: 0, history: past },
    windowsSince: { of: (plan, window) => operating.windowsSince.of(plan, window) },
  };
  const ask = async (name: string, argument: unknown) => ({ parts: [carrier.answer(name, argument)], missing: 0 });
  const gateway = gatewayName();
  const fleet = storage.join(
    {
      name: gateway,
      answer: (name, argument) => (isQuestion(name) ? answerOf(name, argument, ofGateway, ask) : null),
    },
    (error) => observe({ type: 'bug', id: 'fleet', error }),
  );
  let operating: Operating;
  const { outbox } = storage;
  try {
    await webhooks.open({ config, gateway, records: storage, outbox, clock }, observe);
    operating = createOperating({
      initial: settings,
      load,
      contracts,
      prepare: serving.prepare,
      swap: carrier.use,
      records: storage,
      state: storage.state,
      lastKnown: storage.lastKnown,
      uses: serving.uses,
      webhooks: deskOf({ config, gateway, outbox: webhooks.outbox, clock }),
      metrics,
      ownToken,
      readiness,
      away: () => carrier.ability.away,
      fleet,
      observe,
      clock,
    });
  } catch (error) {
    await fleet.close();
    await letGoOfServing();
    throw error;
  }
  let stopping: Promise<void> | null = null;
  const stopped = new AbortController();
  let started: Started | null = null;

  async function letGoOfServing(): Promise<void> {
    await carrier.end();
    await past.close();
    await webhooks.close();
    await carrier.close();
    log.close();
  }

  async function letGo(): Promise<void> {
    stopped.abort();
    await operating.close();
    await fleet.close();
    await letGoOfServing();
  }

  async function drainAndLetGo(): Promise<void> {
    observe({ type: 'stopping', inFlight: serving.inFlight });
    contracts.close();
    const cutOff = await serving.drain();
    await letGo();
    observe({ type: 'stopped', cutOff });
  }

  return {
    async start() {
      try {
        const adminUrl = await operating.listen();
        const url = await serving.listen();
        storage.announce?.({ url: adminUrl, token: ownToken });
        observe({ type: 'started', url, adminUrl, state: storage.kind });
        started = {
          url,
          adminUrl,
          leftBehind: await tellLeftBehind(config, storage.keys, { observe, stopped: stopped.signal }),
        };
        return started;
      } catch (error) {
        stopping = letGo();
        await stopping;
        throw error;
      }
    },
    reload: (reason) => operating.reload(reason),
    stop() {
      stopping ??= drainAndLetGo();
      return stopping;
    },
  };
}
