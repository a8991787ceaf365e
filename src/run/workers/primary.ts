import { createGuard } from '../../callers/guard.ts';
import { readCertificates } from '../../config/certificates.ts';
import type { ServedConfig } from '../../config/config.ts';
import { toAll } from '../../observe/events.ts';
import { totalOpenMetrics, totalText } from '../../observe/figures.ts';
import { createLog } from '../../observe/log.ts';
import { createMetrics } from '../../observe/metrics.ts';
import { gatewayName } from '../../observe/peers/fleet.ts';
import { answerOf, type GatewaySources, isQuestion } from '../../observe/peers/questions.ts';
import type { Readiness } from '../../observe/peers/readiness.ts';
import { receiverOf } from '../../observe/tracing/receiver.ts';
import { openForWorkers } from '../../state/redis/open.ts';
import { ContractLoader } from '../contracts/loader.ts';
import type { Gateway, Overrides } from '../gateway.ts';
import { operatingGauges } from '../gauges.ts';
import { GatewayHistory } from '../history.ts';
import { tellLeftBehind } from '../left-behind.ts';
import { createOperating, type Operating } from '../operating.ts';
import { gatewayStatus } from '../status.ts';
import { refuseUnknownUpstreams } from '../upstream-names.ts';
import { deskOf, GatewayWebhooks } from '../webhooks.ts';
import { WorkerPool } from './pool.ts';

/**
 * Assembles a gateway whose workers carry the requests; this process starts them and answers operators. The configuration
 * must name a Redis and more than one worker. Throws, with everything closed again, when contract or state is unfit. Nothing
 * listens before `start`.
 */
export async function createPrimary(
  config: ServedConfig,
  { load, clock = Date.now, log = createLog(config.log) }: Overrides = {},
): Promise<Gateway> {
  const contracts = new ContractLoader();
  const certificates = readCertificates(config);
  const initial = { config, certificates, ...(await contracts.loadFirst(config.contract)) };
  refuseUnknownUpstreams(initial.contract, config);
  const startedAt = Date.now();
  const webhooks = new GatewayWebhooks(config);
  const metrics = createMetrics({
    workers: () => pool.serving,
    ...operatingGauges({ operating: () => operating, readiness, startedAt }),
    ...(config.redis!.keyCopy.enabled ? { keyCopyAge: () => (keyCopyAge?.() ?? 0) / 1_000 } : {}),
    ...webhooks.gauges,
  });
  const observe = toAll(metrics.observe, log.observe, ...webhooks.listeners);
  const { state, kind, close, keyCopyAge, lastKnown, join, outbox, ...records } = await openForWorkers(config.redis!, {
    observe,
    audit: config.audit,
    folder: config.data,
  });
  const past = new GatewayHistory();
  past.open(config.data, observe);
  const pool = new WorkerPool({
    settings: initial,
    guard: createGuard(config.door.guard),
    minute: past.add,
    heard: (heard, worker) => webhooks.hear(heard, worker),
    observe,
  });
  const ofGateway: GatewaySources = {
    status: () =>
      gatewayStatus({
        ...{ startedAt, urls: started, readiness: readiness(), state: kind, workers: config.workers },
        configuration: operating.configuration,
      }),
    ...{ readiness, state: kind, workers: config.workers, history: past },
    windowsSince: { of: (plan, window) => operating.windowsSince.of(plan, window) },
  };
  const ask = (name: string, argument: unknown) => pool.ask(name, argument);
  const gateway = gatewayName();
  const fleet = join(
    {
      name: gateway,
      answer: (name, argument) => (isQuestion(name) ? answerOf(name, argument, ofGateway, ask) : null),
    },
    (error) => observe({ type: 'bug', id: 'fleet', error }),
  );
  let operating: Operating;
  try {
    await webhooks.open({ config, gateway, records, outbox, clock }, observe);
    operating = createOperating<ServedConfig>({
      initial,
      load,
      contracts,
      // The workers prepare what they serve.
      prepare: async () => {},
      swap: (settings) => pool.use(settings),
      records,
      state,
      lastKnown,
      uses: { lastUsed: async (ids) => await records.uses.load(ids) },
      webhooks: deskOf({ config, gateway, outbox: webhooks.outbox, clock }),
      metrics: {
        contentType: metrics.contentType,
        text: async () => totalText(await metrics.figures(), await pool.figures()),
        openMetrics:
          receiverOf(config.tracing) === null
            ? null
            : async () => totalOpenMetrics(await metrics.figures(), await pool.figures()),
      },
      // Commands on this machine ask Redis themselves.
      ownToken: null,
      readiness,
      away: () => pool.away,
      fleet,
      observe,
      clock,
    });
  } catch (error) {
    await fleet.close();
    await past.close();
    await webhooks.close();
    close();
    throw error;
  }
  let stopping: Promise<void> | null = null;
  const stopped = new AbortController();
  let started: Awaited<ReturnType<Gateway['start']>> | null = null;

  function readiness(): Readiness {
    if (stopping !== null) return 'stopping';
    if (pool.serving === 0) return 'no_worker';
    return pool.readiness;
  }

  async function letGo(): Promise<void> {
    stopped.abort();
    await operating.close();
    await fleet.close();
    await past.close();
    await webhooks.close();
    close();
  }

  async function drainAndLetGo(): Promise<void> {
    contracts.close();
    observe({ type: 'stopping', inFlight: await pool.inFlight() });
    const cutOff = await pool.drain();
    await letGo();
    observe({ type: 'stopped', cutOff });
  }

  return {
    async start() {
      try {
        const adminUrl = await operating.listen();
        const url = await pool.start();
        observe({ type: 'started', url, adminUrl, state: kind });
        started = {
          url,
          adminUrl,
          leftBehind: await tellLeftBehind(config, records.keys, { observe, stopped: stopped.signal }),
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
