import { hash, randomBytes } from 'node:crypto';

/**
 * IPv4 clients with counters of their own within a span, and half as many of IPv6. Further clients
 * share counters.
 */
export const OWN_COUNTERS = 50_000;

/**
 * `part`: how many of the own counters its clients may have. `shared`: the counters of its further
 * clients. `divisor`: its clients reach one in so many of the counters that a block around it
 * shares.
 */
interface Level {
  readonly part: number;
  readonly shared: number;
  readonly divisor: number;
}

interface Block extends Level {
  readonly name: string;
}

const IPV4: Block = { name: 'ipv4', part: 1, shared: 1_024, divisor: 1_024 };
/** 64 for each of 1,024 groups of /32s. */
const IPV6: Block = {
  name: 'ipv6',
  part: 1 / 2,
  shared: 64 * 1_024,
  divisor: 1,
};
/** The network of a provider. With a fifth, three of them use up the counters of IPv6. */
const PROVIDER: Level = { part: 1 / 5, shared: 1_024, divisor: 1_024 };
const REGION: Level = { part: 1 / 10, shared: 256, divisor: 4 };
/**
 * The network of one customer (RFC 6177), with 65,536 /64s. A thousand clients of a large site
 * still have their own.
 */
const CUSTOMER: Level = { part: 1 / 50, shared: 64, divisor: 4 };

/** Of this process, so that no client can compute which clients share a counter. */
const SECRET = randomBytes(32).toString('hex');

/**
 * Bounds the number of counters for client addresses. Clients share counters only with clients of
 * the narrowest block that has used up its part, and a block in it reaches only some of these, so
 * no block can exhaust the counters of others. `most`: counters of their own of IPv4 clients.
 */
export function createCounterQuota(most = OWN_COUNTERS) {
  const taken = new Map<string, number>();

  function isFull({ name, part }: Block): boolean {
    return of(name) >= Math.max(1, Math.floor(part * most));
  }

  function of(name: string): number {
    return taken.get(name) ?? 0;
  }

  return {
    /**
     * `network`: see `networkOf`. Returns the name of its shared counter; `null`: it may have its
     * own.
     */
    sharedBy(network: string): string | null {
      const blocks = blocksOf(network);
      const full = blocks.findIndex((block) => isFull(block));
      if (full === -1) return null;
      const { name, shared } = blocks[full]!;
      let [first, count] = [0, shared];
      for (const inner of blocks.slice(0, full).reverse()) {
        count /= inner.divisor;
        first += count * (keyedHash(inner.name) % inner.divisor);
      }
      return `shared-${name}-${first + (keyedHash(network) % count)}`;
    },
    /** Notes a network that has got a counter of its own. */
    take(network: string): void {
      for (const { name } of blocksOf(network)) taken.set(name, of(name) + 1);
    },
    clear(): void {
      taken.clear();
    },
  };
}

/** The narrowest first. */
function blocksOf(network: string): readonly Block[] {
  if (!network.endsWith('::/64')) return [IPV4];
  const [one, two, three] = network.split(':', 3) as [string, string, string];
  const region = (Number.parseInt(three, 16) & 0xff00).toString(16);
  return [
    { name: `${one}:${two}:${three}::/48`, ...CUSTOMER },
    { name: `${one}:${two}:${region}::/40`, ...REGION },
    { name: `${one}:${two}::/32`, ...PROVIDER },
    IPV6,
  ];
}

const keyedHash = (text: string): number =>
  hash('sha256', SECRET + text, 'buffer').readUInt32BE(0);
