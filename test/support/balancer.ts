import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export interface Balanced {
  readonly url: string;
  readonly adminUrl: string;
}

/** Milliseconds between two readiness checks. */
const CHECK = 50;

/**
 * Sends each new connection to the next ready gateway. It never retries, so everything that a
 * gateway loses is lost.
 */
export class Balancer {
  readonly #gateways: readonly Balanced[];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #checks: NodeJS.Timeout;
  #ready: readonly Balanced[] = [];
  #turn = 0;

  private constructor(gateways: readonly Balanced[]) {
    this.#gateways = gateways;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#join(socket));
    this.#checks = setInterval(() => void this.#check(), CHECK);
  }

  static async start(gateways: readonly Balanced[]): Promise<Balancer> {
    const balancer = new Balancer(gateways);
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  uses(gateway: Balanced): boolean {
    return this.#ready.includes(gateway);
  }

  async stop(): Promise<void> {
    clearInterval(this.#checks);
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  async #check(): Promise<void> {
    const ready = await Promise.all(this.#gateways.map(isReady));
    this.#ready = this.#gateways.filter((_, i) => ready[i]);
  }

  #join(caller: Socket): void {
    this.#sockets.add(caller);
    caller.once('close', () => this.#sockets.delete(caller));
    const gateway = this.#ready[this.#turn++ % this.#ready.length];
    if (gateway === undefined) {
      caller.resetAndDestroy();
      return;
    }
    const { hostname, port } = new URL(gateway.url);
    const onward = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    onward.on('error', () => caller.resetAndDestroy());
    caller.on('error', () => onward.resetAndDestroy());
    caller.pipe(onward).pipe(caller);
  }
}

async function isReady({ adminUrl }: Balanced): Promise<boolean> {
  const requested = fetch(`${adminUrl}/health/ready`);
  return await requested.then(
    ({ ok }) => ok,
    () => false,
  );
}
