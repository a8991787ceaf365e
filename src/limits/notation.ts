import { DEFAULT_ZONE, isZone, lastAnchor } from './calendar.ts';
import { DEFAULT_KIND, KIND_NAMES, WINDOW_KINDS } from './kinds.ts';
import type { Window } from './limits.ts';
import { fullNameOf, readScope, scopeOfApi } from './scopes.ts';

export interface WindowEntry {
  readonly limit: number;
  /** A word of the kind (`spans`), or a duration. */
  readonly per: string;
  /** Absent: requests to all APIs count. */
  readonly api?: string;
  readonly kind?: Window['kind'];
  readonly zone?: string;
  readonly anchor?: number;
  readonly enforce?: boolean;
  readonly overage?: boolean;
}

/** Also in the schema of plans.yaml; a test compares them. */
const MAX_WINDOWS = 16;
const MAX_UNITS = 1_000_000_000_000;
const [SHORTEST, LONGEST] = [1_000, 366 * 86_400_000];

/** Milliseconds of `minute` or `10s`; `null` if windows of the kind cannot have this span. */
export function spanOf(
  per: string,
  kind: Window['kind'] = DEFAULT_KIND,
): number | null {
  const { spans, hasZone } = WINDOW_KINDS[kind];
  if (Object.hasOwn(spans, per)) return spans[per]!;
  return hasZone ? null : parseDuration(per);
}

/** Whether windows of some kind can have this span. */
export const isSpan = (per: string): boolean =>
  KIND_NAMES.some((kind) => spanOf(per, kind) !== null);

export function nameOfSpan({
  kind,
  span,
}: Pick<Window, 'kind' | 'span'>): string {
  const { spans } = WINDOW_KINDS[kind];
  return (
    Object.keys(spans).find((one) => spans[one] === span) ??
    formatDuration(span)
  );
}

/**
 * The parts of the short form `60/minute,10/10s:sliding,1000/month:calendar:Europe/Berlin:15`, with
 * the name of an API behind the span (`60/minute@notes`), and `+watch` or `+overage` at the end of a
 * part; an invalid part stays text.
 */
export function readShort(text: string): readonly (string | ShortEntry)[] {
  return text.split(',', 100).map((part) => {
    const [, limit, per, api, kind, zone, anchor, excess] =
      SHORT_FORM.exec(part) ?? [];
    if (limit === undefined || per === undefined) return part;
    return {
      limit: Number(limit),
      per,
      ...(api !== undefined && { api }),
      ...(kind !== undefined && { kind }),
      ...(zone !== undefined && { zone }),
      ...(anchor !== undefined && { anchor: Number(anchor) }),
      ...(excess === 'watch' && { enforce: false }),
      ...(excess === 'overage' && { overage: true }),
    };
  });
}

export interface ShortEntry extends Omit<WindowEntry, 'kind'> {
  readonly kind?: string;
}

const SHORT_FORM =
  /^\s*(\d{1,15})\/(\w+)(?:@([\w-]+))?(?::(\w+)(?::([\w+/-]+?)(?::(\d{1,2}))?)?)?(?:\+(watch|overage))?\s*$/;

/** Windows of valid entries, ordered from the shortest span. */
export function toWindows(entries: readonly WindowEntry[]): Window[] {
  return entries
    .map(
      ({
        limit,
        per,
        api,
        kind = DEFAULT_KIND,
        enforce,
        overage,
        ...calendar
      }) => ({
        name: per,
        ...(api !== undefined && { scope: scopeOfApi(api) }),
        kind,
        limit,
        span: checkedSpan(per, kind),
        ...(WINDOW_KINDS[kind].hasZone && { zone: DEFAULT_ZONE }),
        ...calendar,
        ...(overage === true && { excess: 'overage' as const }),
        ...(enforce === false && { excess: 'watch' as const }),
      }),
    )
    .sort((a, b) => a.span - b.span);
}

/** The same windows, which refuse nothing. */
export function watching(windows: readonly Window[]): Window[] {
  return windows.map((window) => ({ ...window, excess: 'watch' }));
}

/** The inverse of `toWindows`. */
export function toEntry({
  limit,
  name,
  kind,
  zone,
  anchor,
  excess,
  scope,
}: Window): WindowEntry {
  return {
    limit,
    per: name,
    ...(scope !== undefined && { api: readScope(scope).name }),
    ...(kind !== DEFAULT_KIND && { kind }),
    ...(zone !== undefined && { zone }),
    ...(anchor !== undefined && { anchor }),
    ...(excess === 'watch' && { enforce: false }),
    ...(excess === 'overage' && { overage: true }),
  };
}

/** The inverse of `readShort`. */
export function formatWindows(windows: readonly Window[]): string {
  return windows
    .map(
      (window) => `${window.limit}/${fullNameOf(window)}${kindInShort(window)}`,
    )
    .join(',');
}

function kindInShort({ kind, zone, anchor, excess }: Window): string {
  const parts = kind === DEFAULT_KIND ? [] : [kind, zone, anchor];
  const text = parts
    .map((part) => (part === undefined ? '' : `:${part}`))
    .join('');
  return excess === undefined ? text : `${text}+${excess}`;
}

