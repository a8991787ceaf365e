import type { Reloaded } from '../admin/context.ts';
import { createGuard } from '../callers/guard.ts';
import type { Config } from '../config/config.ts';
import { toAll } from '../observe/events.ts';
import { createLog, type Log } from '../observe/log.ts';
import { createMetrics } from '../observe/metrics.ts';
import { makeToken } from '../operators/tokens.ts';
import { openEmbedded } from '../state/embedded/open.ts';
import { openRedis } from '../state/redis/open.ts';
import { ContractLoader } from './contracts/loader.ts';
import { type LeftBehind, tellLeftBehind } from './left-behind.ts';
import { createOperating, type Operating } from './operating.ts';
import { createServing, type ServedConfig } from './serving.ts';

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
  /** For tests: the time, and the destination of the log. */
  readonly clock?: () => number;
  readonly log?: Log;
}

/**
 * Assembles a gateway of one process from a checked configuration that has the store's URL: the part that carries requests,
 * and the part for operators. Reads the contract and opens the state; throws, with everything closed again, when one of them
 * is unfit. Nothing listens before `start`.
 */
export async function createGateway(config: ServedConfig, overrides: Overrides = {}): Promise<Gateway> {
  const { clock = Date.now, load } = overrides;
  const contracts = new ContractLoader();
  const settings = { config, ...(await contracts.loadFirst(config.contract)) };
  const log = overrides.log ?? createLog(config.log);
  const metrics = createMetrics({
    inFlight: () => serving.inFlight,
    subjects: () => storage.state.size,
    bodies: () => serving.bodies,
    unsaved: () => storage.unsavedFor() / 1_000,
    exempted: () => operating.exempted,
    ...(config.redis?.keyCopy.enabled ? { keyCopyAge: () => (storage.keyCopyAge?.() ?? 0) / 1_000 } : {}),
  });
  const observe = toAll(metrics.observe, log.observe);

  const storage = config.redis
    ? await openRedis(config.redis, { observe, audit: config.audit, folder: config.data })
    : openEmbedded(config.data, { clock, audit: config.audit, observe });
  const guard = createGuard(config.door.guard);
  const serving = createServing({ settings, storage, guard, observe, clock });
  const ownToken = makeToken();
  let operating: Operating;
  try {
    operating = createOperating({
      initial: settings,
      load,
      contracts,
      prepare: serving.prepare,
      swap: serving.use,
      records: storage,
      state: storage.state,
      uses: serving.uses,
      metrics,
      ownToken,
      readiness: () => (stopping !== null ? 'stopping' : storage.ready() ? 'ready' : 'state_away'),
      observe,
      clock,
    });
  } catch (error) {
    await letGoOfServing();
    throw error;
  }
  let stopping: Promise<void> | null = null;

  async function letGoOfServing(): Promise<void> {
    await serving.close();
    await storage.close();
  }

  async function letGo(): Promise<void> {
    await operating.close();
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
        return { url, adminUrl, leftBehind: await tellLeftBehind(config, storage.keys, observe) };
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
