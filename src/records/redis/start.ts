import { randomUUID } from 'node:crypto';
import { Outage } from '../../common/errors/outage.ts';
import { MINUTE } from '../../common/time.ts';
import type { RedisSettings } from '../../config/config.ts';
import type { Observe } from '../../observe/events.ts';
import { mastersOf } from '../../state/redis/bulk.ts';
import {
  type Connection,
  disconnect,
  onDisconnect,
  openConnection,
  START_TIMEOUT,
  untilReady,
} from '../../state/redis/client.ts';
import { markData, otherFormat } from '../../state/redis/data-mark.ts';
import { isReplyError, messages, RedisError } from '../../state/redis/error.ts';
import { CHANNEL, keyOf, PROBE_TTL } from '../../state/redis/key-names.ts';
import { joinGateways } from '../../state/redis/peers.ts';
import { loadScript } from '../../state/redis/scripts.ts';
import {
  createBus,
  createSubscriber,
  subjectChanged,
} from '../../state/redis/subscriber.ts';
import { timeOf } from '../../state/redis/time.ts';
import type { Shards } from '../../state/shared/remote-state.ts';
import { epochOf } from './epoch.ts';
import { tryReading } from './follower.ts';
import type { RecordsCopy } from './records-copy.ts';

/** The first version whose scripts may write after reading the clock, and replicate effects. */
const MIN_VERSION = '6.2';
/** Milliseconds. Operators change settings at run time. */
const WARNING_INTERVAL = MINUTE;
/** Milliseconds. */
const CLOCK_TOLERANCE = 5_000;

/** Milliseconds, if the gateway can start without Redis. */
const FIRST_CHECK_TIMEOUT = 2_000;
/** Milliseconds: timeout of a repeated check, and delay between checks. */
const CHECK_INTERVAL = 200;

interface StartOptions {
  readonly observe: Observe;
  /** `null`: not counted as a gateway, because its workers are. */
  readonly id: string | null;
  /** The primary process reports for its workers. */
  readonly isWorker: boolean;
  /** Of the records. If it cannot be used, the gateway cannot start during an outage. */
  readonly copy: RecordsCopy;
  /** For tests: milliseconds. */
  readonly lookAgain?: number;
}

/**
 * Waits for the first check. If Redis is down and the key copy is usable, startup completes and the
 * checks continue. Any other failure throws RedisError after closing all connections. `absence`
 * `null`: Redis was available.
 */
export async function startRedis(
  settings: RedisSettings,
  options: StartOptions,
) {
  const { copy, isWorker, observe } = options;
  const started = open(settings, options);
  const missing = copy.unusable;
  try {
    await started.checks.first(
      missing === null ? FIRST_CHECK_TIMEOUT : START_TIMEOUT,
    );
    return { ...started, absence: null };
  } catch (error) {
    const absence = error as RedisError;
    if (absence.isUnreachable && missing === null) {
      if (!isWorker)
        observe({
          type: 'state.unavailable_at_start',
          reason: absence.message,
          copyAge: copy.age,
        });
      observe({ type: 'state.connection', of: 'requests', isCut: true });
      observe({ type: 'state.connection', of: 'messages', isCut: true });
      void started.checks.untilPassed();
      return { ...started, absence };
    }
    await started.close();
    if (!absence.isUnreachable || missing === null) throw absence;
    throw new RedisError(`${absence.message}; ${missing}`, {
      cause: absence.cause,
      isUnreachable: true,
    });
  }
}

