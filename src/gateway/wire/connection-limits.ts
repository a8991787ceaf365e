import type { Socket } from 'node:net';
import { networkOf, plainAddress, type TrustedProxies, trustedProxies } from '../../callers/address.ts';
import type { HttpLimits } from '../../config/config.ts';
import type { EventOf, Observe } from '../../observe/events.ts';

type Limits = Pick<HttpLimits, 'maxConnections' | 'maxConnectionsPerAddress' | 'trustedProxies'> & {
  /** They send a PROXY protocol header. */
  readonly balancers?: readonly string[];
};

/** A company, or subscribers that share an address. */
const NEIGHBOURS = 256;

/** `auto`: a tenth of all, at least NEIGHBOURS, at most half of all. */
export function mostPerAddress({ maxConnections, maxConnectionsPerAddress }: Omit<Limits, 'trustedProxies'>): number {
  if (maxConnectionsPerAddress !== 'auto') return maxConnectionsPerAddress;
  return Math.min(Math.max(Math.ceil(maxConnections / 10), NEIGHBOURS), Math.ceil(maxConnections / 2));
}

/** IPv6 per /64. Memory is bounded by the open connections. */
export class ConnectionLimits {
  readonly #observe: Observe;
  readonly #open = new Map<string, number>();
  #all = 0;
  #most = 0;
  #mostPerAddress = 0;
  #proxies: TrustedProxies;

  constructor(limits: Limits, observe: Observe) {
    this.#observe = observe;
    this.#proxies = trustedProxies([]);
    this.use(limits);
  }

  use(limits: Limits): void {
    this.#most = limits.maxConnections;
    this.#mostPerAddress = mostPerAddress(limits);
    this.#proxies = trustedProxies([...limits.trustedProxies, ...(limits.balancers ?? [])]);
  }

  /** Closed without a response, which would cost a parser, a write and a wait. */
  take(socket: Socket): boolean {
    const address = plainAddress(socket.remoteAddress);
    if (this.#all >= this.#most) return this.#refuse(socket, 'total', address);
    if (!this.takeFrom(socket, address)) return false;
    this.#all++;
    socket.once('close', () => this.#all--);
    return true;
  }

  /** As reported by a balancer. */
  takeFrom(socket: Socket, address: string): boolean {
    const network = networkOf(address);
    const open = this.#open.get(network) ?? 0;
    // Trusted proxies carry clients of many addresses, so only the total bounds them.
    if (open >= this.#mostPerAddress && !this.#proxies.has(address)) return this.#refuse(socket, 'address', address);
    this.#open.set(network, open + 1);
    socket.once('close', () => this.#release(network));
    return true;
  }

  #refuse(socket: Socket, reason: EventOf<'connection.refused'>['reason'], address: string): false {
    socket.destroy();
    this.#observe({ type: 'connection.refused', reason, address });
    return false;
  }

  #release(network: string): void {
    const left = this.#open.get(network)! - 1;
    if (left === 0) this.#open.delete(network);
    else this.#open.set(network, left);
  }
}
