import { networkOf } from '../callers/address.ts';
import { Cache } from '../common/cache.ts';
import type { RequestEvent } from './events.ts';

/** So many refusals from one source have a line at once, and one more for each `REFILL` milliseconds. */
const AT_ONCE = 10;
const REFILL = 1_000;
/** Sources that are known at the same time: at least so many, at most twice as many. */
const SOURCES = 2_000;
const STATUSES: ReadonlySet<number> = new Set([401, 403, 429]);

interface Source {
  allowance: number;
  /** When the allowance held, in milliseconds. */
  at: number;
  /** Refusals without a line since the last one that had one. */
  silent: number;
}

/**
 * Returns a function that says for how many requests a line stands: 1, or more if equal refusals (one code, one key or address) came
 * before it without a line; `null` if the request has no line itself. A flood of refusals would fill the disk.
 *
 * @param now milliseconds of a clock that never goes back
 */
export function repeatedRefusals(now: () => number): (event: RequestEvent) => number | null {
  const sources = new Cache<Source>(SOURCES);
  return ({ status, code, keyId, address }) => {
    if (!STATUSES.has(status)) return 1;
    const name = `${code} ${keyId ?? networkOf(address)}`;
    const at = now();
    let source = sources.get(name);
    if (source === undefined) {
      source = { allowance: AT_ONCE, at, silent: 0 };
      sources.set(name, source);
    }
    source.allowance = Math.min(AT_ONCE, source.allowance + (at - source.at) / REFILL);
    source.at = at;
    if (source.allowance < 1) {
      source.silent++;
      return null;
    }
    source.allowance--;
    const count = source.silent + 1;
    source.silent = 0;
    return count;
  };
}
