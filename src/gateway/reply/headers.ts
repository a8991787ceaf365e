import {
  type CheckedLines,
  checkedLines,
  checkedValue,
  type FieldLines,
  oneByte,
} from '@storegate/http1';
import type { Refusal } from '../../common/errors/refusals.ts';
import { wholeSeconds } from '../../common/errors/retry-after.ts';
import { withoutFields } from '../../common/field-list.ts';
import { remembered } from '../../common/remembered.ts';
import type { HeaderRules } from '../../config/config.ts';
import {
  bindingReading,
  type Reading,
  type Readings,
  refuses,
  remainingIn,
} from '../../limits/admission.ts';
import type { Window } from '../../limits/limits.ts';
import {
  countsIn,
  fullNameOf,
  NO_SCOPES,
  type Scopes,
} from '../../limits/scopes.ts';

const [LIMIT, REMAINING, RESET, POLICY, LIMITS] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
].map(oneByte);

/**
 * X-RateLimit-*: the violated window, else the binding one. The headers of
 * draft-ietf-httpapi-ratelimit-headers: the windows of all requests that refuse, then those of the
 * request's scopes; if there are none, the binding one. X-RateLimit-Reset is rounded up so that a
 * client that waits for it is not early. The reset of a window that cannot refuse the request is
 * now: clients wait for it at 0.
 */
export function addLimitHeaders(
  lines: FieldLines,
  { readings, now }: Readings,
  scopes: Scopes = NO_SCOPES,
  violated: Window | null = null,
): void {
  const refusing =
    violated && readings.find((reading) => reading.window === violated);
  const shown = refusing ?? bindingReading(readings, scopes);
  if (shown === null) return;
  const { window, resetAt } = shown;
  let list = '';
  for (const reading of readings) {
    if (reading.window.scope === undefined && refuses(reading.window))
      list = withLimits(list, reading, now);
  }
  if (scopes.length > 0) {
    for (const reading of readings)
      if (isScopedIn(reading.window, scopes))
        list = withLimits(list, reading, now);
  }
  const mayRefuse = refuses(window) && countsIn(window, scopes);
  lines.addNumber(LIMIT!, window.limit);
  lines.addNumber(REMAINING!, remainingIn(shown));
  lines.addNumber(
    RESET!,
    mayRefuse ? Math.ceil(resetAt / 1000) : Math.floor(now / 1000),
  );
  lines.addKnown(POLICY!, policyOf(readings, scopes) || textOf(window).policy);
  lines.addKnown(LIMITS!, list || limitOf(shown, 0));
}

const textOf = remembered((window: Window) => {
  const name = oneByte(checkedValue(POLICY!, `"${fullNameOf(window)}"`));
  return {
    name,
    policy: oneByte(`${name};q=${window.limit};w=${wholeSeconds(window.span)}`),
  };
});

function policyOf(readings: readonly Reading[], scopes: Scopes): string {
  let list = '';
  for (const { window } of readings)
    if (window.scope === undefined && refuses(window))
      list = withPolicy(list, window);
  if (scopes.length === 0) return list;
  for (const { window } of readings)
    if (isScopedIn(window, scopes)) list = withPolicy(list, window);
  return list;
}

function withPolicy(list: string, window: Window): string {
  const { policy } = textOf(window);
  return list ? `${list}, ${policy}` : policy;
}

function withLimits(list: string, reading: Reading, now: number): string {
  const quota = limitOf(reading, wholeSeconds(reading.resetAt - now));
  return list ? `${list}, ${quota}` : quota;
}

function limitOf(reading: Reading, seconds: number): string {
  return `${textOf(reading.window).name};r=${remainingIn(reading)};t=${seconds}`;
}

function isScopedIn(window: Window, scopes: Scopes): boolean {
  return (
    window.scope !== undefined && countsIn(window, scopes) && refuses(window)
  );
}

/** `hasReference`: Link points to the reference page. */
export function failureFields(
  { headers, link }: Refusal,
  hasReference: boolean,
  type = 'application/json; charset=utf-8',
): string[] {
  if (!hasReference)
    return ['Content-Type', type, 'Cache-Control', 'no-store', ...headers];
  return [
    'Content-Type',
    type,
    'Cache-Control',
    'no-store',
    'Link',
    link,
    ...headers,
  ];
}

/** Flat, or joined before. */
export type OwnFields = readonly string[] | CheckedLines;

/** The lines that rules set beside fields of the gateway, which take precedence. */
export type RuledLines = (own: OwnFields | null) => CheckedLines;

/** `null`: rules set nothing. */
export function createRuledLines({ set }: HeaderRules): RuledLines | null {
  const list = Object.entries(set).flat();
  if (list.length === 0) return null;
  const all = checkedLines(list);
  /** A flood repeats it. */
  let last: readonly [own: OwnFields | null, lines: CheckedLines] = [null, all];
  return (own) => {
    if (own === null) return all;
    if (last[0] !== own)
      last = [own, checkedLines(withoutFields(list, namesIn(own)))];
    return last[1];
  };
}

function namesIn(own: OwnFields): string[] {
  const names =
    typeof own === 'string'
      ? own.split('\r\n').map((line) => line.slice(0, line.indexOf(':')))
      : own.filter((_, i) => i % 2 === 0);
  return names.map((name) => name.toLowerCase());
}
