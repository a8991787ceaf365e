import type { Socket } from 'node:net';
import { Redis, SentinelConnector } from 'ioredis';

/** Milliseconds. A connection that owes answers and stays silent for so long is dropped: a machine that stopped sends no reset. */
export const SILENCE_TIMEOUT = 2_000;

/**
 * The client listens to Sentinels on connections of its own, and prints their errors as plain text between the lines of the log
 * if nobody listens. A Sentinel that is down matters when the master is asked for, and that tells of it.
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
  const timer = setTimeout(() => setImmediate(judge), SILENCE_TIMEOUT);
  const judge = () => {
    if (this.socketTimeoutTimer === timer) stream.destroy(new Error(`it was silent for ${SILENCE_TIMEOUT} ms`));
  };
  this.socketTimeoutTimer = timer;
  // After the listener that reads the answers.
  stream.once('data', () => {
    clearTimeout(timer);
    this.socketTimeoutTimer = undefined;
    if (this.commandQueue.length > 0) this.setSocketTimeout();
  });
};
