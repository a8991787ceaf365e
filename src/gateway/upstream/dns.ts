import type { LookupAddress } from 'node:dns';
import { lookup as lookUp } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';

/** Milliseconds between two look-ups at least, however many connections fail. */
const SOONEST = 1_000;

export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

export interface DnsResolverParts {
  /** As in a URL. */
  readonly host: string;
  /** Milliseconds from one look-up to the next. */
  readonly every: number;
  /** These are the addresses now, and they are not those of before. */
  readonly moved: (addresses: ReadonlySet<string>) => void;
  readonly resolve?: Resolve;
}

const bySystem: Resolve = (host) => lookUp(host, { all: true });

/**
 * The addresses behind the name of a store. They are looked up again and again, and whenever a connection fails. New connections begin with
 * another of them each time, and try the next where one does not take it; what the name server cannot tell stays as it was.
 */
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

  /** For connections. */
  readonly lookup: LookupFunction = (_host, options, done) => {
    const tell = () => {
      const addresses = this.#inTurn();
      if (options.all) done(null, addresses);
      else done(null, addresses[0]!.address, addresses[0]!.family);
    };
    if (this.#known.length > 0) return tell();
    this.#lookUp().then(tell, (error) => done(error, []));
  };

  use(every: number): void {
    if (every === this.#every) return;
    this.#every = every;
    this.#plan();
  }

  /** A connection failed: perhaps the store is elsewhere now. */
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

  /** Nobody waits for it, and what is known stays if it fails. */
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
    if (found.length === 0) throw Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' });
    const before = new Set(this.#known.map(({ address }) => address));
    const now = new Set(found.map(({ address }) => address));
    this.#known = found;
    if (before.size > 0 && before.symmetricDifference(now).size > 0) moved(now);
  }

  /** All of them, beginning with the next. */
  #inTurn(): LookupAddress[] {
    const first = this.#turn++ % this.#known.length;
    return [...this.#known.slice(first), ...this.#known.slice(0, first)];
  }
}

/** Whether the host of a URL is a name, and no address. */
export const isName = (host: string): boolean => isIP(host.replace(/^\[|\]$/g, '')) === 0;
