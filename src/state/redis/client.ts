import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import {
  Cluster,
  type ClusterOptions,
  Redis,
  type RedisOptions,
} from 'ioredis';
import { plainReason } from '../../common/errors/plain-reason.ts';
import type { RedisSettings } from '../../config/config.ts';
import { explain, isFinal, isRefusal, RedisError } from './error.ts';
import { followFailovers } from './failovers.ts';
import { SILENCE_TIMEOUT, watchSilence } from './silence.ts';

export type Connection = Redis | Cluster;

/** Milliseconds. */
const CONNECT_TIMEOUT = 1_000;
export const START_TIMEOUT = 5_000;
/** For a connection that is not ready yet; see silence.ts. */
const SOCKET_TIMEOUT = 10_000;

/**
 * Milliseconds. Jitter keeps gateways from reconnecting at the same time. Changes of an outage hold
 * two seconds after it: a connection attempt without a reply, this delay and a probe have to fit
 * into that time.
 */
function retryDelay(times: number): number {
  return (
    Math.min(50 * 2 ** Math.min(times, 4), 500) * (0.5 + Math.random() / 2)
  );
}

/**
 * By default the client queues commands without bound during an outage, waits for replies without a
 * timeout, and resends a charge whose reply was lost. These options send each command at most once,
 * immediately.
 */
const COMMON = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // The client's resubscription leaves an unhandled rejection if the connection breaks again.
  autoResubscribe: false,
  connectTimeout: CONNECT_TIMEOUT,
  socketTimeout: SOCKET_TIMEOUT,
  connectionName: 'storegate',
  disconnectTimeout: 100,
} as const satisfies RedisOptions;

const SENTINEL = {
  connectTimeout: CONNECT_TIMEOUT,
  retryStrategy: retryDelay,
  connectionName: COMMON.connectionName,
} as const satisfies RedisOptions;

const lastErrors = new WeakMap<Connection, unknown>();
const watches = new WeakMap<Connection, readonly (() => void)[]>();
const closed = new WeakSet<Connection>();

/** Since when there is no connection, Unix milliseconds; missing while there is one. */
const silentSince = new WeakMap<Connection, number>();

/** Why a connection does not respond, for operators. */
export function outageText(redis: Connection): string {
  const since = silentSince.get(redis) ?? Date.now();
  const at = new Date(since).toISOString().replace(/\.\d+/, '');
  const why = isRefusal(lastErrorOf(redis))
    ? ` (${plainReason(lastErrorOf(redis))})`
    : '';
  return `Redis has not answered since ${at}${why}`;
}

export const lastErrorOf = (redis: Connection): unknown =>
  lastErrors.get(redis);

/** Reconnects until `disconnect`. */
export function openConnection(settings: RedisSettings): Connection {
  const redis = create(settings);
  begin(redis);
  return redis;
}

/** Throws RedisError, or an error of `check`, after closing the connection. */
export async function connect(
  settings: RedisSettings,
  check?: (redis: Connection) => Promise<void>,
) {
  const redis = openConnection(settings);
  try {
    await untilReady(redis, settings, START_TIMEOUT);
    await check?.(redis);
    return redis;
  } catch (error) {
    disconnect(redis);
    throw error;
  }
}

