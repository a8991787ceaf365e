import type { Cluster, Redis } from 'ioredis';

type Connection = Redis | Cluster;

const closed = new WeakSet<Connection>();

/**
 * Reconnects after the client has given up: a failover reported by Sentinels cancels its look-up of the master, which
 * it mistakes for `disconnect`.
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
  redis.disconnect();
}
