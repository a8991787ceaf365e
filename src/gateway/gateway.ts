import { createAdmin } from '../admin/admin.ts';
import type { Desk } from '../admin/desk.ts';
import { AdminError } from '../admin/errors.ts';
import type { Reloaded } from '../admin/reload.ts';
import { makeToken } from '../admin/tokens.ts';
import type { Config } from '../config/config.ts';
import { watchFiles } from '../config/watch.ts';
import { loadContract } from '../contract/contract.ts';
import { Keyring } from '../keys/keyring.ts';
import { Uses } from '../keys/uses.ts';
import { toAll } from '../observe/events.ts';
import { createLog, type Log } from '../observe/log.ts';
import { createMetrics } from '../observe/metrics.ts';
import { openEmbedded } from '../state/embedded.ts';
import { openRedis } from '../state/redis/open.ts';
import { buildPipeline } from './build.ts';
import { createGuard } from './guard.ts';
import { createListener } from './listener.ts';
import type { Pipeline } from './pipeline.ts';
import { createReloader, FILE_CHANGED, ReloadRefused } from './reload.ts';
import { createUpstream } from './upstream.ts';

export interface Gateway {
  /** Binds both listeners; answers where they are. Rejects with one clear sentence, and leaves nothing open. */
  start(): Promise<{ readonly url: string; readonly adminUrl: string }>;
  /** Reads the files again: all of it holds from the next request, or nothing changes. Throws ReloadRefused. */
  reload(reason: string): Promise<Reloaded>;
  /** Drains, keeps what must survive, lets go of everything. Idempotent. */
  stop(): Promise<void>;
}

export interface Overrides {
  /** Reads the configuration again, for reloading; without it the files are not watched and stay as they were read. */
  readonly load?: () => Config;
  /** What tests must hold in their hands: time, and where the log goes. */
  readonly clock?: () => number;
  readonly log?: Log;
}

/**
 * Puts the gateway together from a checked configuration whose store is known. Reads the contract and opens the state;
 * throws, with everything closed again, when one of them is unfit. Nothing listens before `start`.
 */
export async function createGateway(
  config: Config & { readonly upstream: { readonly url: string } },
  overrides: Overrides = {},
): Promise<Gateway> {
  const { clock = Date.now } = overrides;
  const contract = loadContract(config.contract.file, { unknownQuery: config.contract.unknownQuery });
  const log = overrides.log ?? createLog(config.log);
  const metrics = createMetrics({ inFlight: () => listener.inFlight, subjects: () => state.size });
  const observe = toAll(metrics.observe, log.observe);

  const remembered = config.redis ? await openRedis(config.redis, { observe }) : openEmbedded(config.data, clock);
  const { state } = remembered;
  const keyring = new Keyring(remembered.keys, config.plans, { recheckAfter: remembered.recheckKeysAfter });

  const { keys, journal, tokens } = remembered;
  const uses = new Uses(remembered.uses, { clock, failed: (error) => observe({ type: 'uses.unsaved', error }) });
  const guard = createGuard(config.door.guard);
  const upstream = createUpstream(config.upstream.url, config.upstream);
  const lasting = { state, keyring, keys, uses, guard, upstream, observe, clock };

  let pipeline = buildPipeline(config, contract, lasting);
  const reloader = createReloader({
    initial: { config, contract },
    load: overrides.load ?? (() => config),
    keys,
    observe,
    swap(settings) {
      keyring.usePlans(settings.config.plans);
      pipeline = buildPipeline(settings.config, settings.contract, lasting);
    },
  });
  const current: Pipeline = {
    handle: (request, response) => pipeline.handle(request, response),
    upgrade: (request, socket, head) => pipeline.upgrade(request, socket, head),
  };
  const takesWebSockets = () => reloader.current.config.mounts.some(({ websocket }) => websocket);
  const listener = createListener({ config, takesWebSockets, pipeline: current, guard, observe });

  const desk: Desk = {
    keys,
    journal,
    tokens,
    uses,
    clock,
    state: () => state,
    config: () => reloader.current.config,
    plans: () => reloader.current.config.plans,
    reload: (reason) => reloader.reload(reason).catch(refusedToOperator),
  };
  const readiness = () => (stopping !== null ? 'stopping' : remembered.ready() ? 'ready' : 'state_away');
  const ownToken = makeToken();
  const admin = createAdmin({ config, desk, metrics, observe, ownToken, readiness });
  const watch = overrides.load ? watchFiles(filesOf, reloadUnasked) : null;
  let stopping: Promise<void> | null = null;

  function filesOf(): readonly string[] {
    const { config, contract } = reloader.current;
    return [config.files.gateway, config.files.plans, ...contract.files.keys()];
  }

  function reloadUnasked(): void {
    // Whoever looks finds it in the log and in a metric: nobody waits for an answer.
    reloader.reload(FILE_CHANGED).catch(() => {});
  }

  async function letGo(): Promise<void> {
    watch?.close();
    await admin.close();
    await upstream.close();
    keyring.close();
    await uses.close();
    await remembered.close();
  }

  async function drainAndLetGo(): Promise<void> {
    observe({ type: 'stopping', inFlight: listener.inFlight });
    const cutOff = await listener.drain();
    await letGo();
    observe({ type: 'stopped', cutOff });
  }

  return {
    async start() {
      try {
        const adminUrl = urlOf(config.admin.host, await admin.listen());
        const url = urlOf(config.listen.host, await listener.listen());
        remembered.announce?.({ url: adminUrl, token: ownToken });
        observe({ type: 'started', url, adminUrl, state: remembered.kind });
        return { url, adminUrl };
      } catch (error) {
        stopping = letGo();
        await stopping;
        throw error;
      }
    },
    reload: (reason) => reloader.reload(reason),
    stop() {
      stopping ??= drainAndLetGo();
      return stopping;
    },
  };
}

/** Where a person on this machine reaches a listener. */
function urlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${reachable}:${port}`;
}

/** An operator is told every mistake in the answer. */
function refusedToOperator(error: unknown): never {
  if (!(error instanceof ReloadRefused)) throw error;
  const details = error.problems.map((message) => ({ in: 'body' as const, pointer: '', message }));
  throw new AdminError('configuration_unfit', `Nothing was changed: ${error.problems.join('; ')}`, { details });
}
