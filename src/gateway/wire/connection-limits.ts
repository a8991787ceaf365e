import type { Socket } from 'node:net';
import type { Place } from '@storegate/http1';
import {
  networkOf,
  plainAddress,
  type TrustedProxies,
  trustedProxies,
} from '../../common/callers/address.ts';
import type { HttpLimits } from '../../config/config.ts';
import type { EventOf, Observe } from '../../observe/events.ts';
import {
  levelsOf,
  mostPerAddress,
  RANKS,
  type Rank,
} from './connection-levels.ts';
import { inOrderOfEnd } from './idle-order.ts';
import { type Idle, OpenPlaces } from './open-places.ts';

type Limits = Pick<
  HttpLimits,
  'maxConnections' | 'maxConnectionsPerAddress' | 'trustedProxies'
> & {
  /** They send a PROXY protocol header. */
  readonly balancers?: readonly string[];
};

interface Client {
  readonly address: string;
  readonly network: string;
  readonly isProxy: boolean;
}

interface Newcomer {
  readonly socket: Socket;
  readonly client: Client;
  readonly enter: (place: Place) => void;
  readonly since: number;
}

type Waiting = Record<Rank, Newcomer[]>;

type Reason = EventOf<'connection.refused'>['reason'];

/** Milliseconds until an ended connection is closed, whatever its client does. */
const LINGER = 100;
/** Milliseconds between searches that may wait: a bound for clients that reconnect at once. */
const PAUSE = 100;
/** Milliseconds: by then a crowd that has just arrived counts as idle. */
const PATIENCE = 1_500;
/** So that large networks that reconnect at once leave idle connections to end for others. */
const SHARE_OF_LARGE = 10;

const noneWaiting = (): Waiting => ({
  newcomer: [],
  small: [],
  known: [],
  large: [],
});

/** IPv6 per /64. Memory is bounded by the open connections. */
export class ConnectionLimits {
  readonly #observe: Observe;
  readonly #places = new OpenPlaces();
  #levels = levelsOf(1);
  #mostPerAddress = 1;
  #proxies: TrustedProxies = trustedProxies([]);
  #waiting = noneWaiting();
  #searchAt = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #nextSearch = 0;
  #nextUrgentSearch = 0;

  constructor(limits: Limits, observe: Observe) {
    this.#observe = observe;
    this.use(limits);
  }

