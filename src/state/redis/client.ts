import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { ExpectedError } from '../../common/expected-error.ts';
import type { RedisSettings } from '../../config/config.ts';

export type Connection = Redis | Cluster;

/** Redis cannot be used as it is set up; the message says in one sentence what to change. */
export class RedisError extends ExpectedError {
  override name = 'RedisError';
}

/** Milliseconds. */
const CONNECT_TIMEOUT = 1_000;
/** A connection that owes answers and is silent for so long is given up; a stopped machine sends no reset. */
const SILENCE = 2_000;
const START_TIMEOUT = 5_000;
const SLOTS_REFRESH = 5_000;

/** Grows to two seconds; the jitter keeps many gateways from coming back in step. */
function retryDelay(times: number): number {
  return Math.min(50 * 2 ** Math.min(times, 6), 2_000) * (0.5 + Math.random() / 2);
}

/**
 * The client's own defaults would queue without bound while Redis is away, wait without end for an answer, and send a
 * charge again whose answer was lost. Here a command is written at once or fails at once, and is written once.
 */
const COMMON = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // Its own renewal of subscriptions leaves a rejection unhandled when the connection breaks again meanwhile.
  autoResubscribe: false,
  connectTimeout: CONNECT_TIMEOUT,
  socketTimeout: SILENCE,
  connectionName: 'storegate',
  disconnectTimeout: 100,
} as const satisfies RedisOptions;

const lastErrors = new WeakMap<Connection, unknown>();

/** Why a command failed, in words for operators: that nothing is connected is less telling than why. */
export function reasonOf(redis: Connection, error: unknown): unknown {
  if (!/isn't writeable|isn't ready|Connection is closed/.test(messages(error))) return error;
  return new Error('not connected to Redis', { cause: lastErrors.get(redis) ?? 'the connection was closed' });
}

/** Opens a connection and waits until it can be used. Throws RedisError, with nothing left open. */
export async function connect(settings: RedisSettings): Promise<Connection> {
  const redis = create(settings);
  const note = (error: unknown) => void lastErrors.set(redis, error);
  redis.on('error', note);
  if (redis instanceof Cluster) redis.on('node error', note);
  try {
    await untilReady(redis, () => lastErrors.get(redis));
    if (redis instanceof Cluster) await Promise.all(redis.nodes('master').map((node) => node.ping()));
    return redis;
  } catch (error) {
    redis.disconnect();
    throw new RedisError(explain(settings, error), { cause: error });
  }
}

/** A second connection with the same settings that only listens: a subscriber's silence is no fault. */
export function duplicate(redis: Connection): Connection {
  const copy: Connection =
    redis instanceof Cluster ? redis.duplicate([], { lazyConnect: true }) : redis.duplicate({ lazyConnect: true });
  copy.on('error', () => {});
  return copy;
}

/** Finds out which master serves which slot now, for the next commands: after a failover the old one does not answer. */
export function lookAround(redis: Connection): void {
  if (redis instanceof Cluster && redis.status === 'ready') redis.refreshSlotsCache();
}

/** What fails together: one Redis, or the master that serves a name's slot. */
export function shardOf(redis: Connection, slot: () => number): string {
  return redis instanceof Cluster ? (redis.slots[slot()]?.[0] ?? '') : '';
}

function create(settings: RedisSettings): Connection {
  const url = new URL(settings.url);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const credentials: Credentials = {
    ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
    ...(url.protocol === 'rediss:' ? { tls: tlsOptions(settings, host) } : {}),
  };
  const first = { host, port: Number(url.port || defaultPort(settings)) };
  const nodes = [first, ...settings.nodes.map((node) => address(node, first.port))];
  const db = Number(url.pathname.slice(1) || 0);
  if (settings.topology === 'cluster') return new Cluster(nodes, clusterOptions(credentials));
  const options = {
    ...COMMON,
    ...credentials,
    db,
    retryStrategy: retryDelay,
    lazyConnect: true,
  } satisfies RedisOptions;
  if (settings.topology === 'single') return new Redis({ ...options, ...first });
  return new Redis({
    ...options,
    sentinels: nodes,
    name: settings.master,
    sentinelRetryStrategy: retryDelay,
    sentinelCommandTimeout: CONNECT_TIMEOUT,
    // Hears of a failover at once instead of finding out by a write that is refused.
    failoverDetector: true,
    ...(settings.sentinelPassword === null ? {} : { sentinelPassword: settings.sentinelPassword }),
    ...(credentials.tls ? { sentinelTLS: credentials.tls, enableTLSForSentinelMode: true } : {}),
  });
}

