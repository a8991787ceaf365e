import { randomUUID } from 'node:crypto';
import { MINUTE } from '../../common/time.ts';
import type { AuditSettings, RedisSettings } from '../../config/config.ts';
import type { Observe } from '../../observe/events.ts';
import type { Peers } from '../../observe/peers/peers.ts';
import { throttle } from '../../observe/throttle.ts';
import { ledgerInFolder } from '../../state/ledger-folder.ts';
import { callerWindowsIn } from '../../state/redis/caller-windows.ts';
import {
  type Connection,
  connect,
  disconnect,
} from '../../state/redis/client.ts';
import { createRedisState } from '../../state/redis/counters.ts';
import { ledgerInRedis } from '../../state/redis/ledger.ts';
import { peersInRedis } from '../../state/redis/peers.ts';
import { shardsOf } from '../../state/redis/shards.ts';
import {
  createSubscriber,
  type Subscriber,
} from '../../state/redis/subscriber.ts';
import { createCircuitBreakers } from '../../state/shared/circuit-breakers.ts';
import { createStateClock } from '../../state/shared/clock.ts';
import { lastKnownCountersIn } from '../../state/shared/last-known-counters.ts';
import { createSharedState } from '../../state/shared/shared-state.ts';
import {
  createKeyCache,
  keysWithCache,
  tokensWithCache,
} from '../key-cache/key-cache.ts';
import { createKeyCacheSynchronizer } from '../key-cache/synchronizer.ts';
import type { Storage } from '../storage.ts';
import { maintainKeyIndex } from './key-index-repair.ts';
import { textAt } from './key-records.ts';
import { keySource, nameOf } from './key-source.ts';
import { recordsInRedis } from './records.ts';
import { claimData, shardsAfter, startRedis } from './start.ts';

/** Milliseconds. */
const COMMAND_WAIT = 2_000;
const WARNING_INTERVAL = MINUTE;

/** Throws RedisError after closing all connections. */
export async function openOffline(
  settings: RedisSettings,
  audit: AuditSettings,
) {
  const redis = await connect(settings, claimData);
  const managed = openManaged(redis, settings, audit);
  let subscriber: Subscriber | null = null;
  return {
    ...managed,
    outbox: outboxIn(redis),
    ledger: ledgerInRedis(redis),
    peers(): Peers {
      subscriber ??= createSubscriber(redis);
      return peersInRedis(redis, subscriber, { self: null, failed: () => {} });
    },
    close() {
      managed.close();
      subscriber?.close();
      disconnect(redis);
    },
  };
}

/** Nothing is cached, so no messages about changes are needed. */
function openManaged(
  redis: Connection,
  settings: RedisSettings,
  audit: AuditSettings,
) {
  const breakers = createCircuitBreakers(shardsOf(redis), settings, () => {});
  const bus = { listen: () => () => {}, isLive: false };
  return {
    ...recordsInRedis(redis, {
      bus,
      breakers,
      deadline: COMMAND_WAIT,
      audit,
      isFit: () => true,
      lookUp: (name) => textAt(redis, name),
    }),
    state: createRedisState(redis, { deadline: COMMAND_WAIT }),
    close: () => breakers.close(),
  };
}

interface OpenOptions {
  readonly observe: Observe;
  readonly audit: AuditSettings;
  /** `null`: no key copy. */
  readonly folder?: string | null;
  /**
   * Number of workers, each with its own state. During an outage each admits its share of the
   * limits. The primary checks Redis and maintains the key copy.
   */
  readonly workers?: number;
  /** From 1. */
  readonly worker?: number;
  /** For tests: milliseconds. */
  readonly lookAgain?: number;
}

async function open(
  settings: RedisSettings,
  options: OpenOptions,
  id: string | null,
) {
  const { observe, folder = null, workers = 1 } = options;
  const isWorker = workers > 1;
  const { enabled, maxAge, resyncInterval } = settings.keyCache;
  const cache =
    folder !== null && enabled
      ? createKeyCache({
          folder,
          source: nameOf(settings),
          maxAge,
          failed: warn(observe, `cannot read the copy of keys in ${folder}`),
        })
      : null;
  const started = await startRedis(settings, {
    ...options,
    id,
    isWorker,
    copy: cache,
  }).catch((error: unknown) => {
    cache?.close();
    throw error;
  });
  const { redis, subscriber, bus, checks, data } = started;
  // Does nothing while another process maintains the copy.
  const synchronizer =
    cache && !isWorker
      ? createKeyCacheSynchronizer({
          folder: folder!,
          bus,
          sweep: resyncInterval,
          source: keySource(redis, settings, () => checks.passed, data),
          failed: warn(observe, `cannot keep a copy of the keys in ${folder}`),
        })
      : null;
  const stopIndexing = isWorker
    ? () => {}
    : maintainKeyIndex(redis, {
        isFit: () => checks.passed,
        failed: warn(observe, 'cannot index the keys in Redis'),
      });
  return {
    started,
    cache,
    synchronizer,
    parts: {
      kind: kindOf(settings),
      join: (self, failed) => peersInRedis(redis, subscriber, { self, failed }),
      outbox: outboxIn(redis),
      ledger: ledgerInRedis(redis),
      ...(synchronizer && { keyCacheAge: () => cache!.age }),
    } satisfies Partial<Storage>,
    async close() {
      stopIndexing();
      synchronizer?.close();
      cache?.close();
      await started.close();
    },
  };
}

