import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MINUTE } from '../../common/time.ts';
import type { AuditSettings, RedisSettings } from '../../config/config.ts';
import type { Observe } from '../../observe/events.ts';
import type { Peers } from '../../observe/peers/peers.ts';
import { throttle } from '../../observe/throttle.ts';
import { addressWindowsIn } from '../../state/redis/address-windows.ts';
import {
  type Connection,
  connect,
  disconnect,
  outageText,
} from '../../state/redis/client.ts';
import { createRedisState } from '../../state/redis/counters.ts';
import { peersInRedis } from '../../state/redis/peers.ts';
import { shardsOf } from '../../state/redis/shards.ts';
import {
  createSubscriber,
  type Subscriber,
} from '../../state/redis/subscriber.ts';
import { usageInRedis } from '../../state/redis/usage.ts';
import {
  createRowWriter,
  type RowWriter,
} from '../../state/rows/row-writer.ts';
import { createCircuitBreakers } from '../../state/shared/circuit-breakers.ts';
import { createStateClock } from '../../state/shared/clock.ts';
import { lastKnownCountersIn } from '../../state/shared/last-known-counters.ts';
import { createSharedState } from '../../state/shared/shared-state.ts';
import { usageInFolder } from '../../state/usage-folder.ts';
import type { KeysAsOf } from '../keys/store.ts';
import type { LastKnown, Storage } from '../storage.ts';
import { COPY_FILE } from './copy.ts';
import { epochOf } from './epoch.ts';
import { recordsInRedis } from './records.ts';
import { createRecordsCopy, type RecordsCopy } from './records-copy.ts';
import { claimData, shardsAfter, startRedis } from './start.ts';

/** Milliseconds. */
const COMMAND_WAIT = 2_000;
const WARNING_INTERVAL = MINUTE;
/** Milliseconds between two notes of the number of gateways. */
const COUNT_INTERVAL = 5_000;

/**
 * For a command. It uses the copy of the records in the data folder if a gateway has made one.
 * Throws RedisError after closing all connections.
 */
export async function openOffline(
  settings: RedisSettings,
  audit: AuditSettings,
  folder: string,
) {
  const redis = await connect(settings, claimData);
  const breakers = createCircuitBreakers(shardsOf(redis), settings, () => {});
  const epoch = epochOf(redis, { lost: () => {} });
  const copy = createRecordsCopy({
    folder: existsSync(join(folder, COPY_FILE)) ? folder : null,
    source: nameOf(settings),
    maxAge: 0,
    isWorker: false,
    isLazy: true,
    failed: process.emitWarning as (error: unknown) => void,
    invalid: (what) => process.emitWarning(invalidIn(what)),
  });
  copy.follow({
    redis,
    epoch,
    bus: { listen: () => () => {}, isLive: false },
    lost: () => {},
    checkReadable: () => {},
  });
  const parts = { copy, epoch, breakers, audit, isFit: () => true };
  let subscriber: Subscriber | null = null;
  return {
    ...recordsInRedis(redis, parts),
    state: createRedisState(redis, { deadline: COMMAND_WAIT }),
    outbox: outboxIn(redis),
    ledger: usageInRedis(redis),
    peers(): Peers {
      subscriber ??= createSubscriber(redis);
      return peersInRedis(redis, subscriber, { self: null, failed: () => {} });
    },
    async close() {
      await copy.close();
      breakers.close();
      subscriber?.close();
      disconnect(redis);
    },
  };
}

