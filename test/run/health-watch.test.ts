import { afterEach, expect, test } from '@jest/globals';
import type { Health } from '@storegate/admin-api';
import type { Event } from '../../src/observe/events.ts';
import { watchHealth } from '../../src/run/health-watch.ts';
import { until } from '../support/until.ts';

const LASTING = 40;

let end: () => void;
afterEach(() => end());

/** `courses`: the health at each check; the last one stays. */
function watch(courses: readonly Health['status'][], { stopping = false, lasting = LASTING } = {}) {
  const events: Event[] = [];
  let checks = 0;
  const text = 'It fails.';
  const health = async (): Promise<Health> => {
    const status = courses[Math.min(checks++, courses.length - 1)]!;
    const finding = { type: 'x', status, since: null, gateways: [], text, action: '' };
    return { status, since: null, findings: status === 'ok' ? [] : [finding] };
  };
  const observe = (event: Event) => void events.push(event);
  const isStopping = () => stopping;
  end = watchHealth({ health, isStopping, observe }, { interval: 1, lasting });
  return { events, checks: () => checks };
}

const changed = (before: string, status: string, reasons: readonly string[]) => ({
  type: 'health.changed',
  before,
  status,
  reasons,
});

test('a gateway that is down is reported at once, and OK again once it has lasted', async () => {
  const { events } = watch(['ok', 'down', 'down', 'ok']);
  await until('both are reported', () => events.length === 2);
  expect(events).toEqual([changed('ok', 'down', ['It fails.']), changed('down', 'ok', [])]);
});

test('a change that does not last is not reported', async () => {
  const { events, checks } = watch(['degraded', 'ok', 'degraded', 'ok'], { lasting: 10_000 });
  await until('it has checked', () => checks() > 10);
  expect(events).toEqual([]);
});

test('a gateway that stops reports nothing', async () => {
  const { events, checks } = watch(['down'], { stopping: true });
  await until('it has checked', () => checks() > 5);
  expect(events).toEqual([]);
});
