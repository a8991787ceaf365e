import { periodAt } from './calendar.ts';
import type { Window } from './limits.ts';

/**
 * How one window counts; state/redis/lua/rules/windows.lua is the twin. Its memory is `size`
 * numbers in the subject's cells from `at`: doubles in one array, because a gateway holds millions
 * of them. Fresh cells are zero. Times are Unix milliseconds and may go backwards: counted units
 * stay counted.
 */
export interface Meter {
  readonly size: number;
  /** Units that count against the limit at `now`. */
  readonly used: ReadCells<number>;
  /** Adds units at `now`. The caller has checked that they fit. */
  readonly charge: ChangeUnits;
  /** Takes back up to `units` charged units. */
  readonly refund: ChangeUnits;
  /**
   * Units charged later than `now`, by a clock that has been set back, count as charged at `now`.
   * Call it before every other method.
   */
  correctTimes(cells: number[], at: number, window: Window, now: number): void;
  /**
   * When the next units return: all units if the window resets as a whole, otherwise the oldest.
   */
  readonly resetAt: ReadCells<number>;
  /** When `cost` more units fit if nothing else is charged; `now` if they already fit. */
  fitsAt(
    cells: readonly number[],
    at: number,
    window: Window,
    cost: number,
    now: number,
  ): number;
  /** From then on these cells equal fresh ones. */
  staleAt(cells: readonly number[], at: number, window: Window): number;
  /**
   * When to charge these units to another counter: when the window opened, or `now` if each unit
   * has its own time.
   */
  readonly openedAt: ReadCells<number>;
  /** When units return that are charged to fresh cells at `now`. */
  endFrom(window: Window, now: number): number;
  /** When a window opened that ends at `end`. */
  beginBefore(window: Window, end: number): number;
}

type ReadCells<T> = (
  cells: readonly number[],
  at: number,
  window: Window,
  now: number,
) => T;

type ChangeUnits = (
  cells: number[],
  at: number,
  window: Window,
  units: number,
  now: number,
) => void;

interface WholeParts
  extends Pick<Meter, 'correctTimes' | 'openedAt' | 'beginBefore'> {
  readonly isOpen: ReadCells<boolean>;
  /** What the first cell has once the window is opened at `now`. */
  readonly markAt: (window: Window, now: number) => number;
  readonly endOf: (window: Window, mark: number) => number;
}

/** A window that resets as a whole. Cells: [mark of when it opened, used]. */
function whole({ isOpen, markAt, endOf, ...own }: WholeParts): Meter {
  const meter: Meter = {
    ...own,
    size: 2,
    used: (cells, at, window, now) =>
      isOpen(cells, at, window, now) ? cells[at + 1]! : 0,
    charge(cells, at, window, cost, now) {
      if (isOpen(cells, at, window, now)) {
        cells[at + 1]! += cost;
      } else {
        cells[at] = markAt(window, now);
        cells[at + 1] = cost;
      }
    },
    refund(cells, at, window, units, now) {
      if (isOpen(cells, at, window, now))
        cells[at + 1] = Math.max(0, cells[at + 1]! - units);
    },
    resetAt: (cells, at, window, now) =>
      isOpen(cells, at, window, now)
        ? endOf(window, cells[at]!)
        : meter.endFrom(window, now),
    fitsAt: (cells, at, window, cost, now) =>
      meter.used(cells, at, window, now) + cost <= window.limit
        ? now
        : meter.resetAt(cells, at, window, now),
    staleAt: (cells, at, window) => endOf(window, cells[at]!),
    endFrom: (window, now) => endOf(window, markAt(window, now)),
  };
  return meter;
}

/** Cells: [openedAt, used]. Closed after the span, or if never opened. */
export const fixed: Meter = whole({
  isOpen: (cells, at, { span }, now) =>
    cells[at + 1]! > 0 && now < cells[at]! + span,
  markAt: (_window, now) => now,
  endOf: ({ span }, mark) => mark + span,
  correctTimes(cells, at, _window, now) {
    if (cells[at]! > now) cells[at] = now;
  },
  openedAt: (cells, at) => cells[at]!,
  beginBefore: ({ span }, end) => end - span,
});

/**
 * The span is divided into slots, and a unit counts until its whole slot has left the span. This is
 * too strict by at most one slot: any span of the window's length admits at most `limit` units.
 */
export const SLOTS = 20;

