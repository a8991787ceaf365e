import type { LookupAddress } from 'node:dns';
import { lookup as lookUp } from 'node:dns/promises';
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

const bySystem: Resolve = (host) => lookUp(host, { all: true });

/** New connections start with another address each time. A failed look-up changes nothing. */
export class DnsResolver {
  readonly #parts: DnsResolverParts;
  #every: number;
  #known: readonly LookupAddress[] = [];
  #turn = 0;
  #asked = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: DnsResolverParts) {
    this.#parts = parts;
    this.#every = parts.every;
    this.#plan();
  }

  readonly lookup: LookupFunction = (_host, options, done) => {
    const report = () => {
      const addresses = this.#inTurn();
      if (options.all) done(null, addresses);
      else done(null, addresses[0]!.address, addresses[0]!.family);
    };
    if (this.#known.length > 0) return report();
    this.#lookUp().then(report, (error) => done(error, []));
  };

  use(every: number): void {
    if (every === this.#every) return;
    this.#every = every;
    this.#plan();
  }

  /** A failed connection: the addresses may have changed. */
  doubt(): void {
    if (performance.now() - this.#asked >= SOONEST) this.#again();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #plan(): void {
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#again(), this.#every).unref();
  }

  #again(): void {
    if (this.#known.length > 0) this.#lookUp().catch(() => {});
  }

  #lookUp(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #ask(): Promise<void> {
    const { host, moved, resolve = bySystem } = this.#parts;
    this.#asked = performance.now();
    const found = await resolve(host);
    if (found.length === 0)
      throw Object.assign(new Error(`${host} has no address`), {
        code: 'ENOTFOUND',
      });
    const before = new Set(this.#known.map(({ address }) => address));
    const now = new Set(found.map(({ address }) => address));
    this.#known = found;
    if (before.size > 0 && before.symmetricDifference(now).size > 0) moved(now);
  }

  #inTurn(): LookupAddress[] {
    const first = this.#turn++ % this.#known.length;
    return [...this.#known.slice(first), ...this.#known.slice(0, first)];
  }
}

export const isName = (host: string): boolean =>
  isIP(host.replace(/^\[|\]$/g, '')) === 0;
