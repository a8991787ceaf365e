import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { toAll } from '../../src/observe/events.ts';
import { createLog } from '../../src/observe/log.ts';
import { createMetrics } from '../../src/observe/metrics.ts';
import { openRedis } from '../../src/records/redis/open.ts';
import type { Storage } from '../../src/records/storage.ts';
import { KEPT } from '../support/audit.ts';
import { textOf } from '../support/exposition.ts';
import { CARRYING } from '../support/gauges.ts';
import { HOUR, limits, window } from '../support/limits.ts';
import { startProxy, type TcpProxy } from '../support/redis/proxy.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { until } from '../support/until.ts';

let server: RedisServer;
let proxy: TcpProxy;
let gateway: Storage;
let lines: Record<string, unknown>[];
let metrics: ReturnType<typeof createMetrics>;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(async () => {
  proxy = await startProxy(server.port);
  lines = [];
  const log = createLog(
    { level: 'info', requests: true, format: 'json' },
    { destination: { write: (line) => void lines.push(JSON.parse(line)) } },
  );
  metrics = createMetrics({ ...CARRYING, subjects: () => gateway.state.size });
  const observe = toAll(metrics.observe, log.observe);
  gateway = await openRedis(
    { ...DEFAULTS, url: proxy.url, deadline: 60_000 },
    { observe, audit: KEPT },
  );
});
afterEach(async () => {
  await gateway.close();
  await proxy.stop();
});

test('an outage is one line in and one line out, a gauge, and counters', async () => {
  const wide = limits([window(1e6, HOUR)]);
  expect(await textOf(metrics)).toContain('storegate_state_mode{mode="normal"} 1');

  proxy.shut();
  await until('it is reported', async () => {
    await gateway.state.admit('key:1', wide, 1);
    return lines.length > 0;
  });
  for (let i = 0; i < 500; i++) await gateway.state.admit('key:1', wide, 1);
  const text = await textOf(metrics);
  expect(text).toContain('storegate_state_mode{mode="local"} 1');
  expect(text).not.toContain('mode="normal"');
  expect(text).toContain('storegate_state_outages_total 1');
  expect(
    Number(/storegate_state_local_mode_requests_total\{policy="local"\} (\d+)/.exec(text)?.[1]),
  ).toBeGreaterThanOrEqual(500);

  proxy.admit();
  await until('it is over', () => lines.length > 1);
  expect(lines).toMatchObject([
    {
      level: 40,
      msg: 'state.outage',
      policy: 'local',
      reason: expect.stringMatching(/^not connected to Redis: /),
    },
    { level: 30, msg: 'state.recovered', duration: expect.any(Number) },
  ]);
  expect(await textOf(metrics)).toContain('storegate_state_mode{mode="normal"} 1');
});
