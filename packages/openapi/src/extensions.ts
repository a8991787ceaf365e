import type { Json } from './document/source.ts';
import type { Findings } from './findings.ts';
import { isDate, isDateTime } from './formats.ts';

const STABILITIES = ['stable', 'beta', 'experimental'] as const;

export type Stability = (typeof STABILITIES)[number];

const STABILITY_LEVEL = 'x-stability-level';

export const MAX_BODY_BYTES = 'x-max-body-bytes';

export interface Extensions {
  readonly stability: Stability;
  /** Unix seconds. */
  readonly deprecatedAt: number | null;
  /** Unix seconds. */
  readonly sunset: number | null;
  /** An operationId that may not exist. */
  readonly successor: string | null;
  /** Faults are reported, and the request is forwarded. */
  readonly reportOnly: boolean;
  /** Bodies of media types that cannot be checked pass. */
  readonly uncheckedBody: boolean;
  readonly maxBodyBytes: number | null;
  readonly tryIt: boolean;
}

export function readExtensions(
  operation: Json,
  findings: Findings,
  uncheckedBody: string,
): Extensions {
  const field = <T>(
    key: string,
    fallback: T,
    complaint: string,
    read: (value: unknown) => T | undefined,
  ): T => {
    if (operation[key] === undefined) return fallback;
    const value = read(operation[key]);
    if (value === undefined) findings.problem(operation, key, complaint);
    return value ?? fallback;
  };
  const date = (key: string) =>
    field<number | null>(
      key,
      null,
      'must be a date (2027-01-31) or a date and time (2027-01-31T12:00:00Z)',
      seconds,
    );
  const flag = (key: string, fallback: boolean) =>
    field(key, fallback, 'must be true or false', (value) =>
      typeof value === 'boolean' ? value : undefined,
    );
  const deprecatedAt = date('x-deprecated-at');
  const sunset = date('x-sunset');
  if (deprecatedAt !== null && sunset !== null && sunset < deprecatedAt) {
    findings.problem(
      operation,
      'x-sunset',
      'must not be before x-deprecated-at (RFC 9745 section 4)',
    );
  }
  return {
    stability: stabilityOf(operation, findings),
    deprecatedAt,
    sunset,
    successor: field<string | null>(
      'x-successor',
      null,
      'must be an operationId',
      (value) =>
        typeof value === 'string' && value !== '' ? value : undefined,
    ),
    reportOnly: flag('x-report-only', false),
    uncheckedBody: flag(uncheckedBody, false),
    maxBodyBytes: field<number | null>(
      MAX_BODY_BYTES,
      null,
      'must be a whole number of bytes, 1 or more',
      (value) =>
        typeof value === 'number' && Number.isSafeInteger(value) && value >= 1
          ? value
          : undefined,
    ),
    tryIt: flag('x-try-it', true),
  };
}

/** Other tools have other levels, such as `alpha`, so an unknown level is a note. */
function stabilityOf(operation: Json, findings: Findings): Stability {
  const level = operation[STABILITY_LEVEL] ?? 'stable';
  const found = STABILITIES.find((stability) => stability === level);
  if (found === undefined) {
    const message = `has no effect: the levels are ${STABILITIES.join(', ')}`;
    findings.note(operation, STABILITY_LEVEL, message);
  }
  return found ?? 'stable';
}

/** A full-date (start of the day in UTC) or date-time (RFC 3339). */
function seconds(value: unknown): number | undefined {
  if (typeof value !== 'string' || !(isDate(value) || isDateTime(value)))
    return undefined;
  const milliseconds = Date.parse(value.toUpperCase());
  return Number.isNaN(milliseconds)
    ? undefined
    : Math.floor(milliseconds / 1000);
}

/** Name, value, name, value, … */
export function replyHeaders(
  { deprecatedAt, sunset, stability }: Extensions,
  successorPath: string | null,
): readonly string[] {
  const headers: string[] = [];
  if (deprecatedAt !== null) headers.push('Deprecation', `@${deprecatedAt}`);
  if (sunset !== null)
    headers.push('Sunset', new Date(sunset * 1000).toUTCString());
  if (successorPath !== null) headers.push(...successorLink(successorPath));
  if (stability !== 'stable') headers.push('X-Stability-Level', stability);
  return Object.freeze(headers);
}

/**
 * RFC 5829 section 3. A path with templates is not a valid URI, so its link is a template (RFC 9652
 * section 2).
 */
function successorLink(path: string): [name: string, value: string] {
  const ascii = path
    .replace(/[^!-~]+/g, encodeURIComponent)
    .replace(/["<>\\]/g, encodeURIComponent);
  if (!path.includes('{'))
    return ['Link', `<${ascii}>; rel="successor-version"`];
  return ['Link-Template', `"${ascii}"; rel="successor-version"`];
}
