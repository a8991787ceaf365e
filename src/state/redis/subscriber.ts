import { Cluster } from 'ioredis';
import { begin, type Connection, lastErrorOf, standbyOf } from './client.ts';
import { disconnect, onDisconnect } from './reconnect.ts';

/** Milliseconds between two proofs that a silent connection is alive. */
const HEARTBEAT = 1_000;
/** Milliseconds until a subscription that Redis refused is tried again. */
const RETRY_DELAY = 1_000;
const POLL_INTERVAL = 10;

export interface Listener {
  readonly channels: readonly string[];
  readonly onMessage: (text: string, channel: string) => void;
  /** Messages may have been lost until now. */
  readonly onMissed?: () => void;
  /** The subscription is lost, or confirmed (again). */
  readonly onDisconnect?: (isCut: boolean) => void;
}

/** What one listener hears. Each has a subscription of its own, so that one that Redis refuses holds up no other. */
export interface Subscription {
  /** Whether every message arrives now, as far as is known. */
  readonly isLive: boolean;
  /** Resolves as soon as that is so. */
  live(): Promise<void>;
  /** Waits at most `patience` milliseconds for the first confirmation. Throws why there is none. */
  begun(patience: number): Promise<void>;
}

/**
 * The connection on which a process hears all messages, as Redis sends them only on connections that do nothing else. It
 * begins when the connection of requests is ready for the first time. From then on it comes back by itself, and subscribes
 * anew. Messages that are sent meanwhile are lost, and listeners are told so.
 */
export class Subscriber {
  readonly #connection: Connection;
  readonly #all = new Set<ChannelSubscription>();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #notBegun: () => void;
  #failure: unknown;

  constructor(redis: Connection) {
    const connection = standbyOf(redis);
    this.#connection = connection;
    connection.on('message', (channel: string, text: string) => {
      for (const { listener } of this.#all) if (listener.channels.includes(channel)) listener.onMessage(text, channel);
    });
    connection.on('ready', () => {
      for (const one of this.#all) void this.#subscribe(one);
    });
    onDisconnect(connection, () => {
      this.#failure = lastErrorOf(connection) ?? new Error('Redis closed the connection');
      for (const one of this.#all) one.set(false);
    });
    if (connection instanceof Cluster) {
      // A Cluster moves the subscription to another node and says nothing. These events are the only sign of it.
      const moved = () => {
        for (const { listener } of this.#all) listener.onMissed?.();
      };
      connection.on('+node', moved).on('-node', moved);
    }
    const first = () => begin(connection);
    if (redis.status === 'ready') first();
    else redis.once('ready', first);
    this.#notBegun = () => redis.off('ready', first);
    this.#heartbeat = setInterval(() => void this.#beat(), HEARTBEAT).unref();
  }

  /** Listens until the subscriber is closed. */
  listen(listener: Listener): Subscription {
    const one = new ChannelSubscription(listener, () => this.#failure);
    this.#all.add(one);
    if (this.#isReady) void this.#subscribe(one);
    return one;
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.#notBegun();
    // Whoever still waits for the first confirmation waits for nothing.
    this.#failure ??= new Error('the subscriber is closed');
    disconnect(this.#connection);
  }

  get #isReady(): boolean {
    return this.#connection.status === 'ready';
  }

  async #subscribe(one: ChannelSubscription): Promise<void> {
    try {
      await this.#connection.subscribe(...one.listener.channels);
      one.set(true);
    } catch (error) {
      this.#failure = error;
      // If the connection was lost meanwhile, `ready` comes again.
      if (this.#isReady) setTimeout(() => this.#isReady && void this.#subscribe(one), RETRY_DELAY).unref();
    }
  }

  /** If the other side is dead the ping stays unanswered; then the client drops the connection and makes a new one. */
  async #beat(): Promise<void> {
    if (this.#connection instanceof Cluster || !this.#isReady) return;
    // A failure needs nothing here: the client connects again, and that is seen.
    await this.#connection.ping().catch(() => {});
  }
}

class ChannelSubscription implements Subscription {
  readonly listener: Listener;
  readonly #failure: () => unknown;
  #live = Promise.withResolvers<void>();
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

  live(): Promise<void> {
    return this.#live.promise;
  }

  async begun(patience: number): Promise<void> {
    for (const giveUpAt = performance.now() + patience; !this.isLive; ) {
      if (this.#failure() !== undefined || performance.now() > giveUpAt)
        throw this.#failure() ?? new Error('Redis does not confirm a subscription');
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL));
    }
  }
}
