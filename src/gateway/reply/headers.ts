import type { Refusal } from '../../errors/refusals.ts';
import { wholeSeconds } from '../../errors/retry-after.ts';
import { bindingReading, type Reading, type Standing } from '../../limits/admission.ts';
import type { Window } from '../../limits/limits.ts';

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

/** What every refusal says about its body, and what it says itself. */
export function failureFields({ headers }: Refusal): string[] {
  return ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store', ...headers];
}