/**
 * Whose name a certificate must have. The nodes of a Cluster are one service and share the URL's name, for they are often
 * known by address only; Sentinels and the Redis they name are several, each called by its own. An address is never sent as
 * a server name (RFC 6066 section 3): without one, the node's own is checked.
 */
function tlsOptions({ topology }: RedisSettings, host: string): ConnectionOptions {
  return topology === 'sentinel' || isIP(host) !== 0 ? {} : { servername: host };
}

type Credentials = Pick<RedisOptions, 'username' | 'password' | 'tls'>;

function clusterOptions(credentials: Credentials) {
  const { enableOfflineQueue, ...redisOptions } = COMMON;
  return {
    enableOfflineQueue,
    lazyConnect: true,
    redisOptions: { ...redisOptions, ...credentials },
    clusterRetryStrategy: retryDelay,
    slotsRefreshInterval: SLOTS_REFRESH,
    // Above 0, a command is sent again when its connection closes under it: it may have been charged already.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    maxRedirections: 4,
  } satisfies ClusterOptions;
}

function defaultPort({ topology }: RedisSettings): number {
  return topology === 'sentinel' ? 26379 : 6379;
}

/** `host:port`, `[v6]:port` or a host alone. */
function address(node: string, otherwise: number): { host: string; port: number } {
  const { hostname, port } = new URL(`redis://${node}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || otherwise) };
}

/** Waits for a connection that is retried in the background, unless the reason given will not pass by itself. */
async function untilReady(redis: Connection, reason: () => unknown): Promise<void> {
  const giveUpAt = performance.now() + START_TIMEOUT;
  redis.connect().catch(() => {});
  while (redis.status !== 'ready') {
    const error = reason();
    if (isFinal(error) || redis.status === 'end' || performance.now() > giveUpAt)
      throw error ?? new Error('it does not answer');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function isFinal(error: unknown): boolean {
  return /WRONGPASS|NOAUTH|NOPERM|invalid password|ECONNREFUSED|ENOTFOUND|DB index|cluster support disabled|certificate/i.test(
    messages(error),
  );
}

/** What OpenSSL says of a certificate whose issuer it does not know. */
const UNKNOWN_ISSUER = /self-signed certificate|unable to (get|verify)\b.*certificate/i;

/** Whatever is wrong, in words of the settings; never with the URL's password. */
function explain(settings: RedisSettings, error: unknown): string {
  const text = messages(error);
  const where = new URL(settings.url).host;
  const [who, setting] = /All sentinels/.test(text)
    ? [`the Sentinel at ${where}`, 'redis.sentinelPassword']
    : [`Redis at ${where}`, 'redis.url'];
  if (/WRONGPASS|invalid password/i.test(text)) return `${who} refuses the user or password: check ${setting}`;
  if (/NOAUTH/.test(text)) return `${who} wants a password: put it into ${setting}`;
  if (UNKNOWN_ISSUER.test(text))
    return `cannot trust the certificate of ${who} (${text}): name its CA's file in NODE_EXTRA_CA_CERTS`;
  if (/cluster support disabled/i.test(text)) return `Redis at ${where} is no Cluster: set redis.topology`;
  return `cannot use Redis at ${where}: ${text}`;
}

/** A Cluster's failure has the nodes' own in `lastNodeError`; refused connections are AggregateErrors without a message. */
function messages(error: unknown): string {
  const { message, code, lastNodeError } = Object(error) as {
    message?: string;
    code?: string;
    lastNodeError?: unknown;
  };
  if (message === undefined) return String(error ?? '');
  const own = [message, code].filter((part) => part && !(part === code && message.includes(part))).join(' ');
  return lastNodeError ? `${own} (${messages(lastNodeError)})` : own;
}
