import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startStore } from '../../src/cli/store.ts';
import { Wire } from '../hostile/wire.ts';
import { Collector } from '../support/collector.ts';
import { bodyOf } from '../support/failure.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';
import { flood, GatewayWithWorkers } from '../support/workers.ts';

const FAILURES = 20;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const settings = (more = '') => `plans: { file: plans.yaml }
contract: { file: openapi.yaml }
http: { trustedProxies: [127.0.0.0/8], authFailureLimit: { failures: ${FAILURES}, window: 1h } }
${more}`;
const plans = (limit: number) => `plans:
  free: { windows: [{ limit: ${limit}, per: hour }] }
  enterprise: { custom: true }
`;
/** Small: each process reads it. */
const contract = `openapi: 3.0.3
info: { title: Pets, version: '1' }
paths:
  /pets:
    get: { operationId: listPets, responses: &any { default: { description: Any. } } }
    post:
      operationId: createPet
      requestBody: { content: { application/json: { schema: { required: [name] } } } }
      responses: *any
  /categories: { get: { operationId: listCategories, responses: *any } }
`;

let folder: string;
let redis: RedisServer;
let backend: Awaited<ReturnType<typeof startStore>>;
let collector: Collector;
let gateway: GatewayWithWorkers;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'storegate-'));
  redis = await startRedis();
  backend = await startStore(join(folder, 'store.db'), { host: '127.0.0.1', port: 0 });
  const files = { 'gateway.yaml': settings(), 'plans.yaml': plans(50), 'openapi.yaml': contract };
  collector = await Collector.start();
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '3600000',
  };
  const backendUrl = backend.url;
  gateway = await GatewayWithWorkers.start({
    redisUrl: redis.url,
    backendUrl,
    isDescribed: true,
    files,
    env,
  });
});
afterAll(async () => {
  await gateway?.stop();
  await backend.store.close();
  await collector.close();
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
});

const withKey = (key: string) => ({ 'X-API-Key': key });
const from = (address: string) => ({ 'X-Forwarded-For': address });
const statuses = (responses: readonly { status: number }[]) => [
  ...new Set(responses.map(({ status }) => status)),
];
const categories = (key: string, load: { callers: number; requests: number }) =>
  flood(`${gateway.url}/categories`, { ...load, headers: withKey(key) });
const everyWorkerAnswers = (status: number, key: string) =>
  until(`every worker answers ${status}`, async () => {
    const responses = await gateway.fromEveryWorker('/categories', withKey(key));
    return responses.every((response) => response.status === status);
  });
/** Returns the process id of the killed worker once its replacement runs. */
async function crashOne(): Promise<number> {
  const [killed] = gateway.pids;
  process.kill(killed!, 'SIGKILL');
  await until('another one has taken its place', () => !gateway.pids.includes(killed!));
  return killed!;
}

describe('with several workers', () => {
  test('a hundred clients of one key get exactly its limit, and every remainder once', async () => {
    const { key } = await gateway.key('300/hour,5000/day');
    const responses = await categories(key, { callers: 100, requests: 900 });
    const admitted = responses.filter(({ status }) => status === 200);
    const remainders = admitted.map(({ headers }) => Number(headers['x-ratelimit-remaining']));
    expect(remainders.sort((a, b) => a - b)).toEqual([...new Array(300).keys()]);
    expect(new Set(statuses(responses)).isSubsetOf(new Set([200, 429, 403]))).toBe(true);
    const good = () => gateway.logged('request').filter(({ status }) => status === 200);
    await until('all that were admitted are in the log', () => good().length === 300);
    const shares = Map.groupBy(good(), ({ worker }) => worker as number);
    // The shares depend on the speed of the workers: clients send again once they are answered.
    expect([...shares.keys()].sort()).toEqual([1, 2]);
  });

  test('failures of an address are counted once for all workers, and no other address is affected', async () => {
    const headers = from('198.51.100.7');
    const responses = await flood(`${gateway.url}/pets`, { callers: 15, requests: 90, headers });
    const refused = responses.filter(({ status }) => status === 401);
    const remainders = refused.map((response) => Number(response.headers['x-ratelimit-remaining']));
    expect(remainders.sort((a, b) => a - b)).toEqual([...new Array(FAILURES).keys()]);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(90 - FAILURES);
    const repeated = await gateway.fromEveryWorker('/pets', headers);
    expect(statuses(repeated)).toEqual([429]);
    expect(repeated[0]!.headers['x-ratelimit-remaining']).toBe('0');
    expect(Number(repeated[0]!.headers['retry-after'])).toBeGreaterThan(3_000);
    expect((await gateway.get('/pets', from('198.51.100.8'))).status).toBe(401);
  });

  test('a key that operators revoke, and one that they ban, is refused by every worker', async () => {
    const one = await gateway.key('100000/day');
    const other = await gateway.key('100000/day');
    for (const { key } of [one, other]) await everyWorkerAnswers(200, key);
    await gateway.admin('DELETE', `/keys/${one.id}`);
    await everyWorkerAnswers(401, one.key);
    await gateway.admin('PUT', `/bans/${other.id}`, { duration: '1h', reason: 'all of them' });
    await everyWorkerAnswers(403, other.key);
    await gateway.admin('DELETE', `/bans/${other.id}`);
    await everyWorkerAnswers(200, other.key);
  });
});

