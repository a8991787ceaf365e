import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStore } from '../../src/cli/store.ts';
import { Wire } from '../hostile/wire.ts';
import { adminOf } from '../support/admin.ts';
import { bodyOf } from '../support/failure.ts';
import { TestGateway } from '../support/gateway.ts';
import { Receiver } from '../support/receiver.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';
import { GatewayWithWorkers } from '../support/workers.ts';
import { scraped } from './exposition.ts';

const PLANS = `plans:
  free: { windows: [{ limit: 5, per: minute }] }
  enterprise: { custom: true }
bans: { strikes: 3, workers: 1, durations: [1m] }
`;
/** Small: each process reads it. */
const CONTRACT = `openapi: 3.0.3
info: { title: Pets, version: '1' }
paths:
  /pets:
    get: { operationId: listPets, responses: &any { default: { description: Any. } } }
    post:
      operationId: createPet
      x-report-only: true
      requestBody: { content: { application/json: { schema: { required: [name] } } } }
      responses: *any
`;
const HAPPENED = [
  'storegate_bans_total{',
  'storegate_contract_faults_total{',
  'storegate_cost_settlements_total{',
  'storegate_connections_refused_total{reason="address"}',
  'nodejs_gc_duration_seconds_count{',
  'storegate_near_limit_admissions_total{',
  'storegate_backend_ejections_total{',
  'storegate_spans_total{result="failed"}',
  'storegate_webhook_deliveries_total{',
];
const TRACED = {
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
  OTEL_BSP_SCHEDULE_DELAY: '100',
  OTEL_EXPORTER_OTLP_TIMEOUT: '100',
};
const ALONE = ['storegate_state_local_mode_requests_total{', 'storegate_state_mode{mode="local"}'];

const GONE =
  'upstreams: { gone: { url: "http://127.0.0.1:1", healthChecks: { path: /, interval: 100ms, unhealthyThreshold: 1 } } }\n';

export async function ofOneProcess(): Promise<string[]> {
  return [await fromEmbeddedGateway(), await fromGatewayThatLostRedis()];
}

async function fromEmbeddedGateway(): Promise<string> {
  const receiver = await Receiver.start();
  const folder = mkdtempSync(join(tmpdir(), 'storegate-'));
  const contract = join(folder, 'own.yaml');
  writeFileSync(contract, CONTRACT);
  const env = { ...TRACED, ...receiver.env, STOREGATE_CONTRACT: contract };
  const gateway = await TestGateway.start({ plans: PLANS, env });
  try {
    await letHappen(gateway, () => gateway.clock.pass(150));
    return await scraped(gateway.adminUrl, HAPPENED);
  } finally {
    await gateway.stop();
    await receiver.stop();
    rmSync(folder, { recursive: true });
  }
}

async function fromGatewayThatLostRedis(): Promise<string> {
  const redis = await startRedis();
  const settings = 'redis: { deadline: 1s, failureThreshold: 1 }';
  const gateway = await TestGateway.start({ settings, env: { REDIS_URL: redis.url } });
  try {
    const { secret } = await gateway.key();
    const ask = async () => void (await gateway.client.get('/pets').set('X-API-Key', secret));
    await scraped(gateway.adminUrl, ['storegate_admissions_total{'], ask);
    await redis.kill();
    return await scraped(gateway.adminUrl, ALONE, ask);
  } finally {
    await gateway.stop();
    await redis.stop();
  }
}

export async function ofTwoWorkers(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'storegate-'));
  const { store: backend, url: backendUrl } = await startStore(join(folder, 'store.db'), {
    host: '127.0.0.1',
    port: 0,
  });
  const redis = await startRedis();
  const files = { 'plans.yaml': PLANS, 'own.yaml': CONTRACT };
  const receiver = await Receiver.start();
  const own = { STOREGATE_PLANS: 'plans.yaml', STOREGATE_CONTRACT: 'own.yaml' };
  const env = { ...own, ...TRACED, ...receiver.env };
  const gateway = await GatewayWithWorkers.start({
    redisUrl: redis.url,
    backendUrl,
    isDescribed: true,
    files,
    env,
  });
  try {
    return [await afterCrashes(gateway), await afterTheLossOf(redis, gateway)];
  } finally {
    await gateway.stop();
    await redis.stop();
    await backend.close();
    await receiver.stop();
    rmSync(folder, { recursive: true });
  }
}

async function afterCrashes(gateway: GatewayWithWorkers): Promise<string> {
  // An alert counts ended workers: a counter that began at 1 would hide the first one.
  await scraped(gateway.adminUrl, [
    '\nstoregate_worker_exits_total 0\n',
    '\nstoregate_workers 2\n',
  ]);
  await letHappen(gateway);
  // A crash loses the counts of a worker since its last scrape.
  await scraped(gateway.adminUrl, HAPPENED);
  let text = '';
  // One after the other: without any worker, the system may give the port to another process.
  for (const [i, pid] of gateway.pids.entries()) {
    process.kill(pid, 'SIGKILL');
    const replaced = [`\nstoregate_worker_exits_total ${i + 1}\n`, '\nstoregate_workers 2\n'];
    text = await scraped(gateway.adminUrl, [...HAPPENED, ...replaced]);
  }
  return text;
}

async function afterTheLossOf(redis: RedisServer, gateway: GatewayWithWorkers): Promise<string> {
  const { key } = await gateway.key('1000/day');
  const headers = { 'X-API-Key': key };
  await gateway.fromEveryWorker('/pets', headers);
  await redis.kill();
  return await scraped(
    gateway.adminUrl,
    ALONE,
    async () => void (await gateway.get('/pets', headers)),
  );
}

async function letHappen(
  {
    folder,
    url,
    adminUrl,
  }: { readonly folder: string; readonly url: string; readonly adminUrl: string },
  pass = () => {},
): Promise<void> {
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  const admin = adminOf(adminUrl);
  const own = `${GONE}cost: { refund: [400-599] }\n`;
  write('gateway.yaml', own);
  await admin('POST', '/reload');
  write('plans.yaml', 'plans: []\n');
  await admin('POST', '/reload');

  const { id, key } = bodyOf(await admin('POST', '/keys', { account: 'acme', plan: 'free' }));
  await admin('POST', `/keys/${id}/rotate`, { overlap: '1h' });
  const ask = async (headers: Readonly<Record<string, string>>, init: RequestInit = {}) => {
    const response = await fetch(`${url}/pets`, { ...init, headers });
    await response.text();
    return response.status;
  };
  const withKey = { 'X-API-Key': key };
  await ask(
    { ...withKey, 'Content-Type': 'application/json' },
    { method: 'POST', body: '{"nonsense":true}' },
  );
  await ask({});
  await until('a ban has begun', async () => {
    pass();
    return (await ask(withKey)) === 403;
  });
  write('plans.yaml', PLANS);
  write('gateway.yaml', `${own}http: { maxConnectionsPerAddress: 1 }\n`);
  await admin('POST', '/reload');
  await tooManyConnections(url, adminUrl);
  write('gateway.yaml', own);
  await admin('POST', '/reload');
}

async function tooManyConnections(url: string, adminUrl: string): Promise<void> {
  const wires: Wire[] = [];
  await scraped(
    adminUrl,
    ['storegate_connections_refused_total{'],
    async () => void wires.push(await Wire.open(url)),
  );
  for (const wire of wires) wire.close();
}
