import type { Window } from './limits.ts';

/** From the begin of a calendar window to the begin of the next one; Unix milliseconds. */
export interface Period {
  readonly begin: number;
  readonly end: number;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
const MONTH = 31 * DAY;

/** Milliseconds by the word in `per`: the usual length of a period, of a month the longest. */
export const CALENDAR_SPANS: Readonly<Record<string, number>> = {
  hour: HOUR,
  day: DAY,
  week: WEEK,
  month: MONTH,
};

/** The last day that a period may begin with, by span; other periods have no anchor. */
const LAST_ANCHORS = new Map([
  [WEEK, 7],
  [MONTH, 31],
]);

/** The anchors of a span: 1 to this; `null`: it has none. */
export function lastAnchor(span: number): number | null {
  return LAST_ANCHORS.get(span) ?? null;
}

/** Names of the IANA database. Offsets such as `+01:00` would ignore daylight saving time. */
export function isZone(zone: string): boolean {
  if (!/^[A-Za-z][\w+/-]{0,63}$/.test(zone)) return false;
  try {
    return (
      new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions()
        .timeZone !== ''
    );
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

export const DEFAULT_ZONE = 'UTC';

const periods = new WeakMap<Window, Period>();

/**
 * The period of a calendar window that contains `now`, Unix milliseconds. Periods follow one
 * another without gap or overlap. Computed once per window and period.
 */
export function periodAt(window: Window, now: number): Period {
  const cached = periods.get(window);
  if (cached !== undefined && now >= cached.begin && now < cached.end)
    return cached;
  const period = periodIn(window, now);
  periods.set(window, period);
  return period;
}

/**
 * The begin and the end of the period that contains `now`, and the end of the next one: enough for
 * a clock that differs by less than a period.
 */
export function bordersAround(
  window: Window,
  now: number,
): readonly [number, number, number] {
  const { begin, end } = periodAt(window, now);
  return [begin, end, periodIn(window, end).end];
}

function periodIn(
  { span, zone = DEFAULT_ZONE, anchor = 1 }: Window,
  now: number,
): Period {
  const offsetAt = offsetsIn(zone);
  if (span === HOUR) return hourAt(offsetAt, now);
  const beginOf = (index: number) =>
    firstAt(offsetAt, wallTime(span, anchor, index));
  const wall = now + offsetAt(now);
  let index = span === MONTH ? monthAt(wall) : Math.floor(wall / span);
  // A date may come twice or not at all where a zone moves its clock across midnight.
  while (beginOf(index) > now) index--;
  while (beginOf(index + 1) <= now) index++;
  return { begin: beginOf(index), end: beginOf(index + 1) };
}

/** An hour begins where clocks read a full hour, and where they are moved by less than one. */
function hourAt(offsetAt: OffsetAt, now: number): Period {
  const offset = offsetAt(now);
  const sinceFull = (now + offset) % HOUR;
  const full = now - sinceFull - (sinceFull < 0 ? HOUR : 0);
  const next = full + HOUR;
  return {
    begin: offsetAt(full) === offset ? full : changeIn(offsetAt, full, now),
    end: offsetAt(next) === offset ? next : changeIn(offsetAt, now, next),
  };
}

/** What clocks read at the begin of a period, as if in UTC. 1970 began on a Thursday. */
function wallTime(span: number, anchor: number, index: number): number {
  if (span === DAY) return index * DAY;
  if (span === WEEK) return index * WEEK + (anchor - 4) * DAY;
  const lastDay = new Date(Date.UTC(1970, index + 1, 0)).getUTCDate();
  return Date.UTC(1970, index, Math.min(anchor, lastDay));
}

function monthAt(wall: number): number {
  const date = new Date(wall);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

/** The first instant at which clocks read `wall` or later. */
function firstAt(offsetAt: OffsetAt, wall: number): number {
  const before = offsetAt(wall - DAY);
  const after = offsetAt(wall + DAY);
  const early = wall - before;
  if (before === after || offsetAt(early) === before) return early;
  const late = wall - after;
  // Clocks that are moved ahead across `wall` never read it.
  return offsetAt(late) === after ? late : changeIn(offsetAt, late, early);
}

/** The first instant after `from` that has the offset of `to`. */
function changeIn(offsetAt: OffsetAt, from: number, to: number): number {
  const offset = offsetAt(to);
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle) === offset) high = middle;
    else low = middle;
  }
  return high;
}

/** What clocks of a zone are ahead of UTC at an instant, in milliseconds. */
type OffsetAt = (now: number) => number;

const offsets = new Map<string, OffsetAt>();

function offsetsIn(zone: string): OffsetAt {
  let offsetAt = offsets.get(zone);
  if (!offsetAt) {
    offsetAt = createOffsets(zone);
    offsets.set(zone, offsetAt);
  }
  return offsetAt;
}

function createOffsets(zone: string): OffsetAt {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (now) => {
    const [month, day, year, hour, minute, second] = format
      .format(now)
      .match(/\d+/g)!
      .map(Number);
    const wall = Date.UTC(year!, month! - 1, day, hour, minute, second);
    return wall - Math.floor(now / 1000) * 1000;
  };
}