test('a connection beyond the limit of all workers is closed, and does not circulate among them', async () => {
  const files = {
    'gateway.yaml': settings().replace('http: {', 'http: { maxConnections: 2,'),
    'plans.yaml': plans(50),
    'openapi.yaml': contract,
  };
  const small = await GatewayWithWorkers.start({
    isDescribed: true,
    redisUrl: redis.url,
    backendUrl: backend.url,
    files,
  });
  try {
    const { key } = await small.key('100000/day');
    const head = `POST /pets HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n`;
    const wires = [await Wire.open(small.url), await Wire.open(small.url)];
    // In flight, because idle connections make room.
    for (const wire of wires) {
      wire.send(`${head}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`);
      expect((await wire.answer()).status).toBe(100);
    }
    expect(await (await Wire.open(small.url)).ended()).toBe('');
    for (const wire of wires) expect((await wire.send('{}').answer()).status).toBe(400);
    for (const wire of wires) wire.close();
    expect(await small.metric('storegate_connections_refused_total', { reason: 'total' })).toBe(1);
  } finally {
    await small.stop();
  }
});

describe('a reload', () => {
  const limits = async (key: string) => {
    const responses = await gateway.fromEveryWorker('/categories', withKey(key));
    return new Set(responses.map(({ headers }) => headers['x-ratelimit-limit']));
  };
  const free = async () =>
    bodyOf(await gateway.admin('POST', '/keys', { account: 'acme', plan: 'free' })).key as string;

  test('applies to every worker once it is answered, and is reported once', async () => {
    const key = await free();
    expect(await limits(key)).toEqual(new Set(['50']));
    const reloads = gateway.logged('reload.done').length;
    const counted = await gateway.metric('storegate_reloads_total');
    gateway.write('plans.yaml', plans(70));
    expect((await gateway.admin('POST', '/reload')).body).toEqual({
      changed: ['plans'],
      needRestart: [],
      contractCopy: null,
    });
    expect(await limits(key)).toEqual(new Set(['70']));
    expect(gateway.logged('reload.done')).toHaveLength(reloads + 1);
    expect(await gateway.metric('storegate_reloads_total', { result: 'success' })).toBe(
      counted + 1,
    );
  });

  test('with a mistake in it changes no worker, and later workers start with the configuration in force', async () => {
    const key = await free();
    gateway.write(
      'openapi.yaml',
      contract.replace('operationId: listCategories', 'operationId: listEverything'),
    );
    gateway.write('plans.yaml', plans(90));
    gateway.write('gateway.yaml', settings('workers: many\n'));
    const { status, body } = await gateway.admin('POST', '/reload');
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'configuration_unfit' });
    expect(body.details).toEqual([
      expect.objectContaining({ message: expect.stringContaining('workers') }),
    ]);
    expect(await limits(key)).toEqual(new Set(['70']));

    await crashOne();
    const before = gateway.logged('request').length;
    expect(await limits(key)).toEqual(new Set(['70']));
    const operations = gateway.logged('request').slice(before);
    expect(new Set(operations.map(({ operation }) => operation))).toEqual(
      new Set(['listCategories']),
    );
    gateway.write('gateway.yaml', settings());
    gateway.write('plans.yaml', plans(70));
    gateway.write('openapi.yaml', contract);
    expect((await gateway.admin('POST', '/reload')).body).toEqual({
      changed: [],
      needRestart: [],
      contractCopy: null,
    });
  });

  test('reaches a worker that is just starting', async () => {
    const key = await free();
    const [killed] = gateway.pids;
    process.kill(killed!, 'SIGKILL');
    await until('its end is logged', () => gateway.logged('worker.ended').at(-1)?.pid === killed);
    gateway.write('plans.yaml', plans(80));
    await gateway.admin('POST', '/reload');
    await until('another one has taken its place', () => !gateway.pids.includes(killed!));
    expect(await limits(key)).toEqual(new Set(['80']));
  });

  test('replaces a worker that cannot apply it, and reports that', async () => {
    const key = await free();
    const [stuck] = gateway.pids;
    process.kill(stuck!, 'SIGSTOP');
    gateway.write('plans.yaml', plans(85));
    const reload = gateway.admin('POST', '/reload');
    process.kill(stuck!, 'SIGKILL');
    expect((await reload).body).toEqual({
      changed: ['plans'],
      needRestart: [],
      contractCopy: null,
    });
    await until('another one has taken its place', () => !gateway.pids.includes(stuck!));
    expect(await limits(key)).toEqual(new Set(['85']));
  });
});

