import { WINDOW_KINDS } from '../../src/limits/kinds.ts';
import type { BanEscalation, Limits, Window } from '../../src/limits/limits.ts';

export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 86_400_000;

export function window(limit: number, span: number, kind: Window['kind'] = 'fixed'): Window {
  return { name: `${span / SECOND}s`, kind, limit, span };
}

export function calendar(limit: number, span: number, zone: string, anchor?: number): Window {
  const own = { ...window(limit, span, 'calendar'), zone };
  return anchor === undefined ? own : { ...own, anchor };
}

/** The same window, which does not refuse. */
export function withExcess(excess: NonNullable<Window['excess']>, one: Window): Window {
  return { ...one, excess };
}

/** Calendar windows have the spans of their words alone. */
export function hasSpan({ kind, span }: Pick<Window, 'kind' | 'span'>): boolean {
  const { spans, hasZone } = WINDOW_KINDS[kind];
  return !hasZone || Object.values(spans).includes(span);
}

export function scoped(
  scope: string,
  limit: number,
  span: number,
  kind: Window['kind'] = 'fixed',
): Window {
  return { ...window(limit, span, kind), scope };
}

export const ESCALATION: BanEscalation = {
  strikes: 10,
  window: MINUTE,
  workers: 1,
  minWorkers: 1,
  grace: 100,
  durations: [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, DAY],
  decay: DAY,
};

export function limits(windows: Window[], escalation: BanEscalation | null = ESCALATION): Limits {
  return { windows, escalation };
}

export class TestClock {
  now: number;
  readonly read = () => this.now;

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.now = now;
  }

  pass(milliseconds: number): void {
    this.now += milliseconds;
  }
}
