import { randomUUID } from 'node:crypto';
import type { AuditSettings, RedisSettings } from '../../config/config.ts';
import type { Observe } from '../../observe/events.ts';
import { createCircuitBreakers } from '../shared/circuit-breakers.ts';
import { SharedState } from '../shared/shared-state.ts';
import type { State } from '../state.ts';
import type { Records, Storage } from '../storage.ts';
import { openBus } from './bus.ts';
import { checkRedis, unusable, watchWarnings } from './checks.ts';
import { type Connection, connect, RedisError } from './client.ts';
import { RedisState } from './counters.ts';
import { announce } from './gateways.ts';
import { disconnect, whenCut } from './lasting.ts';
import { recordsInRedis } from './records.ts';
import { shardsOf } from './shards.ts';

/** Milliseconds that a command may wait for the state. */
const PATIENCE = 2_000;

/** What a command can manage in a Redis, beside the gateways that share it. */
export interface Beside extends Records {
  readonly state: State;
  readonly close: () => void;
}

/** Opens what commands need beside running gateways. Throws RedisError, and leaves nothing open then. */
export async function openBeside(settings: RedisSettings, audit: AuditSettings): Promise<Beside> {
  return beside(await connect(settings), settings, audit);
}

/**
 * Opens what the primary needs: it serves operators while its workers carry the requests. Checks that Redis can do what the
 * workers need. Throws RedisError, and leaves nothing open then.
 */
export async function openForWorkers(
  settings: RedisSettings,
  { observe, audit }: { observe: Observe; audit: AuditSettings },
): Promise<Beside & { readonly kind: string }> {
  const redis = await connect(settings);
  try {
    const stopWatching = await check(redis, observe);
    const opened = beside(redis, settings, audit);
    const close = () => {
      stopWatching();
      opened.close();
    };
    return { ...opened, close, kind: kindOf(settings) };
  } catch (error) {
    disconnect(redis);
    throw error;
  }
}

function beside(redis: Connection, settings: RedisSettings, { keep }: AuditSettings): Beside {
  const breakers = createCircuitBreakers(shardsOf(redis), settings, () => {});
  // Nothing is remembered here that a change elsewhere could make wrong, so nobody listens.
  const bus = { listen: () => () => {}, close: () => {} };
  return {
    ...recordsInRedis(redis, { bus, breakers, deadline: PATIENCE, keep }),
    state: new RedisState(redis, { deadline: PATIENCE }),
    close() {
      breakers.close();
      disconnect(redis);
    },
  };
}

export interface OpenOptions {
  readonly observe: Observe;
  readonly audit: AuditSettings;
  /**
   * How many workers this gateway has. Each opens the state for itself. While Redis is away each gives out its share, all
   * together what one process would. The primary that started them has checked Redis already.
   */
  readonly workers?: number;
  /** For tests: milliseconds until the settings of Redis are looked at again. */
  readonly lookAgain?: number;
}

/** Opens the state that several gateways share. Throws RedisError, and leaves nothing open then. */
export async function openRedis(
  settings: RedisSettings,
  { observe, audit, workers = 1, lookAgain }: OpenOptions,
): Promise<Storage> {
  const redis = await connect(settings);
  const ends = [() => disconnect(redis)];
  const end = () => {
    for (const one of ends.splice(0).reverse()) one();
  };
  try {
    if (workers === 1) ends.push(await check(redis, observe, lookAgain));
    const id = randomUUID();
    const bus = await openBus(redis, observe);
    ends.push(bus.close);
    const tellCut = (isCut: boolean) => observe({ type: 'state.connection', of: 'requests', isCut });
    whenCut(redis, () => tellCut(true));
    redis.on('ready', () => tellCut(false));
    const gateways = await announce(redis, id);
    const breakers = createCircuitBreakers(shardsOf(redis), settings, observe);
    const { deadline } = settings;
    const state = new SharedState({
      backend: new RedisState(redis, { deadline }),
      breakers,
      bus,
      settings: { ...settings, divide: settings.divide || workers > 1 },
      gateway: id,
      gateways: () => (settings.divide ? Math.max(gateways.count(), workers) : workers),
      observe,
    });
    return {
      state,
      ...recordsInRedis(redis, { bus, breakers, deadline, keep: audit.keep }),
      recheckKeysAfter: settings.keysFor,
      kind: kindOf(settings),
      ready: () => settings.readyWhenAway || !breakers.away,
      unsavedFor: () => 0,
      async close() {
        await state.close();
        breakers.close();
        await gateways.close();
        end();
      },
    };
  } catch (error) {
    end();
    throw error instanceof RedisError ? error : unusable(error);
  }
}

/** Tells the warnings there are, and from then on each new one. Returns a function that ends this. */
async function check(redis: Connection, observe: Observe, lookAgain?: number): Promise<() => void> {
  const tell = (warning: string) => observe({ type: 'state.warning', warning });
  const warnings = await checkRedis(redis);
  for (const warning of warnings) tell(warning);
  return watchWarnings(redis, warnings, tell, lookAgain);
}

/** What kind of state it is, in words for people. */
export function kindOf({ topology }: RedisSettings): string {
  return `redis, ${topology}`;
}

/** Names a Redis for people, without user and password. */
export function redisName({ url }: Pick<RedisSettings, 'url'>): string {
  const { host, pathname } = new URL(url);
  const database = pathname.length > 1 ? `, database ${pathname.slice(1)}` : '';
  return `Redis at ${host}${database}`;
}
