import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { adminOf } from '../support/admin.ts';
import { bodyOf } from '../support/failure.ts';
import { freePort } from '../support/free-port.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { finished, type Running, storegate } from '../support/storegate.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';
import { flood, isAlive, metricOf } from '../support/workers.ts';

const DROPPED = 'storegate_log_lines_dropped_total';
/** The id of the operation: every line of a request has it. */
const LONG_ID = 'x'.repeat(8_000);
/** Of more than may wait, which is 1 MiB. */
const REQUESTS = 200;
const CONTRACT = `openapi: 3.1.0
info: { title: Pets, version: '1' }
paths: { /pets: { get: { operationId: ${LONG_ID}, responses: { 200: { description: OK } } } } }
`;

const folder = temporaryFolders();
let redis: RedisServer;
let backend: FakeBackend;
let opened: number[];
let running: Running | null;
let url: string;
let adminUrl: string;

beforeAll(async () => {
  redis = await startRedis();
  backend = await fakeBackend((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
});
afterAll(async () => {
  await backend.close();
  await redis.stop();
});
beforeEach(() => {
  opened = [];
  running = null;
});
afterEach(async () => {
  if (running !== null && isAlive(running.child.pid!)) process.kill(-running.child.pid!, 'SIGKILL');
  await running?.exit;
  for (const fd of opened) closeSync(fd);
  await redis.admin.flushall();
});

function open(path: string, flags: number): number {
  const fd = openSync(path, flags);
  opened.push(fd);
  return fd;
}

async function start(stdout: number, workers: number): Promise<void> {
  const cwd = folder();
  writeFileSync(join(cwd, 'gateway.yaml'), '{}');
  const [port, adminPort] = [await freePort(), await freePort()];
  [url, adminUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`];
  writeFileSync(join(cwd, 'pets.yaml'), CONTRACT);
  running = storegate(['serve', '--no-demo-keys'], {
    cwd,
    ownGroup: true,
    env: {
      STOREGATE_CONTRACT: 'pets.yaml',
      BACKEND_URL: backend.url,
      STOREGATE_PORT: `${port}`,
      STOREGATE_ADMIN_PORT: `${adminPort}`,
      STOREGATE_CONFIG: 'gateway.yaml',
      STOREGATE_WORKERS: `${workers}`,
      REDIS_URL: redis.url,
    },
    stdout,
  });
  await until('the gateway is ready', isReady);
}

const isReady = () =>
  fetch(`${adminUrl}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );

async function statusesOf(requests: number): Promise<number[]> {
  const limits = '1000000/day';
  const made = await adminOf(adminUrl)('POST', '/keys', {
    account: 'acme',
    plan: 'enterprise',
    limits,
  });
  const headers = { 'X-API-Key': bodyOf(made).key };
  const responses = await flood(`${url}/pets`, { callers: 20, requests, headers });
  return [...new Set(responses.map(({ status }) => status))];
}

async function stop(): Promise<number | null> {
  running!.child.kill('SIGTERM');
  return await running!.exit;
}

const FULL = () => open('/dev/full', constants.O_WRONLY);

test('a gateway with workers whose log is on a full disk serves, counts dropped lines, and stops', async () => {
  const workers = 2;
  await start(FULL(), workers);
  // Each worker has a log of its own.
  expect(await statusesOf(REQUESTS * workers)).toEqual([200]);
  expect(await metricOf(adminUrl, DROPPED)).toBeGreaterThan(0);
  expect(await isReady()).toBe(true);
  expect(await stop()).toBe(0);
  expect(running!.err()).toBe('');
});

test('a command whose output is on a full disk fails, and says so', async () => {
  const failed = storegate(['--help'], { cwd: folder(), stdout: FULL() });
  expect(await failed.exit).toBe(1);
  expect(failed.err()).toBe(
    'The output cannot be written: ENOSPC: no space left on device, write\n',
  );
  expect((await finished(['--help'], { cwd: folder() })).code).toBe(0);
});
