import type { Occupant, Place } from '@storegate/http1';
import type { Rank } from './connection-levels.ts';
import type { IdlePlace } from './idle-order.ts';

class Network {
  readonly name: string;
  open = 0;
  newest: Taken | null = null;
  #isKnown = false;

  constructor(name: string) {
    this.name = name;
  }

  /** Whether one of its connections had a valid key; of an older one the next search finds that. */
  get isKnown(): boolean {
    this.#isKnown ||= this.newest?.occupant?.known === true;
    return this.#isKnown;
  }

  add(place: Taken): void {
    this.#isKnown = this.isKnown;
    this.newest = place;
    this.open++;
  }

  know(): void {
    this.#isKnown = true;
  }
}

class Taken implements Place {
  occupant: Occupant | null = null;
  network: Network;
  isProxy: boolean;
  isEnding = false;

  constructor(network: Network, isProxy: boolean) {
    this.network = network;
    this.isProxy = isProxy;
    network.add(this);
  }
}

export interface Idle extends IdlePlace {
  readonly place: Taken;
}

/**
 * Milliseconds until a connection counts as idle: a handshake, a head or the next request takes
 * some.
 */
const GRACE = 2_000;
/** Shorter: a network that reopens at once what was ended would never have an idle connection. */
const GRACE_OF_LARGE = 250;
/** Connections that one search considers, which takes 3 ms. */
const MOST_CONSIDERED = 10_000;

/** Open connections by network. */
export function createOpenPlaces() {
  const networks = new Map<string, Network>();
  const all = new Set<Taken>();
  let cursor = all.values();
  let ending = 0;

  return {
    /** Without those that are ending. */
    get count(): number {
      return all.size - ending;
    },
    heldBy(network: string): number {
      return networks.get(network)?.open ?? 0;
    },
    rankOf(name: string, isProxy: boolean): Rank {
      const network = networks.get(name);
      if (network === undefined || isProxy) return 'newcomer';
      if (isSmall(network)) return 'small';
      return network.isKnown ? 'known' : 'large';
    },
    add(network: string, isProxy: boolean): Taken {
      const place = new Taken(networkOf(network), isProxy);
      all.add(place);
      return place;
    },
    move(place: Place, network: string, isProxy: boolean): void {
      const taken = place as Taken;
      leave(taken.network);
      taken.network = networkOf(network);
      taken.network.add(taken);
      taken.isProxy = isProxy;
    },
    remove(place: Taken): void {
      all.delete(place);
      if (place.isEnding) ending--;
      leave(place.network);
    },
    end(place: Taken): void {
      place.isEnding = true;
      ending++;
      place.occupant!.endIdle();
    },
    /** Continues where the last search stopped. */
    idle(now: number): Idle[] {
      const idle: Idle[] = [];
      for (
        let remaining = Math.min(all.size, MOST_CONSIDERED);
        remaining > 0;
        remaining--
      ) {
        const place = nextPlace();
        const { occupant, isEnding, isProxy, network } = place;
        if (occupant === null || isEnding) continue;
        const { idleSince: since, known: isKnown } = occupant;
        if (isKnown) network.know();
        const grace = isProxy || isSmall(network) ? GRACE : GRACE_OF_LARGE;
        if (now - since >= grace)
          idle.push({ place, since, isKnown, isProxy, network });
      }
      return idle;
    },
  };

  function nextPlace(): Taken {
    let next = cursor.next();
    if (next.done) {
      cursor = all.values();
      next = cursor.next();
    }
    return next.value!;
  }

  function isSmall({ open }: Network): boolean {
    return 2 * open * networks.size < all.size;
  }

  function networkOf(name: string): Network {
    const network = networks.get(name) ?? new Network(name);
    networks.set(name, network);
    return network;
  }

  function leave(network: Network): void {
    network.open--;
    if (network.open === 0) networks.delete(network.name);
  }
}