interface EntryFault {
  readonly field: 'per' | 'zone' | 'anchor' | 'overage';
  /** What the field must be, as the end of a sentence. */
  readonly expected: string;
}

/** The first fault of an entry whose fields have the right types and forms; `null`: valid. */
export function entryFault(entry: WindowEntry): EntryFault | null {
  const { per, kind = DEFAULT_KIND, zone, anchor, enforce, overage } = entry;
  if (enforce === false && overage === true)
    return { field: 'overage', expected: ENFORCED };
  const { hasZone } = WINDOW_KINDS[kind];
  const span = spanOf(per, kind);
  if (span === null)
    return { field: 'per', expected: hasZone ? CALENDAR_PER : PER };
  if (zone !== undefined && !hasZone)
    return { field: 'zone', expected: WITHOUT_CALENDAR };
  if (zone !== undefined && !isZone(zone))
    return { field: 'zone', expected: ZONE };
  if (anchor === undefined) return null;
  const last = hasZone ? lastAnchor(span) : null;
  if (last === null) return { field: 'anchor', expected: WITHOUT_DAYS };
  return anchor <= last
    ? null
    : { field: 'anchor', expected: `from 1 to ${last} for a ${per}` };
}

const PER =
  'second, minute, hour, day or a duration such as 10s, or week or month of kind calendar';
const CALENDAR_PER = 'hour, day, week or month for kind calendar';
const ZONE = 'a time zone such as Europe/Berlin';
const ENFORCED = 'absent if enforce is false';
const WITHOUT_CALENDAR = 'absent unless kind is calendar';
const WITHOUT_DAYS = 'absent unless kind is calendar and per is week or month';

/** Reads windows in the short or the long form. An error is returned as the end of a sentence. */
export function readWindows(value: unknown): readonly Window[] | string {
  const entries = typeof value === 'string' ? readShort(value) : value;
  if (!Array.isArray(entries))
    return 'must be windows such as 5/minute,100/day or a list of {limit, per, kind, zone, anchor}';
  if (entries.length < 1 || entries.length > MAX_WINDOWS)
    return `must be one to ${MAX_WINDOWS} windows`;
  const spans = new Set<string>();
  for (const [i, entry] of entries.entries()) {
    const wrong =
      typeof entry === 'object' && entry !== null
        ? faultIn(entry, spans)
        : 'must look like 5/minute or 10/10s:sliding';
    if (wrong !== null)
      return entries.length === 1 ? wrong : `${wrong} (window ${i + 1})`;
  }
  return toWindows(entries as WindowEntry[]);
}

function faultIn(entry: object, spans: Set<string>): string | null {
  const all = entry as Record<string, unknown>;
  const { limit, per, api, kind, zone, anchor, enforce, overage, ...rest } =
    all;
  if (Object.keys(rest).length > 0)
    return 'must have no other members than limit, per, kind, zone, anchor, enforce and overage';
  if (
    !Number.isSafeInteger(limit) ||
    (limit as number) < 1 ||
    (limit as number) > MAX_UNITS
  )
    return `must have a limit from 1 to ${MAX_UNITS}`;
  if (kind !== undefined && !KIND_NAMES.some((name) => name === kind))
    return `must be one of ${KIND_NAMES.join(', ')}`;
  if (typeof per !== 'string') return RANGE;
  if (api !== undefined && !API_NAME.test(String(api)))
    return 'must have the name of an API for api';
  if (zone !== undefined && typeof zone !== 'string')
    return wrongField('zone', ZONE);
  if (anchor !== undefined && !isAnchor(anchor))
    return wrongField('anchor', 'from 1 to 31');
  for (const flag of [enforce, overage])
    if (flag !== undefined && typeof flag !== 'boolean')
      return 'must have true or false for enforce and overage';
  const fault = entryFault(entry as WindowEntry);
  if (fault?.expected === ZONE)
    return `${wrongField('zone', ZONE)}, not ${JSON.stringify(zone)}`;
  if (fault?.field === 'per')
    return `must have a span: ${per} is not ${fault.expected}`;
  if (fault !== null) return wrongField(fault.field, fault.expected);
  const span = spanOf(per, kind as Window['kind'])!;
  if (span < SHORTEST || span > LONGEST) return RANGE;
  const place = `${span}@${api}`;
  if (spans.has(place))
    return `must have each span once: ${per} is given twice`;
  spans.add(place);
  return null;
}

/** Also in the schema. */
const API_NAME = /^[a-z][a-z0-9-]{0,31}$/;

const RANGE =
  'must be per second, minute, hour, day or a duration from 1s to 366d';

const wrongField = (field: string, expected: string): string =>
  `must be a window whose ${field} is ${expected}`;

function isAnchor(value: unknown): boolean {
  return (
    Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 31
  );
}

function checkedSpan(per: string, kind: Window['kind']): number {
  const span = spanOf(per, kind);
  if (span === null) throw new TypeError(`no span: ${per}`);
  return span;
}

const milliseconds = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
} as const;

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
  const [unit, length] = units.find(
    ([, length]) => span !== 0 && span % length === 0,
  ) ?? ['ms', 1];
  return `${span / length}${unit}`;
}
