import { isIP, type Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { Cluster, type ClusterOptions, Redis, type RedisOptions, SentinelConnector } from 'ioredis';
import type { RedisSettings } from '../../config/config.ts';
import { RedisError } from './error.ts';
import { disconnect, keepConnected } from './lasting.ts';

export type Connection = Redis | Cluster;

/** Milliseconds. */
const CONNECT_TIMEOUT = 1_000;
/** A connection that owes answers and stays silent for so long is dropped: a machine that stopped sends no reset. */
const SILENCE = 2_000;
const START_TIMEOUT = 5_000;
const SLOTS_REFRESH = 5_000;

/** Milliseconds before the next try; grows to two seconds. The jitter keeps many gateways from coming back in step. */
function retryDelay(times: number): number {
  return Math.min(50 * 2 ** Math.min(times, 6), 2_000) * (0.5 + Math.random() / 2);
}

/**
 * By default the client queues commands without bound while Redis is away, waits for an answer without end, and sends a
 * charge again when its answer was lost. With these options a command is written at once or fails at once, and only once.
 */
const COMMON = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // The client's own renewal leaves a rejection unhandled when the connection breaks again meanwhile.
  autoResubscribe: false,
  connectTimeout: CONNECT_TIMEOUT,
  socketTimeout: SILENCE,
  connectionName: 'storegate',
  disconnectTimeout: 100,
} as const satisfies RedisOptions;

const lastErrors = new WeakMap<Connection, unknown>();

/** The last error that a connection told of; `undefined`: none yet. */
export const lastErrorOf = (redis: Connection): unknown => lastErrors.get(redis);

/**
 * Opens a connection and waits until it can be used, but at most `patience` milliseconds; from then on it comes back by itself
 * until `disconnect`. Throws RedisError, and leaves nothing open then.
 */
export async function connect(settings: RedisSettings, patience = START_TIMEOUT): Promise<Connection> {
  const redis = create(settings);
  noteErrors(redis);
  try {
    await untilReady(redis, patience);
    if (redis instanceof Cluster) await Promise.all(redis.nodes('master').map((node) => node.ping()));
    keepConnected(redis, retryDelay);
    return redis;
  } catch (error) {
    disconnect(redis);
    throw new RedisError(explain(settings, error), { cause: error, isAway: !isRefusal(error) });
  }
}

/** Opens a connection that cannot be used yet, and comes by itself as soon as it can be. */
export function connectInBackground(settings: RedisSettings): Connection {
  const redis = create(settings);
  noteErrors(redis);
  keepConnected(redis, retryDelay);
  redis.connect().catch(() => {});
  return redis;
}

/** What Redis, or the way to it, said against a connection that is not there; `null`: nothing that will not pass. */
export function refusalOf(settings: RedisSettings, redis: Connection): string | null {
  const error = lastErrorOf(redis);
  return redis.status !== 'ready' && isRefusal(error) ? explain(settings, error) : null;
}

function noteErrors(redis: Connection): void {
  const note = (error: unknown) => void lastErrors.set(redis, error);
  redis.on('error', note);
  if (redis instanceof Cluster) redis.on('node error', note);
}

/**
 * A second connection with the same settings, for listening only. It may stay silent, and comes back until `disconnect`.
 * Leaves nothing open where it fails.
 */
export async function connectToListen(redis: Connection): Promise<Connection> {
  const copy = secondOf(redis);
  try {
    await copy.connect();
  } catch (error) {
    disconnect(copy);
    throw error;
  }
  keepConnected(copy, retryDelay);
  return copy;
}

/** The same while Redis is away: it comes by itself. */
export function connectToListenInBackground(redis: Connection): Connection {
  const copy = secondOf(redis);
  keepConnected(copy, retryDelay);
  copy.connect().catch(() => {});
  return copy;
}

function secondOf(redis: Connection): Connection {
  const copy: Connection =
    redis instanceof Cluster ? redis.duplicate([], { lazyConnect: true }) : redis.duplicate({ lazyConnect: true });
  copy.on('error', () => {});
  return copy;
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
    Connector: QuietSentinelConnector as unknown as NonNullable<RedisOptions['Connector']>,
    // The Sentinels tell of a failover at once; otherwise a refused write would be the first sign.
    failoverDetector: true,
    ...(settings.sentinelPassword === null ? {} : { sentinelPassword: settings.sentinelPassword }),
    ...(credentials.tls ? { sentinelTLS: credentials.tls, enableTLSForSentinelMode: true } : {}),
  });
}

