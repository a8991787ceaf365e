import type { Socket } from 'node:net';
import { networkOf, plainAddress, type TrustedProxies, trustedProxies } from '../../callers/address.ts';
import type { HttpLimits } from '../../config/config.ts';
import type { Observe, RefusedConnectionEvent } from '../../observe/events.ts';

type Limits = Pick<HttpLimits, 'maxConnections' | 'maxConnectionsPerAddress' | 'trustedProxies'> & {
  /** CIDR blocks of balancers that say whose each connection is. */
  readonly balancers?: readonly string[];
};

/** Callers behind one address that `auto` leaves in peace: a company, or the subscribers that share an address of their provider. */
const NEIGHBOURS = 256;

/** Most connections of one address. `auto`: a tenth of all, at least NEIGHBOURS, and never more than half of all. */
export function mostPerAddress({ maxConnections, maxConnectionsPerAddress }: Omit<Limits, 'trustedProxies'>): number {
  if (maxConnectionsPerAddress !== 'auto') return maxConnectionsPerAddress;
  return Math.min(Math.max(Math.ceil(maxConnections / 10), NEIGHBOURS), Math.ceil(maxConnections / 2));
}

/**
 * Counts open connections, all of them and those of each caller address (IPv6: of each /64), and closes what is too many. Its
 * memory is bounded by the connections that are open: an address without one is forgotten.
 */
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

  /** Puts these limits in force for connections that come from now on; it closes none that is open. */
  use(limits: Limits): void {
    this.#most = limits.maxConnections;
    this.#mostPerAddress = mostPerAddress(limits);
    this.#proxies = trustedProxies([...limits.trustedProxies, ...(limits.balancers ?? [])]);
  }

  /**
   * Takes a connection that was just accepted and counts it until it closes. One too many is closed at once, without an
   * answer: it would cost a parser, a write and a wait for each, and who floods does not read it.
   */
  take(socket: Socket): boolean {
    const address = plainAddress(socket.remoteAddress);
    if (this.#all >= this.#most) return this.#refuse(socket, 'total', address);
    if (!this.takeFrom(socket, address)) return false;
    this.#all++;
    socket.once('close', () => this.#all--);
    return true;
  }

  /** The same for a connection that was taken, and that is one of another address, as a balancer says. */
  takeFrom(socket: Socket, address: string): boolean {
    const network = networkOf(address);
    const open = this.#open.get(network) ?? 0;
    // Trusted proxies bring the callers of many addresses, so only the whole bounds them.
    if (open >= this.#mostPerAddress && !this.#proxies.has(address)) return this.#refuse(socket, 'address', address);
    this.#open.set(network, open + 1);
    socket.once('close', () => this.#release(network));
    return true;
  }

  #refuse(socket: Socket, reason: RefusedConnectionEvent['reason'], address: string): false {
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
