import type { Cluster, Redis } from 'ioredis';

type Connection = Redis | Cluster;

const closed = new WeakSet<Connection>();

/**
 * Reconnects with a growing delay after the client has given up. The client gives up if Sentinels report a failover
 * during the look-up of the master: it mistakes the cancelled look-up for `disconnect`.
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
    // A failed attempt ends with `end`, or the client repeats it.
    if (!closed.has(redis)) redis.connect().catch(() => {});
  }
}

/** Calls `cut` after a connection is lost, except by `disconnect`. */
export function onDisconnect(redis: Connection, cut: () => void): void {
  redis.on('close', () => {
    if (!closed.has(redis)) cut();
  });
}

/** Drops a connection, which then reconnects. Pending commands fail. */
export function reconnect(redis: Connection): void {
  if (!closed.has(redis)) redis.disconnect(true);
}

/** Closes a connection permanently. After the client's own `disconnect`, `keepConnected` would reconnect. */
export function disconnect(redis: Connection): void {
  closed.add(redis);
  redis.disconnect();
}