describe('the metrics', () => {
  const sent = { operation: 'listCategories', method: 'GET', status: '200' };
  const total = () => gateway.metric('storegate_requests_total', sent);
  const timed = () =>
    gateway.metric('storegate_request_duration_seconds_count', { operation: 'listCategories' });

  test('are those of all workers together, and no count is lost with a worker', async () => {
    const { key } = await gateway.key('100000/day');
    // The counter above covers only status 200; the histogram has refused requests too.
    const before = { total: await total(), timed: await timed() };
    const exits = await gateway.metric('storegate_worker_exits_total');
    expect(statuses(await categories(key, { callers: 20, requests: 100 }))).toEqual([200]);
    await until('all are counted', async () => (await total()) === before.total + 100);
    expect(await timed()).toBe(before.timed + 100);

    const since = async () => Date.parse((await gateway.admin('GET', '/top')).body.since);
    const complete = await since();
    const killed = await crashOne();
    await until('the counts are complete since then', async () => (await since()) > complete);
    expect(await total()).toBe(before.total + 100);
    expect(statuses(await categories(key, { callers: 20, requests: 100 }))).toEqual([200]);
    await until('all are counted', async () => (await total()) === before.total + 200);
    expect(await timed()).toBe(before.timed + 200);
    expect(await gateway.metric('storegate_workers')).toBe(2);
    expect(await gateway.metric('storegate_worker_exits_total')).toBe(exits + 1);
    expect(gateway.logged('worker.ended').at(-1)).toMatchObject({
      pid: killed,
      reason: 'signal SIGKILL',
      level: 50,
    });
  });

  test('include the last values of a worker that is stuck', async () => {
    const before = await total();
    const [stuck] = gateway.pids;
    process.kill(stuck!, 'SIGSTOP');
    try {
      expect(await total()).toBe(before);
    } finally {
      process.kill(stuck!, 'SIGCONT');
    }
  });
});

test('a stop sends the last spans of each worker, an instance of its own', async () => {
  const { key } = await gateway.key('1000/day');
  const traced = { ...withKey(key), Traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
  const sent = (await gateway.fromEveryWorker('/categories', traced)).length;
  gateway.running.child.kill('SIGTERM');
  expect(await gateway.running.exit).toBe(0);
  const spans = collector.spans.filter(({ traceId, kind }) => traceId === TRACE && kind === 2);
  expect(spans).toHaveLength(sent);
  expect(new Set(spans.map(({ resource }) => resource['service.instance.id'])).size).toBe(2);
});
