import { Cache } from '../common/cache.ts';
import { networkOf } from '../common/callers/address.ts';
import { DelayedRun } from '../common/delayed-run.ts';
import type { RequestEvent } from './events.ts';

/** The allowance of one source, and the milliseconds per further line. */
const AT_ONCE = 10;
const REFILL = 1_000;
/** Milliseconds; longer than `REFILL`, as a timer may fire early. */
const REST = 1_100;
/** Known sources: at least so many, at most twice as many. */
const SOURCES = 2_000;
const STATUSES: ReadonlySet<number> = new Set([401, 403, 429]);

interface Source {
  allowance: number;
  /** Milliseconds. */
  at: number;
  silent: number;
  last: RequestEvent | null;
}

/** The line stands for `count` requests, by default one. */
type WriteLine = (event: RequestEvent, count?: number) => void;

/**
 * Limits the lines of equal refusals (same code, same key or address): ten at once, then one a
 * second with a count. A flood of refusals would otherwise fill the disk.
 */
export class RepeatedRefusals {
  readonly #write: WriteLine;
  readonly #sources = new Cache<Source>(SOURCES);
  readonly #summed = new Set<Source>();
  readonly #later = new DelayedRun(() => this.#writeSummed(), REST);

  constructor(write: WriteLine) {
    this.#write = write;
  }

  take(event: RequestEvent): void {
    const { status, code, keyId, address } = event;
    if (!STATUSES.has(status)) {
      this.#write(event);
      return;
    }
    const name = `${code} ${keyId ?? networkOf(address)}`;
    let source = this.#sources.get(name);
    if (source === undefined) {
      source = {
        allowance: AT_ONCE,
        at: performance.now(),
        silent: 0,
        last: null,
      };
      this.#sources.set(name, source);
    }
    source.silent++;
    source.last = event;
    if (this.#writeOf(source)) return;
    this.#summed.add(source);
    this.#later.plan();
  }

  close(): void {
    for (const source of this.#summed) source.allowance = 1;
    this.#writeSummed();
    this.#later.close();
  }

  #writeSummed(): void {
    for (const source of this.#summed) this.#writeOf(source);
    if (this.#summed.size > 0) this.#later.plan();
  }

  #writeOf(source: Source): boolean {
    const at = performance.now();
    source.allowance = Math.min(
      AT_ONCE,
      source.allowance + (at - source.at) / REFILL,
    );
    source.at = at;
    if (source.allowance < 1) return false;
    source.allowance--;
    this.#summed.delete(source);
    const { silent, last } = source;
    source.silent = 0;
    source.last = null;
    this.#write(last!, silent === 1 ? undefined : silent);
    return true;
  }
}