/**
 * The client listens to Sentinels on connections of its own, and prints their errors as plain text between the lines of the log
 * if nobody listens. A Sentinel that is down matters when the master is asked for, and that tells of it.
 */
class QuietSentinelConnector extends SentinelConnector {}
const connectors = QuietSentinelConnector.prototype as unknown as {
  connectToSentinel(...given: unknown[]): Redis;
};
const { connectToSentinel } = connectors;
connectors.connectToSentinel = function (...given) {
  return connectToSentinel.apply(this, given).on('error', () => {});
};

/**
 * Says which name a certificate must have. The nodes of a Cluster are one service and share the URL's name, because they
 * are often known by address only. Sentinels and the Redis they name are several servers, each with a name of its own. An
 * address is never sent as a server name (RFC 6066 section 3); then the certificate is checked against the node's address.
 */
function tlsOptions({ topology }: RedisSettings, host: string): ConnectionOptions {
  return topology === 'sentinel' || isIP(host) !== 0 ? {} : { servername: host };
}

/**
 * The client drops a silent connection from a plain timer, and so also when this process was held up for that long while the
 * answer lay there. Here the event loop reads what has arrived before the connection is judged.
 */
const watched = Redis.prototype as unknown as Watched;
interface Watched {
  readonly stream: Socket;
  readonly commandQueue: { readonly length: number };
  socketTimeoutTimer: NodeJS.Timeout | undefined;
  setSocketTimeout(): void;
}
watched.setSocketTimeout = function () {
  const { stream } = this;
  const timer = setTimeout(() => setImmediate(judge), SILENCE);
  const judge = () => {
    if (this.socketTimeoutTimer === timer) stream.destroy(new Error(`it was silent for ${SILENCE} ms`));
  };
  this.socketTimeoutTimer = timer;
  // After the listener that reads the answers.
  stream.once('data', () => {
    clearTimeout(timer);
    this.socketTimeoutTimer = undefined;
    if (this.commandQueue.length > 0) this.setSocketTimeout();
  });
};

type Credentials = Pick<RedisOptions, 'username' | 'password' | 'tls'>;

function clusterOptions(credentials: Credentials) {
  const { enableOfflineQueue, ...redisOptions } = COMMON;
  return {
    enableOfflineQueue,
    lazyConnect: true,
    // The client would take the first address of a name alone.
    dnsLookup: (name, found) => found(null, name),
    redisOptions: { ...redisOptions, ...credentials },
    clusterRetryStrategy: retryDelay,
    slotsRefreshInterval: SLOTS_REFRESH,
    // Above 0, a command would be sent again when its connection closes, and it may have been charged already.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    maxRedirections: 4,
  } satisfies ClusterOptions;
}

function defaultPort({ topology }: RedisSettings): number {
  return topology === 'sentinel' ? 26379 : 6379;
}

/** Reads `host:port`, `[v6]:port`, or a host alone. */
function address(node: string, otherwise: number): { host: string; port: number } {
  const { hostname, port } = new URL(`redis://${node}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || otherwise) };
}

/** Waits while the client tries in the background. Throws after `patience`, or at once where trying again cannot help. */
async function untilReady(redis: Connection, patience: number): Promise<void> {
  const giveUpAt = performance.now() + patience;
  redis.connect().catch(() => {});
  while (redis.status !== 'ready') {
    const error = lastErrorOf(redis);
    if (isFinal(error) || redis.status === 'end' || performance.now() > giveUpAt)
      throw error ?? new Error('it does not answer');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Whether waiting cannot help at a start. */
function isFinal(error: unknown): boolean {
  return isRefusal(error) || /ECONNREFUSED|ENOTFOUND/.test(messages(error));
}

/** Whether somebody must change something before this connection can be used. */
function isRefusal(error: unknown): boolean {
  return /WRONGPASS|NOAUTH|NOPERM|invalid password|DB index|cluster support disabled|certificate/i.test(
    messages(error),
  );
}

/** How OpenSSL says that it does not know who issued a certificate. */
const UNKNOWN_ISSUER = /self-signed certificate|unable to (get|verify)\b.*certificate/i;

/** Says what is wrong in the words of the settings, and never with the password of the URL. */
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

/** The text of an error. A Cluster's has that of its node in `lastNodeError`; a refused connection may have a code only. */
export function messages(error: unknown): string {
  const { message, code, lastNodeError } = Object(error) as {
    message?: string;
    code?: string;
    lastNodeError?: unknown;
  };
  if (message === undefined) return String(error ?? '');
  const own = [message, code].filter((part) => part && !(part === code && message.includes(part))).join(' ');
  return lastNodeError ? `${own} (${messages(lastNodeError)})` : own;
}
