import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Status } from '@storegate/admin-api';
import { trafficBetween, trafficSample } from '@storegate/admin-api/text';
import { adminOf } from '../support/admin.ts';
import { bodyOf } from '../support/failure.ts';
import { TestGateway } from '../support/gateway.ts';
import { NginxBackend } from '../support/nginx-backend.ts';
import { Receiver } from '../support/receiver.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';
import { GatewayWithWorkers } from '../support/workers.ts';

const plans = (strikes: number) => `plans:
  free: { windows: [{ limit: 10, per: day }] }
  enterprise: { custom: true }
bans: { strikes: ${strikes}, window: 1m, grace: 0ms, durations: [10m, 30m], decay: 1d }
`;
const FEW = plans(3);
const CONNECTIONS = 'connections: 10';

let redis: RedisServer;
let backend: FakeBackend;
let receiver: Receiver;
let gateway: GatewayWithWorkers;

const settings = (upstream = `url: "${backend.url}"`, more = '') =>
  `plans: { file: plans.yaml }\nupstream: { ${upstream}, ${CONNECTIONS} }\n${more}`;

beforeAll(async () => {
  [redis, receiver] = await Promise.all([startRedis(), Receiver.start()]);
  backend = await fakeBackend((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('[]');
  });
  gateway = await GatewayWithWorkers.start({
    redisUrl: redis.url,
    files: { 'gateway.yaml': settings(), 'plans.yaml': plans(100_000) },
    env: receiver.env,
  });
});
afterAll(async () => {
  await gateway?.stop();
  await Promise.all([backend.close(), receiver.stop(), redis.stop()]);
  expect(receiver.faults).toEqual([]);
});

const withKey = (key: string) => ({ 'X-API-Key': key });

async function reload(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) gateway.write(name, text);
  expect((await gateway.admin('POST', '/reload')).status).toBe(200);
}

const everyProcessUsesRedis = () =>
  until('every process uses Redis', async () => {
    const response = await fetch(`${gateway.adminUrl}/health/ready`);
    if ((await response.text()) !== '{"status":"ready"}') return false;
    return (await gateway.admin('POST', '/reload')).status === 200;
  });

