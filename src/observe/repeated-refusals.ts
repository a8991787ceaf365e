import { networkOf } from '../callers/address.ts';
import { Cache } from '../common/cache.ts';
import type { RequestEvent } from './events.ts';

/** So many refusals from one source have a line at once, and one more for each `REFILL` milliseconds. */
const AT_ONCE = 10;
const REFILL = 1_000;
/** Milliseconds after which summed refusals are written; longer than `REFILL`, as a timer may fire a little early. */
const REST = 1_100;
/** Sources that are known at the same time: at least so many, at most twice as many. */
const SOURCES = 2_000;
const STATUSES: ReadonlySet<number> = new Set([401, 403, 429]);

interface Source {
  allowance: number;
  /** When the allowance held, in milliseconds. */
  at: number;
  /** Refusals without a line since the last one that had one, and the newest of them. */
  silent: number;
  last: RequestEvent | null;
}

/** Writes the line of a request that stands for `count` requests. */
export type WriteLine = (event: RequestEvent, count: number) => void;

/**
 * Writes a line for each request, but of equal refusals (one code, one key or address) ten at once and then one a second that stands for
 * all since the line before. A flood of refusals would fill the disk. What is summed up is written a second later if no refusal follows.
 */
export class RepeatedRefusals {
  readonly #write: WriteLine;
  readonly #sources = new Cache<Source>(SOURCES);
  readonly #summed = new Set<Source>();
  #timer: NodeJS.Timeout | null = null;

  constructor(write: WriteLine) {
    this.#write = write;
  }

  take(event: RequestEvent): void {
    const { status, code, keyId, address } = event;
    if (!STATUSES.has(status)) {
      this.#write(event, 1);
      return;
    }
    const name = `${code} ${keyId ?? networkOf(address)}`;
    let source = this.#sources.get(name);
    if (source === undefined) {
      source = { allowance: AT_ONCE, at: performance.now(), silent: 0, last: null };
      this.#sources.set(name, source);
    }
    source.silent++;
    source.last = event;
    if (this.#writeOf(source)) return;
    this.#summed.add(source);
    this.#timer ??= setInterval(() => this.#writeSummed(), REST).unref();
  }

  /** Writes what is summed up. */
  close(): void {
    for (const source of this.#summed) source.allowance = 1;
    this.#writeSummed();
  }

  #writeSummed(): void {
    for (const source of this.#summed) this.#writeOf(source);
    if (this.#summed.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Writes the line of a source, if it may have one now. */
  #writeOf(source: Source): boolean {
    const at = performance.now();
    source.allowance = Math.min(AT_ONCE, source.allowance + (at - source.at) / REFILL);
    source.at = at;
    if (source.allowance < 1) return false;
    source.allowance--;
    this.#summed.delete(source);
    const { silent, last } = source;
    source.silent = 0;
    source.last = null;
    this.#write(last!, silent);
    return true;
  }
}
