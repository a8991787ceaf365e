import { oneByte } from '../../common/one-byte.ts';
import type { Refusal } from '../../errors/refusals.ts';
import { wholeSeconds } from '../../errors/retry-after.ts';
import { checkedValue, type FieldLines } from '../../http1/writing.ts';
import { bindingReading, type Reading, type Standing } from '../../limits/admission.ts';
import type { Window } from '../../limits/limits.ts';

/** Headers that browsers let a page read; none of them is CORS-safelisted (Fetch standard). */
export const EXPOSED_HEADERS =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, ' +
  'X-Ban-Warning, X-Key-Retires, Deprecation, Sunset, Link, X-Stability-Level, Location, ETag, X-Next-Cursor';

const [LIMIT, REMAINING, RESET, POLICY, STANDING] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
].map(oneByte);

/**
 * Adds the limit headers: the binding window in the three X-RateLimit headers, and all windows in the two of
 * draft-ietf-httpapi-ratelimit-headers. X-RateLimit-Reset is in Unix seconds, rounded up so that a caller who waits for it
 * is not early.
 */
export function addLimitHeaders(lines: FieldLines, { readings, now }: Standing): void {
  const { window, remaining, resetAt } = bindingReading(readings);
  let list = '';
  for (const reading of readings) {
    if (list) list += ', ';
    list += `${wordsOf(reading.window).name};r=${reading.remaining};t=${wholeSeconds(reading.resetAt - now)}`;
  }
  lines.addNumber(LIMIT!, window.limit);
  lines.addNumber(REMAINING!, remaining);
  lines.addNumber(RESET!, Math.ceil(resetAt / 1000));
  lines.addKnown(POLICY!, policyOf(readings));
  lines.addKnown(STANDING!, list);
}

/** What the two headers of the draft say of a window whatever is left in it. */
interface Words {
  readonly name: string;
  readonly policy: string;
}

const words = new WeakMap<Window, Words>();

function wordsOf(window: Window): Words {
  const known = words.get(window);
  if (known !== undefined) return known;
  const name = oneByte(checkedValue(POLICY!, `"${window.name}"`));
  const made = { name, policy: oneByte(`${name};q=${window.limit};w=${wholeSeconds(window.span)}`) };
  words.set(window, made);
  return made;
}

function policyOf(readings: readonly Reading[]): string {
  let list = '';
  for (const { window } of readings) {
    const { policy } = wordsOf(window);
    list = list ? `${list}, ${policy}` : policy;
  }
  return list;
}

/** The headers of every refusal, then this refusal's own. */
export function failureFields({ headers }: Refusal, type = 'application/json; charset=utf-8'): string[] {
  return ['Content-Type', type, 'Cache-Control', 'no-store', ...headers];
}