describe('operators of a gateway with workers', () => {
  test('see limits added up in the metrics, and the latency of the state in the processes that use it', async () => {
    const timed = () => gateway.metric('storegate_state_duration_seconds_count');
    const before = await timed();
    const { key } = await gateway.key('10/day');
    for (let i = 0; i < 10; i++) await gateway.get('/pets', withKey(key));
    await until('all are counted', async () => (await timed()) === before + 10);
    expect(await gateway.metric('storegate_upstream_connections_limit')).toBe(10);
    expect(await gateway.metric('storegate_near_limit_admissions_total')).toBe(3);
    expect(await gateway.metric('storegate_ready')).toBe(1);
    expect(await gateway.metric('storegate_config_last_reload_successful')).toBe(1);
    const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    expect(text.match(/^storegate_config_info\{/gm)).toHaveLength(1);
    expect((await gateway.admin('GET', '/config/diff')).body.settings).toEqual([]);
  });
});

test('a report of usage while Redis cannot store it is refused, or has what the workers wait with', async () => {
  const { key, id } = await gateway.key('1000/day');
  const report = (query = '') => gateway.admin('GET', `/usage/report?by=key&key=${id}${query}`);
  const requests = (body: { rows: { requests: number }[] }) => body.rows[0]?.requests;
  await gateway.get('/pets', withKey(key));
  await until('one is counted', async () => requests((await report()).body) === 1);
  await redis.admin.config('SET', 'maxmemory', '1');
  try {
    for (let i = 0; i < 5; i++) await gateway.get('/pets', withKey(key));
    await until('it is refused', async () => (await report()).status === 503);
    await until('all wait', async () => requests((await report('&partial=true')).body) === 6);
    expect((await report('&partial=true')).body.isolated).toMatch(/^Redis has not answered since/);
  } finally {
    await redis.admin.config('SET', 'maxmemory', '0');
  }
  await until('all are stored', async () => requests((await report()).body) === 6);
  await everyProcessUsesRedis();
});

describe('backends', () => {
  test('that are down make the gateway unready if the settings say so, and are counted by worker', async () => {
    const backend = await NginxBackend.start();
    const unready = 'readyDuringOutage: false, ejection: { probeInterval: 100ms, slowStart: 0s }';
    const checked =
      'healthChecks: { path: /health, interval: 100ms, timeout: 200ms, unhealthyThreshold: 1 }';
    await reload({ 'gateway.yaml': settings(`url: "${backend.url}", ${unready}, ${checked}`) });
    const listed = async () => (await gateway.admin('GET', '/backends')).body.backends;
    const readiness = async () => {
      const response = await fetch(`${gateway.adminUrl}/health/ready`);
      return { status: response.status, body: await response.json() };
    };
    const isReady = () => until('it is ready', async () => (await readiness()).status === 200);
    await isReady();
    expect(await readiness()).toEqual({ status: 200, body: { status: 'ready' } });
    await until('both workers have it', async () => (await listed())[0].total === 2);
    expect(await listed()).toMatchObject([
      { backend: backend.label, state: 'up', total: 2, down: 0 },
    ]);
    await backend.fail('hang');
    await until('it is not ready', async () => (await readiness()).status === 503);
    expect(await readiness()).toEqual({
      status: 503,
      body: { status: 'upstreams_down', down: ['upstream default'] },
    });
    await until('both workers say so', async () => (await listed())[0].down === 2);
    const processes = (await listed())[0].processes as {
      worker: number;
      state: string;
      reason: string;
    }[];
    expect(processes.map((one) => [one.worker, one.state, one.reason])).toEqual([
      [1, 'down', 'check'],
      [2, 'down', 'check'],
    ]);
    await backend.recover();
    await isReady();
    await reload({ 'gateway.yaml': settings() });
    await backend.stop();
  });
});

test('bans, quotas and first uses are reported once by a gateway with workers, to endpoints and in the log of bans', async () => {
  await reload({ 'plans.yaml': FEW });
  const keys: { id: string; key: string }[] = [];
  for (let i = 0; i < 3; i++)
    keys.push((await gateway.admin('POST', '/keys', { account: `a${i}`, plan: 'free' })).body);
  await Promise.all(
    keys.map(({ key }) =>
      until(
        'the key is banned',
        async () => (await gateway.get('/pets', withKey(key))).status === 403,
      ),
    ),
  );
  const deliveries = (type: string, id: string) =>
    receiver.takenOf(type).filter(({ data }) => data.key === id).length;
  const counts = () =>
    keys.map(({ id }) =>
      [
        deliveries('quota.reached', id),
        deliveries('ban.started', id),
        deliveries('key.first_used', id),
      ].join(),
    );
  await until('all of it is sent', () => counts().join(' ') === '2,1,1 2,1,1 2,1,1');
  await until(
    'it is counted',
    async () => (await gateway.metric('storegate_webhook_deliveries_total')) >= 12,
  );
  const entries = async () =>
    (await gateway.admin('GET', '/ban-history')).body.entries as { target: string }[];
  await until('the log has them', async () => (await entries()).length >= 3);
  expect((await entries()).map(({ target }) => target).sort()).toEqual(
    keys.map(({ id }) => id).sort(),
  );
  expect(counts()).toEqual(['2,1,1', '2,1,1', '2,1,1']);
  for (const secret of ['s3cr3t-path', ...keys.map(({ key }) => key)])
    expect(gateway.running.out()).not.toContain(secret);
});

test('bans that workers know are listed while Redis is down', async () => {
  const { key, id } = await gateway.key('1000/day');
  const made = await gateway.admin('PUT', `/bans/${id}`, { duration: '1h', reason: 'a test' });
  expect(made.status).toBe(200);
  await gateway.fromEveryWorker('/pets', withKey(key));
  redis.signal('SIGSTOP');
  try {
    await until('they are read from workers', async () => {
      const { status, body } = await gateway.admin('GET', '/bans');
      if (status !== 200 || body.asOf === undefined) return false;
      expect(body.bans.map(({ key }: { key: string }) => key)).toContain(id);
      return true;
    });
    const { body } = await gateway.admin('GET', '/keys?status=banned&sort=-created');
    expect(body.keys[0]).toMatchObject({ id, status: 'banned' });
  } finally {
    redis.signal('SIGCONT');
  }
  await everyProcessUsesRedis();
  await gateway.admin('DELETE', `/bans/${id}`);
});

test('gateways on one Redis appear as one in polls; a worker that ends causes no wrong numbers, and a silent gateway is named', async () => {
  const env = { REDIS_URL: redis.url };
  const one = await TestGateway.start({ plans: FEW, env, backendUrl: backend.url });
  try {
    const call = adminOf(one.adminUrl);
    const status = async (): Promise<Status> => bodyOf(await call('GET', '/status'));
    const { key } = await gateway.key('100000/minute');
    const send = async (url: string) =>
      void (await (await fetch(`${url}/pets`, { headers: withKey(key) })).arrayBuffer());
    await until('both are seen', async () => (await status()).gateways.length === 2);
    let last = trafficSample(await status(), 0);
    let sum = 0;
    const counted = async () => {
      const now = trafficSample(await status(), last.at + 1);
      const { requests } = trafficBetween(last, now);
      expect(requests).toBeGreaterThanOrEqual(0);
      last = now;
      sum += requests;
      return sum;
    };
    for (let i = 0; i < 20; i++) await send(i % 2 ? one.url : gateway.url);
    await until('all is counted', async () => (await counted()) === 20);
    const { gateways } = await status();
    expect(gateways.find(({ workers }) => workers === 2)).toMatchObject({
      readiness: 'ready',
      processes: [{ worker: 1 }, { worker: 2 }],
    });

    const sent = 20;
    const [pid] = gateway.pids;
    process.kill(pid!, 'SIGKILL');
    await until('another took its place', async () => {
      await counted();
      return gateway.pids[0] !== pid && last.totals.size === 3;
    });
    await counted();
    for (let i = 0; i < 10; i++) await send(gateway.url);
    await until('these are counted too', async () => (await counted()) >= sent + 10);
    expect(sum).toBe(sent + 10);

    await gateway.kill();
    await until('it is named', async () => (await status()).unresponsive.length === 1);
    expect((await status()).gateways).toHaveLength(1);
  } finally {
    await one.stop();
  }
});
