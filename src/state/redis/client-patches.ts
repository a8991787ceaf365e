import type { Socket } from 'node:net';
import { Cluster, Redis, SentinelConnector } from 'ioredis';

/**
 * Milliseconds. A connection silent for this long with pending replies is dropped: a stopped
 * machine sends no reset.
 */
export const SILENCE_TIMEOUT = 2_000;

/**
 * The client prints unhandled errors of Sentinel connections as plain text between log lines. A
 * Sentinel that is down matters only for the look-up of the master, which reports it.
 */
export class QuietSentinelConnector extends SentinelConnector {}
const connectors = QuietSentinelConnector.prototype as unknown as {
  connectToSentinel(...given: unknown[]): Redis;
};
const { connectToSentinel } = connectors;
connectors.connectToSentinel = function (...given) {
  return connectToSentinel.apply(this, given).on('error', () => {});
};

/**
 * The client drops a silent connection from a timer, even if this process was blocked and the reply
 * has arrived. With this patch the event loop reads pending data first.
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
  const timer = setTimeout(() => setImmediate(judge), SILENCE_TIMEOUT);
  const judge = () => {
    if (this.socketTimeoutTimer === timer)
      stream.destroy(new Error(`it was silent for ${SILENCE_TIMEOUT} ms`));
  };
  this.socketTimeoutTimer = timer;
  // Runs after the listener that reads replies.
  stream.once('data', () => {
    clearTimeout(timer);
    this.socketTimeoutTimer = undefined;
    if (this.commandQueue.length > 0) this.setSocketTimeout();
  });
};

/**
 * If `disconnect` comes while the client asks for the slots of a Cluster, it repeats the question
 * forever, and the process does not end. With this patch a round that was stopped has no next one.
 */
const refreshed = Cluster.prototype as unknown as Refreshed;
interface Refreshed {
  readonly options: { readonly slotsRefreshInterval: number };
  slotsTimer: NodeJS.Timeout | null | undefined;
  refreshSlotsCache(done: () => void): void;
  resetNodesRefreshInterval(): void;
}
refreshed.resetNodesRefreshInterval = function () {
  if (this.slotsTimer) return;
  const plan = () => {
    const timer = setTimeout(
      () => this.refreshSlotsCache(() => this.slotsTimer === timer && plan()),
      this.options.slotsRefreshInterval,
    );
    this.slotsTimer = timer;
  };
  plan();
};