/**
 * Cells: [newest slot, units in the slots]; slot n is in cell n % (SLOTS + 1), and the extra cell
 * is the expiring slot.
 */
export const sliding: Meter = {
  size: SLOTS + 2,
  used(cells, at, window, now) {
    const newest = cells[at]!;
    let used = 0;
    for (
      let slot = oldestCounted(cells, at, window, now);
      slot <= newest;
      slot++
    )
      used += cells[cellOf(at, slot)]!;
    return used;
  },
  charge(cells, at, window, cost, now) {
    const newest = cells[at]!;
    const slot = Math.max(newest, slotOf(window, now));
    for (let s = Math.max(newest + 1, slot - SLOTS); s <= slot; s++)
      cells[cellOf(at, s)] = 0;
    cells[at] = slot;
    cells[cellOf(at, slot)]! += cost;
  },
  refund(cells, at, window, units, now) {
    let remaining = units;
    // The newest units would have counted longest.
    for (
      let slot = cells[at]!;
      slot >= oldestCounted(cells, at, window, now) && remaining > 0;
      slot--
    ) {
      const taken = Math.min(remaining, cells[cellOf(at, slot)]!);
      cells[cellOf(at, slot)]! -= taken;
      remaining -= taken;
    }
  },
  resetAt: (cells, at, window, now) =>
    firstLeave(cells, at, window, now, (units) => units > 0),
  fitsAt(cells, at, window, cost, now) {
    let used = sliding.used(cells, at, window, now);
    if (used + cost <= window.limit) return now;
    return firstLeave(cells, at, window, now, (units) => {
      used -= units;
      return used + cost <= window.limit;
    });
  },
  correctTimes(cells, at, window, now) {
    const newest = cells[at]!;
    const slot = slotOf(window, now);
    if (newest <= slot) return;
    let moved = 0;
    for (let s = Math.max(slot + 1, newest - SLOTS); s <= newest; s++) {
      moved += cells[cellOf(at, s)]!;
      cells[cellOf(at, s)] = 0;
    }
    cells[at] = slot;
    cells[cellOf(at, slot)]! += moved;
  },
  staleAt: (cells, at, window) => leavesAt(window, cells[at]!),
  openedAt: (_cells, _at, _window, now) => now,
  endFrom: ({ span }, now) => now + span,
  beginBefore: ({ span }, end) => end - span,
};

function slotLength(window: Window): number {
  return Math.ceil(window.span / SLOTS);
}

function slotOf(window: Window, now: number): number {
  return Math.floor(now / slotLength(window));
}

function leavesAt(window: Window, slot: number): number {
  return (slot + SLOTS + 1) * slotLength(window);
}

function cellOf(at: number, slot: number): number {
  return at + 1 + (slot % (SLOTS + 1));
}

function oldestCounted(
  cells: readonly number[],
  at: number,
  window: Window,
  now: number,
): number {
  return Math.max(0, Math.max(cells[at]!, slotOf(window, now)) - SLOTS);
}

/** When the first slot leaves whose units `isLast` accepts. */
function firstLeave(
  cells: readonly number[],
  at: number,
  window: Window,
  now: number,
  isLast: (units: number) => boolean,
): number {
  const newest = cells[at]!;
  for (
    let slot = oldestCounted(cells, at, window, now);
    slot <= newest;
    slot++
  ) {
    if (isLast(cells[cellOf(at, slot)]!)) return leavesAt(window, slot);
  }
  // The cost alone exceeds the limit; a whole span is as good a value as any.
  return now + window.span;
}

/** Milliseconds by which a clock may jitter back across the begin of a period. */
const JITTER = 1_000;

/**
 * Cells: [end of the period, used]. The end is stored, so cells show when they are stale without
 * the zone. A change of zone or anchor keeps the units: they count in the period that is current
 * then.
 */
export const calendar: Meter = whole({
  isOpen: (cells, at, _window, now) => cells[at]! > now,
  markAt: (window, now) => periodAt(window, now).end,
  endOf: (_window, mark) => mark,
  correctTimes(cells, at, window, now) {
    const end = cells[at]!;
    if (end <= now || end === periodAt(window, now).end) return;
    if (end !== periodAt(window, now + JITTER).end)
      cells[at] = periodAt(window, now).end;
  },
  openedAt: (cells, at, window) => calendar.beginBefore(window, cells[at]!),
  beginBefore: (window, end) => periodAt(window, end - 1).begin,
});