function open(
  settings: RedisSettings,
  { observe, id, isWorker, copy, lookAgain }: StartOptions,
) {
  const redis = openConnection(settings);
  onDisconnect(redis, () =>
    observe({ type: 'state.connection', of: 'requests', isCut: true }),
  );
  redis.on('ready', () =>
    observe({ type: 'state.connection', of: 'requests', isCut: false }),
  );
  const subscriber = createSubscriber(redis);
  const bus = createBus(subscriber, observe);
  // Each worker finds out, and the primary process reports it.
  const warn = (warning: string) => {
    if (!isWorker) observe({ type: 'state.warning', warning });
  };
  const lost = () => {
    observe({ type: 'state.data_lost' });
    warn(DATA_LOST);
  };
  const doubted = (isDoubted: boolean) => {
    observe({ type: 'state.data_doubted', isDoubted });
    if (isDoubted) warn(DATA_DOUBTED);
    copy.changed();
  };
  const before = copy.progress?.epoch || null;
  const epoch = epochOf(redis, { lost, doubted, before });
  const gateways =
    id === null
      ? null
      : joinGateways(redis, keyOf.gateways, id, copy.progress?.gateways);
  let stopReporting = () => {};
  async function check(patience: number) {
    await untilReady(redis, settings, patience);
    const warnings = await checkRedis(redis, settings);
    await bus.begun(patience);
    await epoch.begin();
    await gateways?.announce();
    if (!isWorker && !checks.isStopped) {
      const look = async () => [
        ...warningsIn(await infosOf(redis)),
        ...(await clockWarning(redis)),
      ];
      stopReporting = reportWarnings(warnings, look, observe, lookAgain);
    }
  }
  const checks = startChecks(check, isWorker ? () => {} : observe);
  copy.follow({
    redis,
    epoch,
    bus,
    lost,
    checkReadable() {
      if (!checks.passed)
        throw new Outage('state_unavailable', {
          cause: 'Redis has not been checked yet',
        });
    },
  });
  void checks.whenPassed.then(copy.wake);
  return {
    redis,
    subscriber,
    bus,
    epoch,
    checks,
    gateways: { count: () => gateways?.count() ?? 1 },
    async close() {
      checks.stop();
      stopReporting();
      await gateways?.close();
      subscriber.close();
      disconnect(redis);
    },
  };
}

const DATA_DOUBTED =
  'Redis may have come up without its data: restore it, or what it has is used after 30 s';
const DATA_LOST =
  'Redis has lost its data, or was emptied: keys that it does not have are unknown from now on';

/** `check` waits at most `patience` milliseconds. */
function startChecks(
  check: (patience: number) => Promise<void>,
  observe: Observe,
) {
  let reported: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  const passed = Promise.withResolvers<void>();
  const checks = {
    passed: false,
    isStopped: false,
    whenPassed: passed.promise,
    /** Throws RedisError. */
    async first(patience: number) {
      try {
        await check(patience);
        checks.passed = !checks.isStopped;
        if (checks.passed) passed.resolve();
      } catch (error) {
        throw unusable(error);
      }
    },
    /** Reports each new reason why a responding Redis cannot be used. */
    async untilPassed() {
      try {
        await checks.first(CHECK_INTERVAL);
      } catch (error) {
        if (checks.isStopped) return;
        const { isUnreachable, message } = error as RedisError;
        if (!isUnreachable && message !== reported) {
          reported = message;
          observe({ type: 'state.incompatible', reason: message });
        }
        timer = setTimeout(
          () => void checks.untilPassed(),
          CHECK_INTERVAL,
        ).unref();
      }
    },
    stop() {
      checks.isStopped = true;
      clearTimeout(timer);
    },
  };
  return checks;
}

/** Until Redis has passed the checks, it is one shard that is down. */
export function shardsAfter(
  checks: { readonly passed: boolean },
  shards: Shards,
): Shards {
  return {
    shardOf: (name) => (checks.passed ? shards.shardOf(name) : ''),
    async probe(name) {
      if (!checks.passed)
        throw new Error('Redis has not passed the checks of a start yet');
      await shards.probe(name);
    },
    reasonOf: shards.reasonOf,
  };
}

/**
 * Returns warnings. Throws if Redis lacks what the gateway needs; `unusable` explains the error.
 */
export async function checkRedis(
  redis: Connection,
  settings: RedisSettings,
): Promise<string[]> {
  const infos = await infosOf(redis);
  for (const info of infos) checkVersion(info);
  await rejectUnfinishedImport(redis);
  await rejectOtherFormat(redis);
  await tryScript(redis);
  return [
    ...warningsIn(infos),
    ...(await clockWarning(redis)),
    ...(await latencyWarning(redis, settings)),
  ];
}

/** Limits and bans follow the clock of Redis, so that they are exact all the same. */
async function clockWarning(redis: Connection): Promise<string[]> {
  const before = Date.now();
  const time = await timeOf(redis);
  const isAhead = before - time > CLOCK_TOLERANCE;
  if (!isAhead && time - Date.now() <= CLOCK_TOLERANCE) return [];
  return [
    `the clock of this machine is more than 5 s ${isAhead ? 'ahead of' : 'behind'} that of Redis: ` +
      'correct it, because keys expire by it, and usage is booked by it',
  ];
}

