import { Cluster } from 'ioredis';
import type { Bus, Message } from '../shared/bus.ts';
import { type Connection, duplicate } from './client.ts';
import { CHANNEL } from './key-names.ts';
import { readMessage } from './messages.ts';

/** How often a connection that should be silent proves that it is alive, milliseconds. */
const HEARTBEAT = 1_000;

/**
 * Listens on a connection of its own. Messages that were sent while it was away are lost, so its return is told as
 * `anything`: whoever keeps copies drops them all.
 */
export async function openBus(redis: Connection): Promise<Bus> {
  const listeners = new Set<(message: Message) => void>();
  const tell = (message: Message) => {
    for (const listener of listeners) listener(message);
  };
  const subscriber = duplicate(redis);
  subscriber.on('message', (_channel, text) => tell(readMessage(text)));
  await subscriber.connect();
  await subscriber.subscribe(CHANNEL);
  subscriber.on('ready', () => {
    // A second connection loss in between makes it ready once more.
    subscriber.subscribe(CHANNEL).then(
      () => tell({ type: 'anything' }),
      () => {},
    );
  });
  if (subscriber instanceof Cluster) {
    // Its subscription moves to another node without a word; that it may have is all we learn.
    for (const change of ['+node', '-node'] as const) subscriber.on(change, () => tell({ type: 'anything' }));
  }
  const heartbeat = setInterval(() => void beat(subscriber), HEARTBEAT).unref();
  return {
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      clearInterval(heartbeat);
      subscriber.disconnect();
    },
  };
}

/** A dead peer is found out by an unanswered ping: the client then gives the connection up and makes a new one. */
async function beat(subscriber: Connection): Promise<void> {
  if (subscriber instanceof Cluster || subscriber.status !== 'ready') return;
  // Its failure shows as a reconnection.
  await subscriber.ping().catch(() => {});
}