/**
 * For the primary, which serves operators, checks Redis for the workers and maintains the key copy.
 * Throws RedisError after closing all connections.
 */
export async function openForWorkers(
  settings: RedisSettings,
  options: Omit<OpenOptions, 'worker' | 'workers'>,
) {
  const { started, cache, parts, close } = await open(settings, options, null);
  const managed = openManaged(started.redis, settings, options.audit);
  return {
    ...managed,
    ...parts,
    tokens: cache ? tokensWithCache(managed.tokens, cache) : managed.tokens,
    // Only workers know bans.
    lastKnown: { keys: () => cache?.asOf ?? null, bans: () => null },
    close() {
      managed.close();
      void close();
    },
  };
}

/** Throws RedisError after closing all connections. */
export async function openRedis(
  settings: RedisSettings,
  options: OpenOptions,
): Promise<Storage> {
  const { observe, audit, folder = null, worker = 1, workers = 1 } = options;
  const id = randomUUID();
  const { started, cache, synchronizer, parts, close } = await open(
    settings,
    options,
    id,
  );
  const { redis, bus, gateways, absence, checks, data } = started;
  const breakers = createCircuitBreakers(
    shardsAfter(checks, shardsOf(redis)),
    settings,
    observe,
  );
  if (absence) breakers.open(absence);
  const { deadline } = settings;
  const lastKnown =
    folder === null || settings.onOutage !== 'local'
      ? null
      : lastKnownCountersIn({
          folder,
          worker,
          workers,
          failed: warn(
            observe,
            `cannot store last-known counters in ${folder}`,
          ),
        });
  const ledgerSpool = spoolIn(folder, observe);
  const clock = createStateClock();
  const remote = createRedisState(redis, { deadline, estimate: clock.read });
  // After a failure, the first list of bans does this.
  if (!absence) await remote.prepareBans().catch(() => {});
  const state = createSharedState({
    remote,
    clock,
    breakers,
    bus,
    observe,
    lastKnown,
    gateway: id,
    settings: {
      ...settings,
      shareRemaining: settings.shareRemaining || workers > 1,
    },
    gateways: () =>
      settings.shareRemaining ? Math.max(gateways.count(), workers) : workers,
  });
  const isFit = () => checks.passed;
  const records = recordsInRedis(redis, {
    bus,
    breakers,
    deadline,
    audit,
    isFit,
    lookUp: data.lookUp,
  });
  const stopListening = bus.listen((message) => {
    if (message.type === 'key') cache?.doubt(message.hash);
  });
  return {
    state,
    openCallerWindow: callerWindowsIn(redis, {
      workers,
      isDown: () => breakers.anyOpen,
    }),
    ...records,
    keys: cache
      ? keysWithCache(records.keys, {
          cache,
          refresh: (hash) => synchronizer?.refresh(hash),
        })
      : records.keys,
    tokens: cache ? tokensWithCache(records.tokens, cache) : records.tokens,
    onBan: (hear) => state.onBan(hear),
    recheckKeysAfter: settings.keyCacheTtl,
    ready: () => settings.readyDuringOutage || !breakers.anyOpen,
    unsavedFor: () => 0,
    lastKnown: { keys: () => cache?.asOf ?? null, bans: () => state.bansAsOf },
    ...(ledgerSpool && { ledgerSpool }),
    ...parts,
    async close() {
      stopListening();
      await ledgerSpool?.close();
      await state.close();
      breakers.close();
      await close();
    },
  };
}

function spoolIn(folder: string | null, observe: Observe) {
  if (folder === null) return null;
  return ledgerInFolder(
    folder,
    warn(observe, `cannot keep usage in ${folder}`),
  );
}

/** For errors of local copies. */
function warn(observe: Observe, what: string): (error: unknown) => void {
  const throttled = throttle(WARNING_INTERVAL);
  return (error) => {
    if (throttled(what) === null) return;
    observe({
      type: 'state.warning',
      warning: `${what}: ${error instanceof Error ? error.message : String(error)}`,
    });
  };
}

function outboxIn(redis: Connection): Storage['outbox'] {
  return async () => (await import('./outbox.ts')).outboxInRedis(redis);
}

export function kindOf({ topology }: RedisSettings): string {
  return `redis, ${topology}`;
}

/** Without user and password. */
export function redisName({ url }: Pick<RedisSettings, 'url'>): string {
  const { host, pathname } = new URL(url);
  const database = pathname.length > 1 ? `, database ${pathname.slice(1)}` : '';
  return `Redis at ${host}${database}`;
}
