import { createHmac, randomBytes } from 'node:crypto';

/** Clients with counters of their own within a span. Further clients share counters. */
export const OWN_COUNTERS = 50_000;

/**
 * `part`: which part of the own counters its clients may have. `shared`: the counters of its
 * further clients.
 */
interface Block {
  readonly name: string;
  readonly part: number;
  readonly shared: number;
}

const ALL: Block = { name: 'all', part: 1, shared: 1_024 };
/** IPv6 addresses cost nothing, so they leave half of the counters to IPv4. */
const IPV6: Block = { name: 'ipv6', part: 1 / 2, shared: 1_024 };
/**
 * A /48 is the network of one customer (RFC 6177), with 65,536 /64s. With a fiftieth one customer
 * cannot use up the counters, and a thousand clients of a large site still have their own.
 */
const NETWORK = { part: 1 / 50, shared: 64 };

/** Of this process, so that no client can compute which clients share a counter. */
const SECRET = randomBytes(32);

/**
 * Bounds the number of counters for client addresses. Clients share counters only with clients of
 * the narrowest block that has used up its part, so a block cannot exhaust the counters of others.
 */
export class CounterQuota {
  readonly #most: number;
  readonly #taken = new Map<string, number>();

  /** `most`: counters of their own in all. */
  constructor(most = OWN_COUNTERS) {
    this.#most = most;
  }

  /**
   * `network`: see `networkOf`. Returns the name of its shared counter; `null`: it may have its
   * own.
   */
  sharedBy(network: string): string | null {
    const full = blocksOf(network).find((block) => this.#isFull(block));
    return full === undefined
      ? null
      : `shared-${full.name}-${keyedHash(network) % full.shared}`;
  }

  /** Notes a network that has got a counter of its own. */
  take(network: string): void {
    for (const { name } of blocksOf(network))
      this.#taken.set(name, this.#of(name) + 1);
  }

  clear(): void {
    this.#taken.clear();
  }

  #isFull({ name, part }: Block): boolean {
    return this.#of(name) >= Math.max(1, Math.floor(part * this.#most));
  }

  #of(name: string): number {
    return this.#taken.get(name) ?? 0;
  }
}

/** The narrowest first. */
function blocksOf(network: string): readonly Block[] {
  if (!network.endsWith('::/64')) return [ALL];
  const name = `${network.split(':', 3).join(':')}::/48`;
  return [{ name, part: NETWORK.part, shared: NETWORK.shared }, IPV6, ALL];
}

function keyedHash(text: string): number {
  return createHmac('sha256', SECRET).update(text).digest().readUInt32BE(0);
}
