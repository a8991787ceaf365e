import type { Window } from './limits.ts';
import { fixed, type Meter, sliding } from './windows.ts';

/** Everything that differs between kinds of windows. Other files ask for one of these properties, never for the kind itself. */
export interface WindowKind {
  readonly meter: Meter;
  /**
   * `true`: the first charge opens the window, and the reset returns all units at once. Until then a reading can only fall.
   * `false`: units return bit by bit, so a reading holds only until the next ones return.
   */
  readonly resetsAsWhole: boolean;
  /** Stands for the kind in the numbers that Redis scripts take (state/redis/lua/rules/windows.lua). Never change it. */
  readonly code: number;
  /** Comes before the span in window ids in Redis; at most one letter. Never change it: stored ledgers contain it. */
  readonly mark: string;
}

const FIXED: WindowKind = Object.freeze({ meter: fixed, resetsAsWhole: true, code: 0, mark: '' });

const SLIDING: WindowKind = Object.freeze({
  meter: sliding,
  resetsAsWhole: false,
  code: 1,
  mark: 's',
});

/**
 * The table of kinds. Configuration, the short form, the answer of usage and `windowId` all use the name as it stands here. Never change
 * a name: stored ledgers contain it.
 */
export const WINDOW_KINDS = Object.freeze({ fixed: FIXED, sliding: SLIDING }) satisfies Readonly<
  Record<Window['kind'], WindowKind>
>;

/** The names in the table. */
export const KIND_NAMES = Object.freeze(Object.keys(WINDOW_KINDS) as Window['kind'][]);

/** The kind of a window whose configuration names none. */
export const DEFAULT_KIND: Window['kind'] = 'fixed';

/**
 * The table's entry for a window. Each admission calls this at least six times, and `WINDOW_KINDS[kind]` takes V8 10 ns longer
 * than a comparison. So this function repeats the table; the compiler refuses it when a kind is missing.
 */
export function kindOf({ kind }: Window): WindowKind {
  if (kind === 'fixed') return FIXED;
  kind satisfies 'sliding';
  return SLIDING;
}

/** The kind that Redis scripts know by this number; `null` for one of a newer version. */
export function kindWithCode(code: number): Window['kind'] | null {
  return KIND_NAMES.find((name) => WINDOW_KINDS[name].code === code) ?? null;
}

export function meterOf(window: Window): Meter {
  return kindOf(window).meter;
}

/** Tells a subject's counters apart across a change of plan: the same kind, span and scope means the same counter. */
export function windowId({ kind, span, scope }: Pick<Window, 'kind' | 'span' | 'scope'>): string {
  return scope === undefined ? `${kind}:${span}` : `${kind}:${span}@${scope}`;
}

/** Whether two windows of a subject have one counter: they do when their `windowId` is the same. */
export function isSameCounter(a: Window, b: Window): boolean {
  return a.kind === b.kind && a.span === b.span && a.scope === b.scope;
}

/**
 * What tells the windows apart that a subject opens one after the other, the same for all processes: of a fixed one its end, and of a
 * sliding one, which never ends, the begin of the span of the clock in which it was read.
 */
export function placeOf(window: Window, resetAt: number, now: number): number {
  return kindOf(window).resetsAsWhole ? Math.round(resetAt) : Math.floor(now / window.span) * window.span;
}

/** A limit without the name of its span, as it is told and moved. */
export function unnamed({ kind, span, limit, scope }: Omit<Window, 'name'>): Omit<Window, 'name'> {
  return scope === undefined ? { kind, span, limit } : { kind, span, limit, scope };
}
