import { Cluster } from 'ioredis';
import type { Observe } from '../../observe/events.ts';
import type { Bus, Message } from '../shared/bus.ts';
import { type Connection, connectToListen, connectToListenInBackground } from './client.ts';
import { CHANNEL } from './key-names.ts';
import { disconnect, keepSubscribed, whenCut } from './lasting.ts';
import { readMessage } from './messages.ts';

/** Milliseconds between two proofs that a silent connection is alive. */
const HEARTBEAT = 1_000;

/**
 * Listens on a connection of its own. Messages that others send while it is cut off are lost. So once it is back, listeners
 * are told `anything`. Leaves nothing open where it fails.
 */
export async function openBus(redis: Connection, observe: Observe): Promise<Bus> {
  const subscriber = await connectToListen(redis);
  try {
    await subscriber.subscribe(CHANNEL);
  } catch (error) {
    disconnect(subscriber);
    throw error;
  }
  return busOn(subscriber, observe, true);
}

/** The same while Redis is away: listeners are told `anything` once it listens. */
export function openBusInBackground(redis: Connection, observe: Observe): Bus {
  return busOn(connectToListenInBackground(redis), observe, false);
}

function busOn(subscriber: Connection, observe: Observe, subscribed: boolean): Bus {
  const listeners = new Set<(message: Message) => void>();
  let isLive = subscribed;
  const tell = (message: Message) => {
    for (const listener of listeners) listener(message);
  };
  const tellCut = (isCut: boolean) => {
    isLive = !isCut;
    observe({ type: 'state.connection', of: 'messages', isCut });
  };
  subscriber.on('message', (_channel, text) => tell(readMessage(text)));
  whenCut(subscriber, () => tellCut(true));
  keepSubscribed(subscriber, [CHANNEL], () => {
    tellCut(false);
    tell({ type: 'anything' });
  });
  if (subscriber instanceof Cluster) {
    // A Cluster moves the subscription to another node and says nothing. These events are the only sign of it.
    for (const change of ['+node', '-node'] as const) subscriber.on(change, () => tell({ type: 'anything' }));
  }
  const heartbeat = setInterval(() => void beat(subscriber), HEARTBEAT).unref();
  return {
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    get isLive() {
      return isLive;
    },
    close() {
      clearInterval(heartbeat);
      disconnect(subscriber);
    },
  };
}

/** Where the other side is dead the ping stays unanswered; then the client drops the connection and makes a new one. */
async function beat(subscriber: Connection): Promise<void> {
  if (subscriber instanceof Cluster || subscriber.status !== 'ready') return;
  // A failure needs nothing here: the client connects again, and that is seen.
  await subscriber.ping().catch(() => {});
}
