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
export class OpenPlaces {
  readonly #networks = new Map<string, Network>();
  readonly #all = new Set<Taken>();
  #walk = this.#all.values();
  #ending = 0;

  /** Without those that are ending. */
  get count(): number {
    return this.#all.size - this.#ending;
  }

  heldBy(network: string): number {
    return this.#networks.get(network)?.open ?? 0;
  }

  rankOf(name: string, isProxy: boolean): Rank {
    const network = this.#networks.get(name);
    if (network === undefined || isProxy) return 'newcomer';
    if (this.#isSmall(network)) return 'small';
    return network.isKnown ? 'known' : 'large';
  }

  add(network: string, isProxy: boolean): Taken {
    const place = new Taken(this.#networkOf(network), isProxy);
    this.#all.add(place);
    return place;
  }

  move(place: Place, network: string, isProxy: boolean): void {
    const taken = place as Taken;
    this.#leave(taken.network);
    taken.network = this.#networkOf(network);
    taken.network.add(taken);
    taken.isProxy = isProxy;
  }

  remove(place: Taken): void {
    this.#all.delete(place);
    if (place.isEnding) this.#ending--;
    this.#leave(place.network);
  }

  end(place: Taken): void {
    place.isEnding = true;
    this.#ending++;
    place.occupant!.endIdle();
  }

  /** Continues where the last search stopped. */
  idle(now: number): Idle[] {
    const idle: Idle[] = [];
    for (
      let left = Math.min(this.#all.size, MOST_CONSIDERED);
      left > 0;
      left--
    ) {
      const place = this.#next();
      const { occupant, isEnding, isProxy, network } = place;
      if (occupant === null || isEnding) continue;
      const { idleSince: since, known: isKnown } = occupant;
      if (isKnown) network.know();
      const grace = isProxy || this.#isSmall(network) ? GRACE : GRACE_OF_LARGE;
      if (now - since >= grace)
        idle.push({ place, since, isKnown, isProxy, network });
    }
    return idle;
  }

  #next(): Taken {
    let next = this.#walk.next();
    if (next.done) {
      this.#walk = this.#all.values();
      next = this.#walk.next();
    }
    return next.value!;
  }

  #isSmall({ open }: Network): boolean {
    return 2 * open * this.#networks.size < this.#all.size;
  }

  #networkOf(name: string): Network {
    const network = this.#networks.get(name) ?? new Network(name);
    this.#networks.set(name, network);
    return network;
  }

  #leave(network: Network): void {
    network.open--;
    if (network.open === 0) this.#networks.delete(network.name);
  }
}
