import { parseDuration } from './units.ts';

interface DurationRange {
  readonly least: string;
  readonly most: string;
  /** What to do for a longer time, as the end of a sentence. */
  readonly beyond?: string;
}

/**
 * The durations that operators give, by their fields of the admin API, with the range of each. What
 * is added to the present stays a time that RFC 3339 can write.
 */
export const RANGES = {
  expiresIn: {
    least: '0ms',
    most: '36500d',
    beyond: 'leave it out for a key without an expiry',
  },
  /** Two permanent secrets would be two keys. */
  overlap: { least: '0ms', most: '90d' },
  duration: {
    least: '1ms',
    most: '3650d',
    beyond: 'revoke the keys to block a client permanently',
  },
} as const satisfies Record<string, DurationRange>;

export type DurationField = keyof typeof RANGES;

/** The last time that RFC 3339 can write, in Unix milliseconds. */
export const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z');

/** Milliseconds of `text`; an error is returned as the end of a sentence. */
export function readDuration(
  field: DurationField,
  text: string,
): number | string {
  const { least, most, beyond }: DurationRange = RANGES[field];
  const length = parseDuration(text);
  if (length === null)
    return 'must be a number with a unit, such as 12h or 90d';
  if (length >= parseDuration(least)! && length <= parseDuration(most)!)
    return length;
  return `must be from ${least} to ${most}${beyond === undefined ? '' : `; ${beyond}`}`;
}

/** Milliseconds. */
export const longest = (field: DurationField): number =>
  parseDuration(RANGES[field].most)!;
