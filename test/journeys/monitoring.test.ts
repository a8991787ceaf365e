import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from '@jest/globals';
import { adminOf } from '../support/admin.ts';
import { gatewaysOfTests } from '../support/gateways.ts';
import { until } from '../support/until.ts';
import { fakeBackend } from '../support/upstream.ts';

const plans = (limit: number) =>
  `plans:\n  free: { windows: [{ limit: ${limit}, per: hour }, { limit: 1000, per: day }] }\n`;

const CONNECTION_GAUGES = [
  'connections_open',
  'connections_idle',
  'connections_limit',
  'pending_requests',
];

const { stops, gateway: start } = gatewaysOfTests({ plans: plans(10) });

const metricsAt = async (adminUrl: string) => (await fetch(`${adminUrl}/metrics`)).text();
const valueIn = (text: string, name: string) =>
  Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(text)?.[1]);

test('metrics of readiness, reloads and configuration digests match health and status', async () => {
  const gateway = await start();
  const value = async (name: string) => valueIn(await metricsAt(gateway.adminUrl), name);
  const write = (text: string) => writeFileSync(join(gateway.folder, 'plans.yaml'), text);
  const info = async () => {
    const { gateways } = (await adminOf(gateway.adminUrl)('GET', '/status')).body;
    const { settings, plans, contract } = gateways[0].configuration;
    return `storegate_config_info{settings="${settings}",plans="${plans}",contract="${contract}"} 1\n`;
  };
  const [first, began] = [
    await info(),
    await value('storegate_config_last_reload_timestamp_seconds'),
  ];
  expect(await metricsAt(gateway.adminUrl)).toContain(first);
  expect(await value('storegate_ready')).toBe(1);
  expect(await value('storegate_config_last_reload_successful')).toBe(1);

  write('plans: 1\n');
  await until(
    'it is refused',
    async () => (await value('storegate_config_last_reload_successful')) === 0,
  );
  expect(await metricsAt(gateway.adminUrl)).toContain(first);
  write(plans(10));
  await until(
    'the old file is back',
    async () => (await value('storegate_config_last_reload_successful')) === 1,
  );
  expect(await value('storegate_config_last_reload_timestamp_seconds')).toBeGreaterThanOrEqual(
    began,
  );

  write(plans(20));
  await until('another is in force', async () => (await info()) !== first);
  const text = await metricsAt(gateway.adminUrl);
  expect(text).toContain(await info());
  expect(text).not.toContain(first);
});

test('open, idle, pending and possible connections to the backend are four figures', async () => {
  let isHolding = true;
  const held: (() => void)[] = [];
  const backend = await fakeBackend((_, response) => {
    const end = () => void response.end('[]');
    if (isHolding) held.push(end);
    else end();
  });
  function release(): void {
    isHolding = false;
    for (const end of held) end();
  }
  stops.push(() => backend.close());
  const settings = 'upstream: { connections: 3 }\n';
  const gateway = await start({ settings, backendUrl: backend.url });
  stops.push(release);
  const { secret } = await gateway.key();
  const send = () => gateway.client.get('/pets').set('X-API-Key', secret).then();
  const reported = async () => {
    const text = await metricsAt(gateway.adminUrl);
    const [open, idle, limit, pending] = CONNECTION_GAUGES.map((name) =>
      valueIn(text, `storegate_upstream_${name}`),
    );
    return { open, idle, limit, pending };
  };
  const shown = async () =>
    (await adminOf(gateway.adminUrl)('GET', '/backends')).body.backends[0].connections;
  async function both(expected: Awaited<ReturnType<typeof reported>>): Promise<void> {
    const { pending: waiting, ...rest } = expected;
    await until('the connections are so', async () =>
      isDeepStrictEqual(await shown(), { ...rest, waiting }),
    );
    expect(await reported()).toEqual(expected);
  }

  await both({ open: 0, idle: 0, limit: 3, pending: 0 });
  const responses = [send(), send()];
  await until('both arrive', () => held.length === 2);
  await both({ open: 2, idle: 0, limit: 3, pending: 0 });
  held[0]!();
  await both({ open: 2, idle: 1, limit: 3, pending: 0 });
  responses.push(send(), send(), send(), send());
  await until('the third connection is busy', () => held.length === 4);
  await both({ open: 3, idle: 0, limit: 3, pending: 2 });
  release();
  await Promise.all(responses);
  await both({ open: 3, idle: 3, limit: 3, pending: 0 });
});