/** Waits at most `patience` milliseconds, or until a retry cannot help. Throws RedisError. */
export async function untilReady(
  redis: Connection,
  settings: RedisSettings,
  patience: number,
): Promise<void> {
  const giveUpAt = performance.now() + patience;
  try {
    while (redis.status !== 'ready') {
      const error = lastErrorOf(redis);
      if (
        isFinal(error) ||
        redis.status === 'end' ||
        performance.now() > giveUpAt
      )
        throw error ?? new Error('it does not respond');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    if (redis instanceof Cluster)
      await Promise.all(redis.nodes('master').map((node) => node.ping()));
  } catch (error) {
    throw new RedisError(explain(settings, error), {
      cause: error,
      isUnreachable: !isRefusal(error),
    });
  }
}

export function begin(redis: Connection): void {
  let isRefused = false;
  const note = (error: unknown) => {
    if (!isRefused) lastErrors.set(redis, error);
    if (isRefused || nameOf(error) !== 'select') return;
    // The client would continue in database 0, where others may have their data. Commands that the
    // end of the connection fails are not the reason.
    isRefused = true;
    reconnect(redis);
  };
  redis.on('connect', () => {
    isRefused = false;
  });
  redis.on('error', note).on('ready', () => lastErrors.delete(redis));
  if (redis instanceof Cluster) redis.on('node error', note);
  redis.on('ready', () => silentSince.delete(redis));
  redis.on('close', () => {
    if (!silentSince.has(redis)) silentSince.set(redis, Date.now());
  });
  keepConnected(redis);
  const silence = watchSilence(redis, (node) => {
    note(new Error(`it was silent for ${SILENCE_TIMEOUT} ms`));
    if (node === redis) reconnect(redis);
    else node.disconnect();
  });
  const failovers =
    redis instanceof Redis && redis.options.sentinels
      ? followFailovers({ redis, options: SENTINEL, switched })
      : () => {};
  watches.set(redis, [silence, failovers]);
  redis.connect().catch(() => {});

  function switched(): void {
    // Otherwise it looks for the master already.
    if (redis.status === 'ready' || redis.status === 'connect')
      reconnect(redis);
  }
}

/** Of the command that Redis refused. */
const nameOf = (error: unknown) =>
  (error as { command?: { name: string } } | null)?.command?.name;

/**
 * Reconnects after the client has given up: a failover reported by Sentinels cancels its look-up of
 * the master, which it mistakes for `disconnect`.
 */
function keepConnected(redis: Connection): void {
  let times = 0;
  redis.on('ready', () => {
    times = 0;
  });
  redis.on('end', () => {
    if (!closed.has(redis)) setTimeout(connectAgain, retryDelay(++times));
  });
  function connectAgain() {
    // A failed attempt ends with `end`, or the client repeats it.
    if (!closed.has(redis)) redis.connect().catch(() => {});
  }
}

/** Does not call `cut` after `disconnect`. */
export function onDisconnect(redis: Connection, cut: () => void): void {
  redis.on('close', () => {
    if (!closed.has(redis)) cut();
  });
}

/** The connection reconnects. Pending commands fail. */
export function reconnect(redis: Connection): void {
  if (!closed.has(redis)) redis.disconnect(true);
}

/** Permanent, whereas `keepConnected` reconnects after the client's own `disconnect`. */
export function disconnect(redis: Connection): void {
  closed.add(redis);
  for (const stop of watches.get(redis) ?? []) stop();
  redis.disconnect();
}

/** Not yet connected. */
export function standbyOf(redis: Connection): Connection {
  return redis instanceof Cluster
    ? redis.duplicate([], { lazyConnect: true })
    : redis.duplicate({ lazyConnect: true });
}

function create(settings: RedisSettings): Connection {
  const url = new URL(settings.url);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const credentials: Credentials = {
    ...(url.username === ''
      ? {}
      : { username: decodeURIComponent(url.username) }),
    ...(url.password === ''
      ? {}
      : { password: decodeURIComponent(url.password) }),
    ...(url.protocol === 'rediss:' ? { tls: tlsOptions(settings, host) } : {}),
  };
  const first = {
    host,
    port: Number(url.port || (settings.topology === 'sentinel' ? 26379 : 6379)),
  };
  const nodes = [
    first,
    ...settings.nodes.map((node) => address(node, first.port)),
  ];
  const db = Number(url.pathname.slice(1) || 0);
  if (settings.topology === 'cluster')
    return new Cluster(nodes, clusterOptions(credentials));
  const options = {
    ...COMMON,
    ...credentials,
    db,
    retryStrategy: retryDelay,
    lazyConnect: true,
  } satisfies RedisOptions;
  if (settings.topology === 'single')
    return new Redis({ ...options, ...first });
  return new Redis({
    ...options,
    sentinels: nodes,
    name: settings.master,
    sentinelRetryStrategy: retryDelay,
    sentinelCommandTimeout: CONNECT_TIMEOUT,
    ...(settings.sentinelPassword === null
      ? {}
      : { sentinelPassword: settings.sentinelPassword }),
    ...(credentials.tls
      ? { sentinelTLS: credentials.tls, enableTLSForSentinelMode: true }
      : {}),
  });
}

/**
 * Sets the name that a certificate must have. Cluster nodes, often known by address only, share the
 * URL's name. Sentinels and the servers they return have separate names. An address is never sent
 * as a server name (RFC 6066 section 3); the certificate is then checked against the node's
 * address.
 */
function tlsOptions(
  { topology }: RedisSettings,
  host: string,
): ConnectionOptions {
  return topology === 'sentinel' || isIP(host) !== 0
    ? {}
    : { servername: host };
}

type Credentials = Pick<RedisOptions, 'username' | 'password' | 'tls'>;

function clusterOptions(credentials: Credentials) {
  const { enableOfflineQueue, ...redisOptions } = COMMON;
  return {
    enableOfflineQueue,
    lazyConnect: true,
    // The client would use only the first address of a name.
    dnsLookup: (name, found) => found(null, name),
    redisOptions: { ...redisOptions, ...credentials },
    clusterRetryStrategy: retryDelay,
    // Redirections are enough, and a refresh that `disconnect` meets would repeat for ever.
    slotsRefreshInterval: 0,
    // Values above 0 resend commands after a disconnection, which may charge twice.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    maxRedirections: 4,
  } satisfies ClusterOptions;
}

/** Reads `host:port`, `[v6]:port` or a host. */
function address(
  node: string,
  otherwise: number,
): { host: string; port: number } {
  const { hostname, port } = new URL(`redis://${node}`);
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || otherwise),
  };
}
