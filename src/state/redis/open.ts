import { randomUUID } from 'node:crypto';
import type { AuditSettings, RedisSettings } from '../../config/config.ts';
import type { Observe } from '../../observe/events.ts';
import type { Fleet } from '../../observe/peers/fleet.ts';
import { createCircuitBreakers } from '../shared/circuit-breakers.ts';
import { keysWithCopy, tokensWithCopy } from '../shared/key-copy/keys-with-copy.ts';
import { SharedState } from '../shared/shared-state.ts';
import type { State } from '../state.ts';
import type { Join, Records, Storage } from '../storage.ts';
import { type Connection, connect } from './client.ts';
import { RedisState } from './counters.ts';
import { fleetInRedis } from './fleet.ts';
import { keepKeyCopy, keepStandings, openKeyCopy } from './kept.ts';
import { textIn } from './key-change.ts';
import { disconnect, whenCut } from './lasting.ts';
import { shardsAfter } from './late-checks.ts';
import { recordsInRedis } from './records.ts';
import { shardsOf } from './shards.ts';
import { startOn } from './start.ts';

/** Milliseconds that a command may wait for the state. */
const PATIENCE = 2_000;

/** What a command can manage in a Redis, beside the gateways that share it. */
export interface Beside extends Records {
  readonly state: State;
  /** The gateways that run, to be asked by a command. */
  readonly fleet: () => Fleet;
  readonly outbox: Storage['outbox'];
  readonly close: () => void;
}

/** Opens what commands need beside running gateways. Throws RedisError, and leaves nothing open then. */
export async function openBeside(settings: RedisSettings, audit: AuditSettings): Promise<Beside> {
  return beside(await connect(settings), settings, audit);
}

export interface OpenOptions {
  readonly observe: Observe;
  readonly audit: AuditSettings;
  /** The data folder, for the copy of the keys; `null`: no copy is kept. */
  readonly folder?: string | null;
  /**
   * How many workers this gateway has. Each opens the state for itself. While Redis is away each gives out its share, all
   * together what one process would. The primary that started them checks Redis, and keeps the copy of the keys.
   */
  readonly workers?: number;
  /** Which of them this one is, from 1. */
  readonly worker?: number;
  /** For tests: milliseconds until the settings of Redis are looked at again. */
  readonly lookAgain?: number;
}

/**
 * Opens what the primary needs: it serves operators while its workers carry the requests. Checks that Redis can do what the
 * workers need, and keeps the copy of its keys. Throws RedisError, and leaves nothing open then.
 */
export async function openForWorkers(
  settings: RedisSettings,
  { observe, audit, folder = null }: Omit<OpenOptions, 'worker' | 'workers'>,
): Promise<Beside & Pick<Storage, 'kind' | 'keyCopyAge' | 'lastKnown' | 'join'>> {
  const copy = openKeyCopy(settings, folder, observe);
  try {
    const started = await startOn(settings, { observe, id: null, isWorker: false, copy });
    const keeper = copy && keepKeyCopy(started, settings, { folder: folder!, observe });
    const opened = beside(started.redis, settings, audit);
    return {
      ...opened,
      tokens: copy ? tokensWithCopy(opened.tokens, copy) : opened.tokens,
      kind: kindOf(settings),
      join: joinIn(started.redis),
      // The workers know of bans.
      lastKnown: { keys: () => copy?.asOf ?? null, bans: () => null },
      ...(copy ? { keyCopyAge: () => copy.age } : {}),
      close() {
        keeper?.close();
        copy?.close();
        opened.close();
        void started.close();
      },
    };
  } catch (error) {
    copy?.close();
    throw error;
  }
}

function beside(redis: Connection, settings: RedisSettings, audit: AuditSettings): Beside {
  const breakers = createCircuitBreakers(shardsOf(redis), settings, () => {});
  // Nothing is remembered here that a change elsewhere could make wrong, so nobody listens.
  const bus = { listen: () => () => {}, isLive: false, close: () => {} };
  return {
    ...recordsInRedis(redis, { bus, breakers, deadline: PATIENCE, audit, isFit: () => true, lookUp: textIn(redis) }),
    state: new RedisState(redis, { deadline: PATIENCE }),
    fleet: () => fleetInRedis(redis, { self: null, failed: () => {} }),
    outbox: outboxIn(redis),
    close() {
      breakers.close();
      disconnect(redis);
    },
  };
}

/** Opens the state that several gateways share. Throws RedisError, and leaves nothing open then. */
export async function openRedis(settings: RedisSettings, options: OpenOptions): Promise<Storage> {
  const { observe, audit, folder = null, worker = 1, workers = 1, lookAgain } = options;
  const isWorker = workers > 1;
  const copy = openKeyCopy(settings, folder, observe);
  const id = randomUUID();
  const started = await startOn(settings, {
    observe,
    id,
    isWorker,
    copy,
    ...(lookAgain === undefined ? {} : { lookAgain }),
  }).catch((error: unknown) => {
    copy?.close();
    throw error;
  });
  const { redis, bus, gateways, absence, checks } = started;
  const tellCut = (isCut: boolean) => observe({ type: 'state.connection', of: 'requests', isCut });
  if (absence) tellCut(true);
  whenCut(redis, () => tellCut(true));
  redis.on('ready', () => tellCut(false));
  const breakers = createCircuitBreakers(shardsAfter(checks, shardsOf(redis)), settings, observe);
  if (absence) breakers.open(absence);
  const { deadline } = settings;
  const standings =
    folder === null || settings.whenAway !== 'local' ? null : keepStandings(folder, { worker, workers, observe });
  const backend = new RedisState(redis, { deadline });
  // If it fails, the first list of bans does it.
  if (!absence) await backend.prepareBans().catch(() => {});
  const state = new SharedState({
    backend,
    breakers,
    bus,
    settings: { ...settings, divide: settings.divide || isWorker },
    gateway: id,
    gateways: () => (settings.divide ? Math.max(gateways.count(), workers) : workers),
    observe,
    standings,
  });
  const { lookUp } = started.data;
  const records = recordsInRedis(redis, { bus, breakers, deadline, audit, isFit: () => checks.passed, lookUp });
  const keeper = copy && !isWorker ? keepKeyCopy(started, settings, { folder: folder!, observe }) : null;
  const stopDoubting = bus.listen((message) => {
    if (message.type === 'key') copy?.doubt(message.hash);
  });
  return {
    state,
    ...records,
    keys: copy ? keysWithCopy(records.keys, { copy, correct: (hash) => keeper?.hear(hash) }) : records.keys,
    tokens: copy ? tokensWithCopy(records.tokens, copy) : records.tokens,
    hearBans: (hear) => state.hearBans(hear),
    recheckKeysAfter: settings.keysFor,
    kind: kindOf(settings),
    join: joinIn(redis),
    outbox: outboxIn(redis),
    ready: () => settings.readyWhenAway || !breakers.away,
    unsavedFor: () => 0,
    lastKnown: { keys: () => copy?.asOf ?? null, bans: () => state.bansAsOf },
    ...(copy && !isWorker ? { keyCopyAge: () => copy.age } : {}),
    async close() {
      stopDoubting();
      keeper?.close();
      await state.close();
      copy?.close();
      breakers.close();
      await started.close();
    },
  };
}

function joinIn(redis: Connection): Join {
  return (self, failed) => fleetInRedis(redis, { self, failed });
}

function outboxIn(redis: Connection): Storage['outbox'] {
  return async () => (await import('./outbox.ts')).outboxInRedis(redis);
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
