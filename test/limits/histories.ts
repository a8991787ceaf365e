import fc from 'fast-check';
import { meterOf } from '../../src/limits/kinds.ts';
import type { Window } from '../../src/limits/limits.ts';
import { DAY, HOUR, MINUTE, SECOND, window } from '../support/limits.ts';

/**
 * One thing that happens to a window, `pass` milliseconds after what happened before it; a negative
 * `pass` is a jitter.
 */
export interface Step {
  readonly pass: number;
  readonly units: number;
  readonly refund: boolean;
}

/**
 * Spans that people write, one that no slot divides, and one of which a slot is less than a
 * millisecond long.
 */
export const spans = fc.constantFrom(7, SECOND, 7_001, MINUTE, HOUR, DAY);

const WEEK = 7 * DAY;
const MONTH = 31 * DAY;

/** Zones without and with daylight saving time, with half hours, and with a shift of half an hour. */
export const zones = fc.constantFrom(
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'America/St_Johns',
  'Pacific/Chatham',
);

/** Limits of 12 units at most. */
export const calendarWindows: fc.Arbitrary<Window> = fc
  .record({
    limit: fc.integer({ min: 1, max: 12 }),
    span: fc.constantFrom(HOUR, DAY, WEEK, MONTH),
    zone: zones,
    day: fc.integer({ min: 1, max: 31 }),
  })
  .map(({ limit, span, zone, day }) => {
    const anchor = span === MONTH ? day : ((day - 1) % 7) + 1;
    const own = { ...window(limit, span, 'calendar'), zone };
    return span < WEEK ? own : { ...own, anchor };
  });

/** Windows of one kind, so small that a short history fills them. */
export function windowsOf(kind: Window['kind']): fc.Arbitrary<Window> {
  if (kind === 'calendar') return calendarWindows;
  return fc
    .record({ limit: fc.integer({ min: 1, max: 12 }), span: spans })
    .map(({ limit, span }) => window(limit, span, kind));
}

/** Any moment of some days: windows and their slots begin in each of their phases. */
export const beginnings = fc.nat({ max: 3 * DAY }).map((after) => Date.UTC(2026, 0, 1) + after);

/**
 * What happens to a window of this span: bursts, pauses of a part of it, pauses that it does not
 * outlive, and jitters.
 */
export function histories(span: number, { jitter = 0 } = {}): fc.Arbitrary<Step[]> {
  const pass = fc.oneof(
    { weight: 4, arbitrary: fc.nat({ max: Math.ceil(span / 100) }) },
    { weight: 4, arbitrary: fc.nat({ max: span }) },
    { weight: 1, arbitrary: fc.constantFrom(span, span - 1, span + 1, 3 * span) },
    { weight: 1, arbitrary: fc.nat({ max: jitter }).map((back) => -back) },
  );
  const step = fc.record({ pass, units: fc.nat({ max: 5 }), refund: fc.boolean() });
  return fc
    .array(step, { maxLength: 40 })
    .map((steps) => steps.map((one, i) => ({ ...one, refund: one.refund && i % 3 === 0 })));
}

/** A window with its cells between other cells, at the end of a history. */
export interface Counter {
  readonly window: Window;
  readonly cells: number[];
  readonly at: number;
  readonly now: number;
  /** What was admitted, in its order. */
  readonly charged: readonly { readonly units: number; readonly now: number }[];
}

/** What adjacent cells hold: no meter may read or write them. */
export const ADJACENT = -7;

/**
 * Lives through a history as admission would: what does not fit is not charged. Calls `visit` after
 * each step.
 */
export function live(
  window: Window,
  start: number,
  steps: readonly Step[],
  visit?: (counter: Counter) => void,
): Counter {
  const meter = meterOf(window);
  const at = 3;
  const cells = [...new Array(at).fill(ADJACENT), ...new Array(meter.size).fill(0), ADJACENT];
  const charged: { units: number; now: number }[] = [];
  let now = start;
  for (const { pass, units, refund } of steps) {
    now += pass;
    meter.correctTimes(cells, at, window, now);
    if (refund) {
      meter.refund(cells, at, window, units, now);
    } else if (meter.used(cells, at, window, now) + units <= window.limit) {
      meter.charge(cells, at, window, units, now);
      charged.push({ units, now });
    }
    visit?.({ window, cells, at, now, charged });
  }
  return { window, cells, at, now, charged };
}

/** A counter at the end of any history of any window of one kind. */
export function countersOf(kind: Window['kind'], { jitter = 50 } = {}): fc.Arbitrary<Counter> {
  return windowsOf(kind).chain((one) =>
    fc
      .tuple(beginnings, histories(one.span, { jitter }))
      .map(([start, steps]) => live(one, start, steps)),
  );
}
