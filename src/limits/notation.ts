import { DEFAULT_KIND, KIND_NAMES } from './kinds.ts';
import type { Window } from './limits.ts';

export interface WindowEntry {
  readonly limit: number;
  /** `second`, `minute`, `hour`, `day`, or a duration. */
  readonly per: string;
  readonly kind?: Window['kind'];
}

const SPANS: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};

/** Also in the schema of plans.yaml; a test compares them. */
const MAX_WINDOWS = 4;
const MAX_UNITS = 1_000_000_000_000;
const [SHORTEST, LONGEST] = [1_000, 366 * 86_400_000];

/** Milliseconds of `minute` or `10s`; `null` if it is neither. */
export function spanOf(per: string): number | null {
  return Object.hasOwn(SPANS, per) ? SPANS[per]! : parseDuration(per);
}

export function nameOfSpan(span: number): string {
  return Object.keys(SPANS).find((one) => SPANS[one] === span) ?? formatDuration(span);
}

/** The parts of the short form `60/minute,10/10s:sliding`; an invalid part stays text. */
export function readShort(
  text: string,
): readonly (string | { limit: number; per: string; kind?: string })[] {
  return text.split(',', 100).map((part) => {
    const [, limit, per, kind] = /^\s*(\d{1,15})\/(\w+)(?::(\w+))?\s*$/.exec(part) ?? [];
    if (limit === undefined || per === undefined) return part;
    return { limit: Number(limit), per, ...(kind !== undefined && { kind }) };
  });
}

/** Windows of valid entries, ordered from the shortest span. */
export function toWindows(entries: readonly WindowEntry[]): Window[] {
  return entries
    .map(({ limit, per, kind = DEFAULT_KIND }) => ({
      name: per,
      kind,
      limit,
      span: checkedSpan(per),
    }))
    .sort((a, b) => a.span - b.span);
}

export function formatWindows(windows: readonly Window[]): string {
  return windows
    .map(({ limit, name, kind }) => `${limit}/${name}${kind === DEFAULT_KIND ? '' : `:${kind}`}`)
    .join(',');
}

/** Reads windows in the short or the long form. An error is returned as the end of a sentence. */
export function readWindows(value: unknown): readonly Window[] | string {
  const entries = typeof value === 'string' ? readShort(value) : value;
  if (!Array.isArray(entries))
    return 'must be windows such as 5/minute,100/day or a list of {limit, per, kind}';
  if (entries.length < 1 || entries.length > MAX_WINDOWS)
    return `must be one to ${MAX_WINDOWS} windows`;
  const spans = new Set<number>();
  for (const [i, entry] of entries.entries()) {
    const wrong =
      typeof entry === 'object' && entry !== null
        ? faultIn(entry, spans)
        : 'must look like 5/minute or 10/10s:sliding';
    if (wrong !== null) return entries.length === 1 ? wrong : `${wrong} (window ${i + 1})`;
  }
  return toWindows(entries as WindowEntry[]);
}

function faultIn(entry: object, spans: Set<number>): string | null {
  const { limit, per, kind, ...rest } = entry as Record<string, unknown>;
  if (Object.keys(rest).length > 0) return 'must have no other members than limit, per and kind';
  if (!Number.isSafeInteger(limit) || (limit as number) < 1 || (limit as number) > MAX_UNITS)
    return `must have a limit from 1 to ${MAX_UNITS}`;
  if (kind !== undefined && !KIND_NAMES.some((name) => name === kind))
    return `must be ${KIND_NAMES.join(' or ')}`;
  const span = typeof per === 'string' ? spanOf(per) : null;
  if (span === null || span < SHORTEST || span > LONGEST)
    return 'must be per second, minute, hour, day or a duration from 1s to 366d';
  if (spans.has(span)) return 'must be over another span than the window before';
  spans.add(span);
  return null;
}

function checkedSpan(per: string): number {
  const span = spanOf(per);
  if (span === null) throw new TypeError(`no span: ${per}`);
  return span;
}

const milliseconds = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Reads `100ms`, `5s`, `1m`, `2h`, `1d` as milliseconds; `null` if it is not a valid duration.
 * Whole numbers of up to 12 digits.
 */
export function parseDuration(text: string): number | null {
  const [, count, unit] = /^(0|[1-9][0-9]{0,11})(ms|s|m|h|d)$/.exec(text) ?? [];
  return count === undefined
    ? null
    : Number(count) * milliseconds[unit as keyof typeof milliseconds];
}

/** Writes milliseconds in the largest unit without a fraction; the inverse of `parseDuration`. */
export function formatDuration(span: number): string {
  const units = Object.entries(milliseconds).reverse();
  const [unit, length] = units.find(([, length]) => span !== 0 && span % length === 0) ?? ['ms', 1];
  return `${span / length}${unit}`;
}
