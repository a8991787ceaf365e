import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import type { Health } from '@storegate/admin-api';
import { DAY, MINUTE } from '../../src/common/time.ts';
import { withBackend } from '../../src/config/describe.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Event } from '../../src/observe/events.ts';
import { createLog } from '../../src/observe/log.ts';
import { createGateway } from '../../src/run/gateway.ts';
import { watchHealth } from '../../src/run/health-watch.ts';
import { Authority } from '../support/certificates.ts';
import { until } from '../support/until.ts';

const LASTING = 40;
const ALL_BUT_INTERVALS: (
  | 'Date'
  | 'performance'
  | 'setTimeout'
  | 'setImmediate'
  | 'queueMicrotask'
  | 'nextTick'
)[] = ['Date', 'performance', 'setTimeout', 'setImmediate', 'queueMicrotask', 'nextTick'];

let end = () => {};
afterEach(() => end());

/** `courses`: the health at each check; the last one stays. */
function watch(courses: readonly Health['status'][], { stopping = false, lasting = LASTING } = {}) {
  const events: Event[] = [];
  let checks = 0;
  const text = 'It fails.';
  const health = async (): Promise<Health> => {
    const status = courses[Math.min(checks++, courses.length - 1)]!;
    const finding = { type: 'x', status, since: null, gateways: [], text, action: '', cause: null };
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

test('a gateway reports its health only once it listens, however long its start takes', async () => {
  const authority = new Authority();
  const folder = mkdtempSync(join(tmpdir(), 'storegate-'));
  const pair = authority.issue('expired', 'IP:127.0.0.1');
  writeFileSync(join(folder, 'gateway.yaml'), JSON.stringify({ listen: { tls: pair } }));
  const env = { STOREGATE_PORT: '0', STOREGATE_ADMIN_PORT: '0', STOREGATE_CONFIG: 'gateway.yaml' };
  const config = withBackend(loadConfig({ cwd: folder, env }), 'http://127.0.0.1:1');
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const isReported = () => lines.join().includes('health.changed');
  const log = createLog(config.log, { destination });
  const clock = () => Date.now() + 2 * DAY;
  jest.useFakeTimers({ doNotFake: ALL_BUT_INTERVALS });
  const gateway = await createGateway(config, { log, clock });
  const check = async () => {
    await jest.advanceTimersByTimeAsync(MINUTE);
    // A check asks each part, which takes some turns.
    for (let i = 0; i < 20; i++) await setImmediate();
  };
  await check();
  const early = isReported();
  await gateway.start();
  await check();
  await gateway.stop();
  jest.useRealTimers();
  rmSync(folder, { recursive: true });
  authority.remove();
  expect([early, isReported()]).toEqual([false, true]);
});
