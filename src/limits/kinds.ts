import { CALENDAR_SPANS } from './calendar.ts';
import type { Window } from './limits.ts';
import { calendar, fixed, type Meter, sliding } from './windows.ts';

/**
 * Everything that differs between window kinds. Other files use these properties, never the kind
 * itself.
 */
export interface WindowKind {
  readonly meter: Meter;
  /**
   * `true`: the first charge opens the window, and the reset returns all units at once. Until then
   * a reading can only fall. `false`: units return gradually, so a reading is valid only until the
   * next units return.
   */
  readonly resetsAsWhole: boolean;
  /** Number of the kind in Redis scripts (state/redis/lua/rules/windows.lua). Never change it. */
  readonly code: number;
  /**
   * Precedes the span in window ids in Redis; at most one letter. Never change it: stored counters
   * contain it.
   */
  readonly mark: string;
  /** Words for `per`, and their spans in milliseconds. */
  readonly spans: Readonly<Record<string, number>>;
  /** Whether `zone` and `anchor` apply. Otherwise `per` may be a duration. */
  readonly hasZone: boolean;
}

const SPANS = Object.freeze({
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
});

const FIXED: WindowKind = Object.freeze({
  meter: fixed,
  resetsAsWhole: true,
  code: 0,
  mark: '',
  spans: SPANS,
  hasZone: false,
});

const SLIDING: WindowKind = Object.freeze({
  meter: sliding,
  resetsAsWhole: false,
  code: 1,
  mark: 's',
  spans: SPANS,
  hasZone: false,
});

const CALENDAR: WindowKind = Object.freeze({
  meter: calendar,
  resetsAsWhole: true,
  code: 2,
  mark: 'c',
  spans: CALENDAR_SPANS,
  hasZone: true,
});

/**
 * Configuration, short form, usage responses and `windowId` use these names. Never change a name:
 * stored counters contain it.
 */
export const WINDOW_KINDS = Object.freeze({
  fixed: FIXED,
  sliding: SLIDING,
  calendar: CALENDAR,
}) satisfies Readonly<Record<Window['kind'], WindowKind>>;

export const KIND_NAMES = Object.freeze(
  Object.keys(WINDOW_KINDS) as Window['kind'][],
);

export const DEFAULT_KIND: Window['kind'] = 'fixed';

/**
 * Repeats the table, because each admission calls this at least six times and `WINDOW_KINDS[kind]`
 * takes V8 10 ns longer than a comparison. The compiler reports a missing kind.
 */
export function kindOf({ kind }: Window): WindowKind {
  if (kind === 'fixed') return FIXED;
  if (kind === 'sliding') return SLIDING;
  kind satisfies 'calendar';
  return CALENDAR;
}

/** `null` for a kind of a newer version. */
export function kindWithCode(code: number): Window['kind'] | null {
  return KIND_NAMES.find((name) => WINDOW_KINDS[name].code === code) ?? null;
}

export function meterOf(window: Window): Meter {
  return kindOf(window).meter;
}

/** Identifies a counter across plan changes: the same kind, span and scope is the same counter. */
export function windowId({
  kind,
  span,
  scope,
}: Pick<Window, 'kind' | 'span' | 'scope'>): string {
  return scope === undefined ? `${kind}:${span}` : `${kind}:${span}@${scope}`;
}

/** Whether two windows of a subject share a counter (equal `windowId`). */
export function isSameCounter(a: Window, b: Window): boolean {
  return a.kind === b.kind && a.span === b.span && a.scope === b.scope;
}

/**
 * Identifies consecutive windows of a subject, equal in all processes: the end of a fixed window;
 * for a sliding window, the start of the clock span in which it was read.
 */
export function placeOf(window: Window, resetAt: number, now: number): number {
  return kindOf(window).resetsAsWhole
    ? Math.round(resetAt)
    : Math.floor(now / window.span) * window.span;
}

type LimitFields = Omit<Window, 'name' | 'scope'> & {
  readonly scope?: string | undefined;
};

/** A limit without its name. */
export function unknownKind({
  kind,
  span,
  limit,
  scope,
}: LimitFields): Omit<Window, 'name'> {
  return scope === undefined
    ? { kind, span, limit }
    : { kind, span, limit, scope };
}
