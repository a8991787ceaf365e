import { bindingReading, type Reading } from '../../limits/admission.ts';
import type { Window } from '../../limits/limits.ts';

/** Where a caller stands: its own windows, or the guard window of its address before it is known. */
export interface Standing {
  readonly readings: readonly Reading[];
  /** The clock that the readings' times belong to, Unix milliseconds. */
  readonly now: number;
}

/** Headers that browsers let a page read (Fetch standard, CORS-safelisted are not enough for any of these). */
export const EXPOSED_HEADERS =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, ' +
  'X-Ban-Warning, X-Key-Retires, Deprecation, Sunset, Link, X-Stability-Level, Location, ETag, X-Next-Cursor';

/**
 * Names that V8 keeps in one byte per character. Spelt in a function they might be found in a contract's text first, as two,
 * and every answer would be put together, and converted, in two.
 */
const [LIMIT, REMAINING, RESET, POLICY, STANDING] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];

/**
 * Adds the limit headers: the binding window in the X-RateLimit three (Reset in Unix seconds, rounded up so that a
 * caller who waits for it is not early), and all windows in the pair of draft-ietf-httpapi-ratelimit-headers.
 */
export function pushLimitHeaders(headers: string[], { readings, now }: Standing): void {
  const { window, remaining, resetAt } = bindingReading(readings);
  let list = '';
  for (const reading of readings) {
    if (list) list += ', ';
    list += `"${reading.window.name}";r=${reading.remaining};t=${wholeSeconds(reading.resetAt - now)}`;
  }
  headers.push(
    LIMIT,
    `${window.limit}`,
    REMAINING,
    `${remaining}`,
    RESET,
    `${Math.ceil(resetAt / 1000)}`,
    POLICY,
    policyOf(readings),
    STANDING,
    list,
  );
}

/** Retry-After in delay-seconds (RFC 9110 section 10.2.3): never early, never 0. */
export function retryAfter(retryAt: number, now: number): string[] {
  return ['Retry-After', `${wholeSeconds(retryAt - now)}`];
}

export function wholeSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}

const policies = new WeakMap<Window, string>();

function policyOf(readings: readonly Reading[]): string {
  let list = '';
  for (const { window } of readings) {
    let policy = policies.get(window);
    if (policy === undefined) {
      policy = `"${window.name}";q=${window.limit};w=${wholeSeconds(window.span)}`;
      policies.set(window, policy);
    }
    list = list ? `${list}, ${policy}` : policy;
  }
  return list;
}
