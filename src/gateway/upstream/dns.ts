import type { LookupAddress } from 'node:dns';
import { lookup as lookUpBySystem } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';

/** Milliseconds. */
const SOONEST = 1_000;

type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

interface DnsResolverParts {
  readonly host: string;
  /** Milliseconds. */
  readonly every: number;
  readonly moved: (addresses: ReadonlySet<string>) => void;
  readonly resolve?: Resolve;
}

const bySystem: Resolve = (host) => lookUpBySystem(host, { all: true });

/** New connections start with another address each time. A failed look-up changes nothing. */
export function createDnsResolver({
  host,
  every,
  moved,
  resolve = bySystem,
}: DnsResolverParts) {
  let interval = every;
  let addresses: readonly LookupAddress[] = [];
  let turn = 0;
  let lookedUpAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  const lookup: LookupFunction = (_host, options, done) => {
    const report = () => {
      const addresses = inTurn();
      if (options.all) done(null, addresses);
      else done(null, addresses[0]!.address, addresses[0]!.family);
    };
    if (addresses.length > 0) return report();
    lookUp().then(report, (error) => done(error, []));
  };
  plan();

  return {
    lookup,
    use(every: number): void {
      if (every === interval) return;
      interval = every;
      plan();
    },
    /** A failed connection: the addresses may have changed. */
    doubt(): void {
      if (performance.now() - lookedUpAt >= SOONEST) again();
    },
    close(): void {
      clearInterval(timer);
    },
  };

  function plan(): void {
    clearInterval(timer);
    timer = setInterval(again, interval).unref();
  }

  function again(): void {
    if (addresses.length > 0) lookUp().catch(() => {});
  }

  function lookUp(): Promise<void> {
    asking ??= ask().finally(() => {
      asking = null;
    });
    return asking;
  }

  async function ask(): Promise<void> {
    lookedUpAt = performance.now();
    const found = await resolve(host);
    if (found.length === 0)
      throw Object.assign(new Error(`${host} has no address`), {
        code: 'ENOTFOUND',
      });
    const before = new Set(addresses.map(({ address }) => address));
    const now = new Set(found.map(({ address }) => address));
    addresses = found;
    if (before.size > 0 && before.symmetricDifference(now).size > 0) moved(now);
  }

  function inTurn(): LookupAddress[] {
    const first = turn++ % addresses.length;
    return [...addresses.slice(first), ...addresses.slice(0, first)];
  }
}

export const isName = (host: string): boolean =>
  isIP(host.replace(/^\[|\]$/g, '')) === 0;
