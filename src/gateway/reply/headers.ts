import type { Refusal } from '../../errors/refusals.ts';
import { wholeSeconds } from '../../errors/retry-after.ts';
import { bindingReading, type Reading, type Standing } from '../../limits/admission.ts';
import type { Window } from '../../limits/limits.ts';

/** Headers that browsers let a page read; none of them is CORS-safelisted (Fetch standard). */
export const EXPOSED_HEADERS =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, ' +
  'X-Ban-Warning, X-Key-Retires, Deprecation, Sunset, Link, X-Stability-Level, Location, ETag, X-Next-Cursor';

/**
 * V8 keeps names spelt here in one byte per character. Inside a function it might reuse two-byte copies from a contract's
 * text, and would then build and convert every answer in two bytes per character.
 */
const [LIMIT, REMAINING, RESET, POLICY, STANDING] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];

/**
 * Adds the limit headers: the binding window in the three X-RateLimit headers, and all windows in the two of
 * draft-ietf-httpapi-ratelimit-headers. X-RateLimit-Reset is in Unix seconds, rounded up so that a caller who waits for it
 * is not early.
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

/** The headers of every refusal, then this refusal's own. */
export function failureFields({ headers }: Refusal): string[] {
  return ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store', ...headers];
}
