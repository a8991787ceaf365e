import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { adminOf } from '../support/admin.ts';
import { TestGateway } from '../support/gateway.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const plans = (limit: number) =>
  `plans:\n  free: { windows: [{ limit: ${limit}, per: hour }, { limit: 1000, per: day }] }\n`;

const _folderOf = temporaryFolders();

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function gatewayWith(settings: string): Promise<TestGateway> {
  const gateway = await TestGateway.start({ plans: plans(10), settings });
  stops.push(() => gateway.stop());
  return gateway;
}

const metricsAt = async (adminUrl: string) => (await fetch(`${adminUrl}/metrics`)).text();
const valueIn = (text: string, name: string) =>
  Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(text)?.[1]);

test('admitted requests with a fifth or less of a window left are counted and logged; refused ones are not', async () => {
  const gateway = await gatewayWith('');
  const { secret } = await gateway.key();
  for (let i = 0; i < 12; i++) await gateway.client.get('/pets').set('X-API-Key', secret);
  await gateway.client.get('/usage').set('X-API-Key', secret);
  await until('all are counted', async () => {
    const text = await metricsAt(gateway.adminUrl);
    return (
      text.includes('operation="usage"') && text.includes('storegate_refusals_total{code="rate_limit_exceeded"} 2\n')
    );
  });
  expect(await metricsAt(gateway.adminUrl)).toContain('\nstoregate_near_limit_admissions_total{plan="free"} 3\n');
  const near = gateway.log.filter(({ msg }) => msg === 'request').map(({ nearLimit }) => nearLimit);
  expect(near).toEqual([...Array(7).fill(false), true, true, true, false, false, false]);
});

test('metrics of readiness, reloads and configuration digests match health and status', async () => {
  const gateway = await gatewayWith('');
  const value = async (name: string) => valueIn(await metricsAt(gateway.adminUrl), name);
  const write = (text: string) => writeFileSync(join(gateway.folder, 'plans.yaml'), text);
  const info = async () => {
    const { gateways } = (await adminOf(gateway.adminUrl)('GET', '/status')).body;
    const { settings, plans, contract } = gateways[0].configuration;
    return `storegate_config_info{settings="${settings}",plans="${plans}",contract="${contract}"} 1\n`;
  };
  const [first, began] = [await info(), await value('storegate_config_last_reload_timestamp_seconds')];
  expect(await metricsAt(gateway.adminUrl)).toContain(first);
  expect(await value('storegate_ready')).toBe(1);
  expect(await value('storegate_config_last_reload_successful')).toBe(1);

  write('plans: 1\n');
  await until('it is refused', async () => (await value('storegate_config_last_reload_successful')) === 0);
  expect(await metricsAt(gateway.adminUrl)).toContain(first);
  write(plans(10));
  await until('the old file is back', async () => (await value('storegate_config_last_reload_successful')) === 1);
  expect(await value('storegate_config_last_reload_timestamp_seconds')).toBeGreaterThanOrEqual(began);

  write(plans(20));
  await until('another is in force', async () => (await info()) !== first);
  const text = await metricsAt(gateway.adminUrl);
  expect(text).toContain(await info());
  expect(text).not.toContain(first);
});

test('connections to the backend and memory for bodies are reported with their limits, also after a reload', async () => {
  const gateway = await gatewayWith('upstream: { connections: 9 }\nhttp: { bodyBudget: 100MiB }\n');
  const { secret } = await gateway.key();
  await gateway.client.get('/pets').set('X-API-Key', secret);
  const text = await metricsAt(gateway.adminUrl);
  for (const line of [
    'storegate_upstream_connections_open 1',
    'storegate_upstream_connections_idle 1',
    'storegate_upstream_connections_limit 9',
    'storegate_upstream_pending_requests 0',
    'storegate_body_bytes 0',
    `storegate_body_budget_bytes ${100 * 2 ** 20}`,
  ])
    expect(text).toContain(`\n${line}\n`);
  writeFileSync(join(gateway.folder, 'gateway.yaml'), 'http: { bodyBudget: 200MiB }\n');
  await adminOf(gateway.adminUrl)('POST', '/reload');
  expect(valueIn(await metricsAt(gateway.adminUrl), 'storegate_body_budget_bytes')).toBe(200 * 2 ** 20);
});
