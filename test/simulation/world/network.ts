import { EventEmitter } from 'node:events';
import type { Process } from './machine.ts';
import type { World } from './world.ts';

type PathChange = Partial<Pick<Path, 'delay' | 'isCut'>>;

export type Direction = 'to' | 'from';
/** A connection is one of messages once it has subscribed to a channel. */
export type ConnectionKind = 'requests' | 'messages';

/** What the network does to packets of one machine in one direction. */
export interface Path {
  /** Milliseconds. */
  delay: number;
  isCut: boolean;
  /** Packets that are sent again when the path works. */
  readonly held: Set<() => void>;
}

/** A service that processes connect to. */
export interface Service {
  readonly process: Process;
  readonly isListening: boolean;
  accept(connection: ServerSide): void;
}

/** The service's end of a connection. */
export interface ServerSide {
  readonly client: Process;
  /** Called with what the client wrote. */
  onData: (data: Buffer) => void;
  onClose: () => void;
  kind: ConnectionKind;
  write(data: Buffer): void;
  reset(): void;
}

const DIRECTIONS: readonly Direction[] = ['to', 'from'];
const KINDS: readonly ConnectionKind[] = ['requests', 'messages'];

/** Milliseconds one way. */
const USUAL_DELAY = 0.2;

/**
 * Connections of processes to services, which delay and lose packets per machine, direction and
 * kind.
 */
export class Network {
  readonly #world: World;
  readonly #paths = new Map<string, Path>();
  readonly #services = new Map<string, Service>();

  constructor(world: World) {
    this.#world = world;
  }

  offer(host: string, service: Service): void {
    this.#services.set(host, service);
  }

  /** TCP sends lost packets again, so they arrive after the path works again. */
  change(machine: string, change: PathChange, directions = DIRECTIONS, kinds = KINDS): void {
    for (const direction of directions)
      for (const kind of kinds) this.#change(this.#path(machine, direction, kind), change);
  }

  #change(path: Path, change: PathChange): void {
    Object.assign(path, change);
    if (path.isCut) return;
    const held = [...path.held];
    path.held.clear();
    for (const go of held) go();
  }

  /** As `net.createConnection`. */
  readonly connect = (options: { readonly host: string }): VirtualSocket => {
    const client = this.#world.process!;
    const socket = new VirtualSocket(this.#world, this, client);
    this.send(socket, 'to', null, () =>
      this.#arrive(socket, this.#services.get(options.host) ?? null),
    );
    return socket;
  };

  /**
   * Delivers `work` to `owner` over the path. Packets keep their order because equal times keep
   * theirs.
   */
  send(socket: VirtualSocket, direction: Direction, owner: Process | null, work: () => void): void {
    const path = this.#path(socket.client.machine.name, direction, socket.kind);
    const go = () => this.#world.packet(socket.orderly(direction, path.delay), owner, work);
    if (path.isCut) path.held.add(() => socket.destroyed || go());
    else go();
  }

  #path(machine: string, direction: Direction, kind: ConnectionKind): Path {
    const name = `${machine} ${direction} ${kind}`;
    const path = this.#paths.get(name) ?? {
      delay: USUAL_DELAY,
      isCut: false,
      held: new Set<() => void>(),
    };
    this.#paths.set(name, path);
    return path;
  }

  #arrive(socket: VirtualSocket, service: Service | null): void {
    const back = (work: () => void) => this.send(socket, 'from', socket.client, work);
    if (service?.process.isStopped) return;
    if (service?.process.isAlive && service.isListening) back(() => socket.connected(service));
    else back(() => socket.fail('ECONNREFUSED'));
  }
}

/** The part of `net.Socket` that the Redis client uses. */
export class VirtualSocket extends EventEmitter {
  readonly client: Process;
  readonly #network: Network;
  readonly #world: World;
  readonly #forget: () => void;
  /** When the last packet in each direction arrives. */
  readonly #lastAt = { to: 0, from: 0 };
  #server: ServerSide | null = null;
  #timeout: NodeJS.Timeout | null = null;
  connecting = true;
  destroyed = false;
  writable = true;
  readonly remoteAddress = 'redis';
  readonly remotePort = 6379;

  constructor(world: World, network: Network, client: Process) {
    super();
    this.#world = world;
    this.#network = network;
    this.client = client;
    this.#forget = client.whenEnded(() => this.#leave());
  }

  get kind(): ConnectionKind {
    return this.#server?.kind ?? 'requests';
  }

  /** The delay of a packet that does not overtake those before it. */
  orderly(direction: Direction, delay: number): number {
    const at = Math.max(this.#world.now + delay, this.#lastAt[direction]);
    this.#lastAt[direction] = at;
    return at - this.#world.now;
  }

  connected(service: Service): void {
    if (this.destroyed) return;
    this.connecting = false;
    const server: ServerSide = {
      client: this.client,
      kind: 'requests',
      onData: () => {},
      onClose: () => {},
      write: (data) => this.#network.send(this, 'from', this.client, () => this.#receive(data)),
      reset: () => this.#network.send(this, 'from', this.client, () => this.fail('ECONNRESET')),
    };
    this.#server = server;
    service.accept(server);
    this.emit('connect');
  }

  fail(code: string): void {
    this.destroy(Object.assign(new Error(code), { code }));
  }

  write(data: string | Buffer): boolean {
    if (this.destroyed || !this.#server) return false;
    const server = this.#server;
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    this.#network.send(this, 'to', null, () => server.onData(bytes));
    return true;
  }

  end(): this {
    this.destroy();
    return this;
  }

  destroy(error?: Error): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.writable = false;
    this.connecting = false;
    this.setTimeout(0);
    this.#forget();
    this.#leave();
    // Timers that processes share may close it: a killed one must not connect again as another.
    const closed = () => {
      if (error) this.emit('error', error);
      this.emit('close', error !== undefined);
    };
    process.nextTick(() => this.#world.deliver(this.client, closed));
    return this;
  }

  setTimeout(wait: number, passed?: () => void): this {
    if (this.#timeout) clearTimeout(this.#timeout);
    this.#timeout = wait > 0 ? setTimeout(() => passed?.(), wait) : null;
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  resume(): this {
    return this;
  }

  pause(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  #receive(data: Buffer): void {
    if (!this.destroyed) this.emit('data', data);
  }

  /** The service learns that the client is gone. */
  #leave(): void {
    this.#server?.onClose();
    this.#server = null;
  }
}
