import type { Socket } from 'node:net';
import type { Place } from '@storegate/http1';
import {
  networkOf,
  plainAddress,
  trustedProxies,
} from '../../common/clients/address.ts';
import type { HttpLimits } from '../../config/config.ts';
import type { EventOf, Observe } from '../../observe/events.ts';
import {
  levelsOf,
  mostPerAddress,
  RANKS,
  type Rank,
} from './connection-levels.ts';
import { inOrderOfEnd } from './idle-order.ts';
import { createOpenPlaces, type Idle } from './open-places.ts';

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
/** Milliseconds: by then many connections that have just arrived count as idle. */
const PATIENCE = 1_500;
/** So that large networks that reconnect at once leave idle connections to end for others. */
const SHARE_OF_LARGE = 10;

const readLimits = (limits: Limits) => ({
  levels: levelsOf(limits.maxConnections),
  most: mostPerAddress(limits),
  proxies: trustedProxies([
    ...limits.trustedProxies,
    ...(limits.balancers ?? []),
  ]),
});

const noneWaiting = (): Waiting => ({
  newcomer: [],
  small: [],
  known: [],
  large: [],
});

/** IPv6 per /64. Memory is bounded by the open connections. */
export function createConnectionLimits(initial: Limits, observe: Observe) {
  const places = createOpenPlaces();
  let { levels, most, proxies } = readLimits(initial);
  let waiting = noneWaiting();
  let searchAt = Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let nextSearch = 0;
  let nextUrgentSearch = 0;

  return {
    use(limits: Limits): void {
      ({ levels, most, proxies } = readLimits(limits));
    },
    /**
     * Calls `enter`, or closes the connection without a response, which would cost a parser, a write
     * and a wait. If all places are taken, the connection waits for a search for idle ones.
     */
    take(socket: Socket, enter: (place: Place) => void): void {
      const client = clientAt(plainAddress(socket.remoteAddress));
      const newcomer = { socket, client, enter, since: performance.now() };
      const reason = reasonToRefuse(newcomer);
      if (places.count > levels.roomy) searchBy(nextSearch);
      if (reason === 'total') wait(newcomer);
      else if (reason !== null) refuse(newcomer, reason);
    },
    /**
     * Moves a place from its balancer to the address that the balancer reports, or closes the
     * connection.
     */
    takeFrom(place: Place, address: string): boolean {
      const client = clientAt(address);
      const reason = reasonAgainst(client, places.count - 1);
      if (reason === null) {
        places.move(place, client.network, client.isProxy);
        return true;
      }
      place.occupant?.destroy();
      observe({ type: 'connection.refused', reason, address });
      return false;
    },
  };

  function clientAt(address: string): Client {
    return {
      address,
      network: networkOf(address),
      isProxy: proxies.has(address),
    };
  }

  /** `null`: it has entered. */
  function reasonToRefuse({ socket, client, enter }: Newcomer): Reason | null {
    const reason = reasonAgainst(client, places.count);
    if (reason !== null) return reason;
    const place = places.add(client.network, client.isProxy);
    socket.once('close', () => places.remove(place));
    enter(place);
    return null;
  }

  function reasonAgainst(client: Client, count: number): Reason | null {
    const held = places.heldBy(client.network);
    // Trusted proxies carry clients of many addresses, so only the total bounds them.
    if (held >= most && !client.isProxy) return 'address';
    return count >= levels.full[rankOf(client)] ? 'total' : null;
  }

  function rankOf({ network, isProxy }: Client): Rank {
    return places.rankOf(network, isProxy);
  }

  function refuse(
    { socket, client: { address } }: Newcomer,
    reason: Reason,
  ): void {
    socket.destroy();
    observe({ type: 'connection.refused', reason, address });
  }

  function wait(newcomer: Newcomer): void {
    const rank = rankOf(newcomer.client);
    if (waiting[rank].length >= levels.waiting[rank]) {
      refuse(newcomer, 'total');
      return;
    }
    waiting[rank].push(newcomer);
    const isUrgent = rank === 'newcomer' || rank === 'small';
    searchBy(isUrgent ? nextUrgentSearch : nextSearch);
  }

  function searchBy(time: number): void {
    if (time >= searchAt) return;
    searchAt = time;
    clearTimeout(timer);
    const search = () => {
      searchAt = Number.NEGATIVE_INFINITY;
      // An immediate comes after the reads of its turn, so a request that has arrived is in flight.
      setImmediate(freeSpace);
    };
    timer = setTimeout(search, Math.max(0, time - performance.now())).unref();
  }

  function freeSpace(): void {
    const all = waiting;
    waiting = noneWaiting();
    searchAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    nextSearch = now + PAUSE;
    const ended = endIdle(all, now);
    const { roomy, made } = levels;
    if (ended < roomy - made) nextUrgentSearch = now + PAUSE;
    for (const rank of RANKS) {
      for (const newcomer of all[rank]) {
        const reason = newcomer.socket.destroyed
          ? null
          : reasonToRefuse(newcomer);
        if (reason === null) continue;
        const isPatient =
          reason === 'total' &&
          rank !== 'large' &&
          now - newcomer.since < PATIENCE;
        if (isPatient) wait(newcomer);
        else refuse(newcomer, reason);
      }
    }
  }

  /** Large networks without a key displace no connection that had one. */
  function endIdle(
    { newcomer, small, known, large }: Waiting,
    now: number,
  ): number {
    const { roomy, made } = levels;
    const idle = inOrderOfEnd(places.idle(now));
    const withKey = idle.filter(({ isKnown }) => isKnown);
    const withoutKey = idle.slice(0, idle.length - withKey.length);
    const favoured = newcomer.length + small.length + known.length;
    const others = Math.min(
      large.length,
      Math.floor(withoutKey.length / SHARE_OF_LARGE),
    );
    const ended = withoutKey.slice(
      0,
      Math.max(0, places.count + favoured + others - made),
    );
    const more = favoured === 0 ? 0 : favoured + roomy - made - ended.length;
    ended.push(...withKey.slice(0, Math.max(0, more)));
    end(ended);
    return ended.length;
  }

  function end(ended: readonly Idle[]): void {
    if (ended.length === 0) return;
    for (const { place } of ended) places.end(place);
    setTimeout(() => {
      for (const { place } of ended) place.occupant!.destroy();
    }, LINGER).unref();
    const withKey = ended.filter(({ isKnown }) => isKnown).length;
    observe({
      type: 'connection.ended',
      withKey,
      withoutKey: ended.length - withKey,
    });
  }
}

export type ConnectionLimits = ReturnType<typeof createConnectionLimits>;