/** Under load a decision takes longer than the fastest of some calls. */
async function latencyWarning(
  redis: Connection,
  { deadline }: RedisSettings,
): Promise<string[]> {
  let fastest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 3; i++) {
    const start = performance.now();
    await redis.ping();
    fastest = Math.min(fastest, performance.now() - start);
  }
  if (fastest < deadline / 2) return [];
  return [
    `Redis responds in ${Math.ceil(fastest)} ms, and requests wait for it ${deadline} ms (redis.deadline): ` +
      'raise that, or they are decided without Redis',
  ];
}

function warningsIn(infos: readonly string[]): string[] {
  return [...new Set(infos.flatMap(evictionWarning))];
}

/** Reports the first warnings, and each new one of `look`. Returns a function that stops it. */
function reportWarnings(
  first: readonly string[],
  look: () => Promise<string[]>,
  observe: Observe,
  every = WARNING_INTERVAL,
) {
  let names: readonly string[] = [];
  const report = (found: readonly string[]) => {
    for (const warning of found)
      if (!names.includes(warning)) observe({ type: 'state.warning', warning });
    names = found;
  };
  report(first);
  // During an outage, requests report it.
  const timer = setInterval(() => look().then(report, () => {}), every).unref();
  return () => clearInterval(timer);
}

/** Empty for a user without the right to INFO. */
function infosOf(redis: Connection): Promise<string[]> {
  const empty = (error: unknown) => {
    if (isReplyError(error)) return '';
    throw error;
  };
  return Promise.all(mastersOf(redis).map((node) => node.info().catch(empty)));
}

function checkVersion(info: string): void {
  const version = /^redis_version:(\S+)/m.exec(info)?.[1];
  if (version === undefined) return;
  if (version.localeCompare(MIN_VERSION, 'en', { numeric: true }) < 0)
    throw new RedisError(
      `Redis ${version} is too old: the gateway needs ${MIN_VERSION} or later`,
    );
}

async function rejectUnfinishedImport(redis: Connection): Promise<void> {
  if ((await redis.exists(keyOf.unfinishedImport)) === 0) return;
  throw new RedisError(
    'an import into this Redis was not finished: run it again, which starts it over, or use another Redis',
  );
}

/** Throws RedisError before any change of the data. */
async function rejectOtherFormat(redis: Connection): Promise<void> {
  const fault = await otherFormat(redis);
  if (fault !== null) throw new RedisError(fault);
}

/** For a process that writes records without a start. Throws RedisError. */
export async function claimData(redis: Connection): Promise<void> {
  try {
    await rejectOtherFormat(redis);
    await markData(redis);
  } catch (error) {
    throw unusable(error);
  }
}

function evictionWarning(info: string): string[] {
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'noeviction';
  const maximum = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0);
  if (policy === 'noeviction' || maximum === 0) return [];
  return [
    `Redis may drop bans, counters and keys when its memory is full: set maxmemory-policy to noeviction, not ${policy}`,
  ];
}

/** Uses the permissions and key names that requests need. */
async function tryScript(redis: Connection): Promise<void> {
  const name = randomUUID();
  // A subject that no gateway has: another message could make all gateways read their keys again.
  const message = subjectChanged(name);
  const reset = loadScript('reset-1.lua');
  await reset(redis, [keyOf.counters(name)], [CHANNEL, message]);
  await redis.set(keyOf.probe(name), '', 'PX', PROBE_TTL);
  // As clients without a valid key are counted.
  await redis.multi().pttl(keyOf.probe(name)).exec();
  await tryReading(redis);
}

/** The reason why a check failed. */
export function unusable(error: unknown): RedisError {
  if (error instanceof RedisError) return error;
  const message = messages(error instanceof Outage ? error.cause : error);
  if (/NOPERM|NOAUTH|ACL|permission|can't run this command/i.test(message))
    return new RedisError(`the Redis user lacks a permission: ${message}`, {
      cause: error,
    });
  return new RedisError(
    `Redis does not do what the gateway needs: ${message}`,
    {
      cause: error,
      isUnreachable: true,
    },
  );
}
