import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Health } from '@storegate/admin-api';
import { severityOf } from '@storegate/admin-api/text';
import { adminOf } from '../support/admin.ts';
import { commandLine } from '../support/command-line.ts';
import type { TestGateway } from '../support/gateway.ts';
import { gatewaysOfTests } from '../support/gateways.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { fakeBackend } from '../support/upstream.ts';
import { GatewayWithWorkers, metricOf } from '../support/workers.ts';

const PLANS = 'plans:\n  free: { windows: [{ limit: 60, per: minute }] }\n';

const folder = temporaryFolders({ keep: true });
const { stops, gateway: open } = gatewaysOfTests({ plans: PLANS });

type Seen = Pick<TestGateway, 'folder' | 'adminUrl'>;

const healthAt = async ({ adminUrl }: Seen): Promise<Health> =>
  (await adminOf(adminUrl)('GET', '/status')).body.health;

async function statusCommand({ folder, adminUrl }: Seen, ...more: readonly string[]) {
  const env = { STOREGATE_ADMIN_URL: adminUrl };
  return await commandLine(folder)(['status', ...more], { env });
}

/** Waits for the finding, and returns the first line of the command with its exit code. */
async function findingAt(gateway: Seen, type: string | undefined): Promise<string> {
  await until(`the worst finding is ${type}`, async () => {
    const [worst] = (await healthAt(gateway)).findings;
    return worst?.type === type;
  });
  const { code, out } = await statusCommand(gateway, '--strict');
  return `${code} ${out.split('\n')[0]}`;
}

/** Metric, probe and command agree. */
async function expectHealth(
  gateway: Seen,
  status: Health['status'],
  type: string | undefined,
  line: RegExp,
): Promise<void> {
  expect(await findingAt(gateway, type)).toMatch(line);
  const severity = severityOf({ status });
  expect((await healthAt(gateway)).status).toBe(status);
  expect((await statusCommand(gateway)).code).toBe(severity === 1 ? 0 : severity);
  expect(await metricOf(gateway.adminUrl, 'storegate_health')).toBe(severity);
  const probe = await fetch(`${gateway.adminUrl}/health`);
  expect(probe.status).toBe(status === 'down' ? 503 : 200);
  const { findings, ...rest } = (await probe.json()) as { status: string; findings: string[] };
  expect([rest.status, findings[0]]).toEqual([status, type]);
}

describe('health of a gateway', () => {
  test('is OK without a finding, and Degraded while a file has a mistake', async () => {
    const gateway = await open();
    await expectHealth(gateway, 'ok', undefined, /^0 OK\.$/);
    writeFileSync(join(gateway.folder, 'plans.yaml'), PLANS.replace('limit', 'limt'));
    const line =
      /^1 Degraded since 20\S+Z: A reload was refused: plans\.yaml:2:\d+ .*\. Correct the file/;
    await expectHealth(gateway, 'degraded', 'reload_refused', line);
    writeFileSync(join(gateway.folder, 'plans.yaml'), PLANS);
    await expectHealth(gateway, 'ok', undefined, /^0 OK\.$/);
  });

  test('is Down while requests fail, and names a client that limits refuse', async () => {
    let status = 200;
    const backend = await fakeBackend((_, response) => void response.writeHead(status).end('[]'));
    stops.push(() => backend.close());
    const gateway = await open({ backendUrl: backend.url });
    const { secret, id } = await gateway.key();
    const send = () => gateway.client.get('/pets').set('X-API-Key', secret);
    for (let i = 0; i < 150; i++) await send();
    const refused = new RegExp(
      `^0 OK: Limits refused 60 % \\(90 of 150\\) of the requests of the last minute, most of them of ${id}\\.`,
    );
    expect(await findingAt(gateway, 'many_refused')).toMatch(refused);
    // The minute before counts in part.
    gateway.clock.now += 120_000;
    status = 500;
    for (let i = 0; i < 20; i++) await send();
    await expectHealth(
      gateway,
      'down',
      'requests_fail',
      /^2 Down: 100 % \(20 of 20\) of the reques/,
    );
  });
});

describe('health of gateways that share a Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  test.each([
    ['local', 'degraded', 'redis_down_local', /^1 Degraded since 20.*, so each gateway counts by/],
    ['deny', 'down', 'redis_down_deny', /^2 Down since 20.*: Redis is down, and redis.onOutage re/],
  ] as const)('without Redis under %s is %s', async (policy, status, type, line) => {
    const own = await startRedis();
    stops.push(() => own.stop());
    const gateway = await open({
      settings: `redis: { failureThreshold: 1, deadline: 2s, onOutage: ${policy} }\n`,
      env: { REDIS_URL: own.url },
    });
    const { secret } = await gateway.key();
    await expectHealth(gateway, 'ok', undefined, /^0 OK\.$/);
    await own.kill();
    await until('the outage is noticed', async () => {
      await gateway.client.get('/pets').set('X-API-Key', secret);
      return (await healthAt(gateway)).findings.some((one) => one.type === type);
    });
    await expectHealth(gateway, status, type, line);
    if (policy !== 'local') return;
    writeFileSync(join(gateway.folder, 'plans.yaml'), PLANS.replace('60', '50'));
    await until('a changed limit is in force', async () => {
      const { headers } = await gateway.client.get('/pets').set('X-API-Key', secret);
      return headers['x-ratelimit-limit'] === '50';
    });
  });

  async function start(name: string): Promise<GatewayWithWorkers> {
    const place = join(folder(), name);
    mkdirSync(place);
    const gateway = await GatewayWithWorkers.start({
      redisUrl: redis.url,
      backendUrl: 'http://127.0.0.1:9',
      workers: 1,
      folder: place,
    });
    stops.push(() => gateway.stop());
    return gateway;
  }

  test('is Degraded while a killed gateway is not replaced, and OK afterwards', async () => {
    const [one, two] = [await start('one'), await start('two')];
    const names = async () => {
      const { body } = await adminOf(one.adminUrl)('GET', '/status');
      return body.gateways.map(({ gateway }: { gateway: string }) => gateway) as string[];
    };
    await until('both are seen', async () => (await names()).length === 2);
    const [, killed] = await names();
    await expectHealth(one, 'ok', undefined, /^0 OK\.$/);

    await two.kill();
    expect(await findingAt(one, 'gateway_lost')).toMatch(
      /^1 Degraded since 20\S+Z: \S+ did not shut down, and no gateway has replaced it\. Start a gat/,
    );
    const run = commandLine(one.folder);
    const env = { STOREGATE_ADMIN_URL: one.adminUrl };
    expect(await run(['status', 'forget', 'other:1'], { env })).toMatchObject({
      code: 1,
      err: 'No lost gateway has the name "other:1".\n',
    });
    await start('three');
    expect(await findingAt(one, 'gateway_replaced')).toMatch(
      /^0 OK: \S+ did not shut down, and an/,
    );
    expect(await run(['status', 'forget', killed!], { env })).toMatchObject({
      code: 0,
      out: `${killed} is forgotten.\n`,
    });
    expect(await findingAt(one, undefined)).toBe('0 OK.');
    const [entry] = JSON.parse((await run(['audit', 'list', '--json'], { env })).out);
    expect(entry).toMatchObject({ action: 'gateways.forget', target: killed });
  });
});