interface OpenOptions {
  readonly observe: Observe;
  readonly audit: AuditSettings;
  /** `null`: the copy of the records is in memory. */
  readonly folder?: string | null;
  /**
   * Number of workers, each with its own state. During an outage each admits its share of the
   * limits. The primary checks Redis and writes the copy of the records.
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
  const { enabled, maxAge } = settings.keyCache;
  const place = enabled ? folder : null;
  const failed = warn(
    observe,
    `cannot keep a copy of the keys in ${place ?? 'memory'}`,
  );
  const copy = createRecordsCopy({
    folder: place,
    source: nameOf(settings),
    maxAge,
    isWorker,
    failed,
    invalid: (what) =>
      observe({ type: 'state.warning', warning: invalidIn(what) }),
  });
  const started = await startRedis(settings, {
    ...options,
    id,
    isWorker,
    copy,
  }).catch(async (error: unknown) => {
    await copy.close();
    throw error;
  });
  const { redis, subscriber, gateways } = started;
  const counting = setInterval(
    () => copy.noteGateways(gateways.count()),
    COUNT_INTERVAL,
  ).unref();
  return {
    started,
    copy,
    parts: {
      kind: kindOf(settings),
      join: (self, failed) => peersInRedis(redis, subscriber, { self, failed }),
      outbox: outboxIn(redis),
      ledger: usageInRedis(redis),
      ...(!isWorker && enabled && { keyCacheAge: () => copy.age }),
    } satisfies Partial<Storage>,
    async close() {
      clearInterval(counting);
      await copy.close();
      await started.close();
    },
  };
}

/**
 * For the primary, which serves operators, checks Redis for the workers and writes the copy of the
 * records. Throws RedisError after closing all connections.
 */
export async function openForWorkers(
  settings: RedisSettings,
  {
    bans,
    ...options
  }: Omit<OpenOptions, 'worker' | 'workers'> & Pick<LastKnown, 'bans'>,
) {
  const { started, copy, parts, close } = await open(settings, options, null);
  const { redis, epoch, checks } = started;
  const breakers = createCircuitBreakers(shardsOf(redis), settings, () => {});
  return {
    ...recordsInRedis(redis, {
      copy,
      epoch,
      breakers,
      audit: options.audit,
      isFit: () => checks.passed,
    }),
    state: createRedisState(redis, { deadline: COMMAND_WAIT }),
    ...parts,
    lastKnown: { keys: () => lastKnownKeys(copy), bans },
    outageText: () => outageText(redis),
    async close() {
      breakers.close();
      await close();
    },
  };
}

function lastKnownKeys(copy: RecordsCopy): KeysAsOf | null {
  const model = copy.lastKnown;
  return model && { asOf: copy.progress!.confirmedAt, ...model.keys };
}

/** Throws RedisError after closing all connections. */
export async function openRedis(
  settings: RedisSettings,
  options: OpenOptions,
): Promise<Storage> {
  const { observe, audit, folder = null, worker = 1, workers = 1 } = options;
  const id = randomUUID();
  const { started, copy, parts, close } = await open(settings, options, id);
  const { redis, bus, gateways, absence, checks, epoch } = started;
  const breakers = createCircuitBreakers(
    shardsAfter(checks, shardsOf(redis)),
    settings,
    observe,
  );
  if (absence) breakers.open(absence);
  const { deadline } = settings;
  const writer = folder === null ? null : createRowWriter(folder);
  const lastKnown =
    writer === null || settings.onOutage !== 'local'
      ? null
      : lastKnownCountersIn({
          folder: folder!,
          writer,
          worker,
          workers,
          failed: warn(
            observe,
            `cannot store last-known counters in ${folder}`,
          ),
        });
  const ledgerSpool = writer && spoolIn(folder!, writer, observe);
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
  const records = recordsInRedis(redis, {
    copy,
    epoch,
    breakers,
    audit,
    isFit: () => checks.passed,
  });
  // What was appended meanwhile is read before the next interval.
  const stopRecovering = breakers.onRecovery(copy.wake);
  return {
    state,
    openAddressWindow: addressWindowsIn(redis, {
      workers,
      deadline,
      isDown: () => breakers.anyOpen,
    }),
    ...records,
    onBan: (listen) => state.onBan(listen),
    ready: () => settings.readyDuringOutage || !breakers.anyOpen,
    unsavedFor: () => 0,
    lastKnown: {
      keys: () => lastKnownKeys(copy),
      bans: () => state.bansAsOf,
    },
    outageText: () => outageText(redis),
    ...(ledgerSpool && { ledgerSpool }),
    ...parts,
    async close() {
      stopRecovering();
      await Promise.all([ledgerSpool?.close(), state.close()])
        .finally(() => writer?.close())
        .finally(() => {
          breakers.close();
          return close();
        });
    },
  };
}

function spoolIn(folder: string, writer: RowWriter, observe: Observe) {
  return usageInFolder(
    folder,
    writer,
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

const invalidIn = (what: string) =>
  `${what} in Redis is not valid, and is left out: delete it, or restore it from a backup`;

/** Identifies a Redis, without user and password. */
function nameOf({ topology, url, master }: RedisSettings): string {
  const { host, pathname } = new URL(url);
  return JSON.stringify([
    topology,
    host,
    pathname.slice(1) || '0',
    topology === 'sentinel' ? master : null,
  ]);
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
