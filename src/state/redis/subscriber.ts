import { Cluster } from 'ioredis';
import type { Observe } from '../../observe/events.ts';
import type { Bus, Message } from '../shared/remote-state.ts';
import {
  begin,
  type Connection,
  disconnect,
  lastErrorOf,
  onDisconnect,
  standbyOf,
} from './client.ts';
import { CHANNEL } from './key-names.ts';

/** Milliseconds. */
const RETRY_DELAY = 1_000;
const POLL_INTERVAL = 10;

interface Listener {
  readonly channels: readonly string[];
  readonly onMessage: (text: string, channel: string) => void;
  /** Messages may have been lost until now. */
  readonly onMissed?: () => void;
  readonly onDisconnect?: (isCut: boolean) => void;
}

export type Subscriber = ReturnType<typeof createSubscriber>;

/**
 * Redis requires a separate connection for subscriptions. It connects after the connection for
 * requests is ready, then reconnects and resubscribes. Messages during a disconnection are lost;
 * listeners are notified.
 */
export function createSubscriber(redis: Connection) {
  const connection = standbyOf(redis);
  const all = new Set<Subscription>();
  let failure: unknown;
  const isReady = () => connection.status === 'ready';

  async function subscribe(one: Subscription) {
    try {
      await connection.subscribe(...one.listener.channels);
      one.set(true);
    } catch (error) {
      failure = error;
      // After a lost connection, `ready` follows again.
      if (isReady())
        setTimeout(() => isReady() && void subscribe(one), RETRY_DELAY).unref();
    }
  }

  connection.on('message', (channel: string, text: string) => {
    for (const { listener } of all)
      if (listener.channels.includes(channel))
        listener.onMessage(text, channel);
  });
  connection.on('ready', () => {
    for (const one of all) void subscribe(one);
  });
  onDisconnect(connection, () => {
    failure =
      lastErrorOf(connection) ?? new Error('Redis closed the connection');
    for (const one of all) one.set(false);
  });
  if (connection instanceof Cluster) {
    // A Cluster moves the subscription without a message. These events are the only sign.
    const moved = () => {
      for (const { listener } of all) listener.onMissed?.();
    };
    connection.on('+node', moved).on('-node', moved);
  }
  const first = () => begin(connection);
  if (redis.status === 'ready') first();
  else redis.once('ready', first);

  return {
    listen(listener: Listener): Subscription {
      const one = new Subscription(listener, () => failure);
      all.add(one);
      if (isReady()) void subscribe(one);
      return one;
    },
    close() {
      redis.off('ready', first);
      // Ends waiting `begun` calls.
      failure ??= new Error('the subscriber is closed');
      disconnect(connection);
    },
  };
}

/** Separate for each listener, so that a refused subscription does not delay others. */
class Subscription {
  readonly listener: Listener;
  readonly #failure: () => unknown;
  #live = Promise.withResolvers<void>();
  /** As far as is known. */
  isLive = false;

  constructor(listener: Listener, failure: () => unknown) {
    this.listener = listener;
    this.#failure = failure;
  }

  set(isLive: boolean): void {
    if (isLive) this.#live.resolve();
    else if (this.isLive) this.#live = Promise.withResolvers();
    this.isLive = isLive;
    this.listener.onDisconnect?.(!isLive);
    if (isLive) this.listener.onMissed?.();
  }

  /** Resolves when `isLive` is true. */
  live(): Promise<void> {
    return this.#live.promise;
  }

  /** Waits at most `patience` milliseconds. Throws the reason for a missing confirmation. */
  async begun(patience: number): Promise<void> {
    for (const giveUpAt = performance.now() + patience; !this.isLive; ) {
      if (this.#failure() !== undefined || performance.now() > giveUpAt)
        throw (
          this.#failure() ?? new Error('Redis does not confirm a subscription')
        );
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL));
    }
  }
}

/** Changes of all gateways. A disconnection loses messages; then anything may have changed. */
export function createBus(
  subscriber: Subscriber,
  observe: Observe,
): Bus & Pick<Subscription, 'begun'> {
  const listeners = new Set<(message: Message) => void>();
  const notify = (message: Message) => {
    for (const listener of listeners) listener(message);
  };
  const subscription = subscriber.listen({
    channels: [CHANNEL],
    onMessage: (text) => notify(readMessage(text)),
    onMissed: () => notify({ type: 'anything' }),
    onDisconnect: (isCut) =>
      observe({ type: 'state.connection', of: 'messages', isCut }),
  });
  return {
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    get isLive() {
      return subscription.isLive;
    },
    begun: (timeout) => subscription.begun(timeout),
  };
}

export const subjectChanged = (subject: string): string => `s:${subject}`;
export const subjectBanned = (subject: string): string => `b:${subject}`;
/**
 * As lua/append-7.lua. `number`: of an entry in the audit log; `hashes`: that replaced keys had
 * before.
 */
export const entryAppended = (
  number: number | string,
  ...hashes: readonly string[]
): string => [`l:${number}`, ...hashes].join(' ');
export const EVERYTHING_CHANGED = '*';

/** An unknown message means that anything may have changed. */
function readMessage(text: string): Message {
  const rest = text.slice(2);
  if (text.startsWith('s:'))
    return { type: 'subject', subject: rest, banned: false };
  if (text.startsWith('b:'))
    return { type: 'subject', subject: rest, banned: true };
  if (/^l:\d+( \S+)*$/.test(text)) {
    const [number, ...hashes] = rest.split(' ');
    return { type: 'record', number: Number(number), hashes };
  }
  return { type: 'anything' };
}
