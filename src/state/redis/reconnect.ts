import type { Cluster, Redis } from 'ioredis';

type Connection = Redis | Cluster;

/** Connections that nobody needs any more. */
const closed = new WeakSet<Connection>();

/**
 * Connects again, after a wait that grows, whenever the client has given up. It gives up where the Sentinels tell of a
 * failover while it looks for the master: that cancels the look-up, and the client takes this for the wish to end.
 */
export function keepConnected(redis: Connection, delay: (times: number) => number): void {
  let times = 0;
  redis.on('ready', () => {
    times = 0;
  });
  redis.on('end', () => {
    if (!closed.has(redis)) setTimeout(connectAgain, delay(++times));
  });
  function connectAgain(): void {
    // A try that fails ends with `end` or is repeated by the client itself.
    if (!closed.has(redis)) redis.connect().catch(() => {});
  }
}

/** Calls back when a connection is lost, unless by `disconnect`. */
export function onDisconnect(redis: Connection, cut: () => void): void {
  redis.on('close', () => {
    if (!closed.has(redis)) cut();
  });
}

/** Ends a connection, which then comes back by itself. Commands that wait for an answer fail. */
export function reconnect(redis: Connection): void {
  if (!closed.has(redis)) redis.disconnect(true);
}

/** Closes a connection for good. The client's own `disconnect` would be followed by a new connection. */
export function disconnect(redis: Connection): void {
  closed.add(redis);
  redis.disconnect();
}