  use(limits: Limits): void {
    this.#levels = levelsOf(limits.maxConnections);
    this.#mostPerAddress = mostPerAddress(limits);
    this.#proxies = trustedProxies([
      ...limits.trustedProxies,
      ...(limits.balancers ?? []),
    ]);
  }

  /**
   * Calls `enter`, or closes the connection without a response, which would cost a parser, a write
   * and a wait. If all places are taken, the connection waits for a search for idle ones.
   */
  take(socket: Socket, enter: (place: Place) => void): void {
    const client = this.#clientAt(plainAddress(socket.remoteAddress));
    const newcomer = { socket, client, enter, since: performance.now() };
    const reason = this.#enter(newcomer);
    if (this.#places.count > this.#levels.roomy)
      this.#searchBy(this.#nextSearch);
    if (reason === 'total') this.#wait(newcomer);
    else if (reason !== null) this.#refuse(newcomer, reason);
  }

  /**
   * Moves a place from its balancer to the address that the balancer reports, or closes the
   * connection.
   */
  takeFrom(place: Place, address: string): boolean {
    const client = this.#clientAt(address);
    const reason = this.#reasonAgainst(client, this.#places.count - 1);
    if (reason === null) {
      this.#places.move(place, client.network, client.isProxy);
      return true;
    }
    place.occupant?.destroy();
    this.#observe({ type: 'connection.refused', reason, address });
    return false;
  }

  #clientAt(address: string): Client {
    return {
      address,
      network: networkOf(address),
      isProxy: this.#proxies.has(address),
    };
  }

  #enter({ socket, client, enter }: Newcomer): Reason | null {
    const reason = this.#reasonAgainst(client, this.#places.count);
    if (reason !== null) return reason;
    const place = this.#places.add(client.network, client.isProxy);
    socket.once('close', () => this.#places.remove(place));
    enter(place);
    return null;
  }

  #reasonAgainst(client: Client, count: number): Reason | null {
    const held = this.#places.heldBy(client.network);
    // Trusted proxies carry clients of many addresses, so only the total bounds them.
    if (held >= this.#mostPerAddress && !client.isProxy) return 'address';
    return count >= this.#levels.full[this.#rankOf(client)] ? 'total' : null;
  }

  #rankOf({ network, isProxy }: Client): Rank {
    return this.#places.rankOf(network, isProxy);
  }

  #refuse({ socket, client: { address } }: Newcomer, reason: Reason): void {
    socket.destroy();
    this.#observe({ type: 'connection.refused', reason, address });
  }

  #wait(newcomer: Newcomer): void {
    const rank = this.#rankOf(newcomer.client);
    const waiting = this.#waiting[rank];
    if (waiting.length >= this.#levels.waiting[rank]) {
      this.#refuse(newcomer, 'total');
      return;
    }
    waiting.push(newcomer);
    const isUrgent = rank === 'newcomer' || rank === 'small';
    this.#searchBy(isUrgent ? this.#nextUrgentSearch : this.#nextSearch);
  }

  #searchBy(time: number): void {
    if (time >= this.#searchAt) return;
    this.#searchAt = time;
    clearTimeout(this.#timer);
    const search = () => {
      this.#searchAt = Number.NEGATIVE_INFINITY;
      // An immediate comes after the reads of its turn, so a request that has arrived is in flight.
      setImmediate(() => this.#makeRoom());
    };
    this.#timer = setTimeout(
      search,
      Math.max(0, time - performance.now()),
    ).unref();
  }

  #makeRoom(): void {
    const waiting = this.#waiting;
    this.#waiting = noneWaiting();
    this.#searchAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    this.#nextSearch = now + PAUSE;
    const ended = this.#endIdle(waiting, now);
    const { roomy, made } = this.#levels;
    if (ended < roomy - made) this.#nextUrgentSearch = now + PAUSE;
    for (const rank of RANKS) {
      for (const newcomer of waiting[rank]) {
        const reason = newcomer.socket.destroyed ? null : this.#enter(newcomer);
        if (reason === null) continue;
        const isPatient =
          reason === 'total' &&
          rank !== 'large' &&
          now - newcomer.since < PATIENCE;
        if (isPatient) this.#wait(newcomer);
        else this.#refuse(newcomer, reason);
      }
    }
  }

  /** Large networks without a key displace no connection that had one. */
  #endIdle({ newcomer, small, known, large }: Waiting, now: number): number {
    const { roomy, made } = this.#levels;
    const idle = inOrderOfEnd(this.#places.idle(now));
    const withKey = idle.filter(({ isKnown }) => isKnown);
    const withoutKey = idle.slice(0, idle.length - withKey.length);
    const favoured = newcomer.length + small.length + known.length;
    const others = Math.min(
      large.length,
      Math.floor(withoutKey.length / SHARE_OF_LARGE),
    );
    const ended = withoutKey.slice(
      0,
      Math.max(0, this.#places.count + favoured + others - made),
    );
    const more = favoured === 0 ? 0 : favoured + roomy - made - ended.length;
    ended.push(...withKey.slice(0, Math.max(0, more)));
    this.#end(ended);
    return ended.length;
  }

  #end(ended: readonly Idle[]): void {
    if (ended.length === 0) return;
    for (const { place } of ended) this.#places.end(place);
    setTimeout(() => {
      for (const { place } of ended) place.occupant!.destroy();
    }, LINGER).unref();
    const withKey = ended.filter(({ isKnown }) => isKnown).length;
    this.#observe({
      type: 'connection.ended',
      withKey,
      withoutKey: ended.length - withKey,
    });
  }
}
