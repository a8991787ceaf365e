import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, type ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { program } from '../runner/programs.ts';
import { patientText } from '../support/deadlines.ts';
import { freePort } from '../support/free-port.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { finished, storegate } from '../support/storegate.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';
import {
  type Answered,
  allGone,
  GatewayWithWorkers,
  get,
  isAlive,
  type WorkersOptions,
} from '../support/workers.ts';

/** So long that no test reaches it: a process that stops sooner has another reason. */
const DRAIN = 'drainTimeout: 10m';
/** Small: each process reads it. */
const CONTRACT = `openapi: 3.0.3
info: { title: Pets, version: '1' }
paths:
  /pets/1: { get: { operationId: getPet, responses: &any { default: { description: Any. } } } }
  /categories: { get: { operationId: listCategories, responses: *any } }
`;
/** Shared by tests, because starting three processes is expensive. */
const gateways: GatewayWithWorkers[] = [];

let redis: RedisServer;
let backend: FakeBackend;
let held: ServerResponse[];

beforeAll(async () => {
  redis = await startRedis();
  held = [];
  backend = await fakeBackend((request, response) => {
    if (request.url === '/pets/1') held.push(response);
    else reply(response);
  });
});
afterEach(() => {
  for (const response of held.splice(0)) response.destroy();
});
afterAll(async () => {
  await stopAll();
  await backend.close();
  await redis.stop();
});

function reply(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
}

async function start(
  settings: string,
  more: Pick<WorkersOptions, 'env' | 'isDescribed'> = {},
): Promise<GatewayWithWorkers> {
  const files = { 'gateway.yaml': settings, 'pets.yaml': CONTRACT };
  const options = { redisUrl: redis.url, backendUrl: backend.url, files, ...more };
  const gateway = await GatewayWithWorkers.start(options);
  gateways.push(gateway);
  return gateway;
}

async function stopAll(): Promise<void> {
  await Promise.all(gateways.splice(0).map((gateway) => gateway.stop()));
  await redis.admin.flushall();
}

/** Ports that stay reserved while no process of the gateway listens on them. */
const ports = async () => ({
  STOREGATE_PORT: `${await freePort()}`,
  STOREGATE_ADMIN_PORT: `${await freePort()}`,
});

async function inFlight(gateway: GatewayWithWorkers): Promise<Promise<Answered>[]> {
  const { key } = await gateway.key('1000/day');
  const requests: Promise<Answered>[] = [];
  for (let i = 0; i < 2; i++) {
    const before = held.length;
    requests.push(gateway.get('/pets/1', { 'X-API-Key': key }));
    // One after the other: connections go to the next free worker, and a busy worker reports itself
    // late.
    await until('the backend has it', () => held.length === before + 1);
  }
  return requests;
}

function release(): void {
  for (const response of held.splice(0)) reply(response);
}

const statuses = async (requests: readonly Promise<Answered>[]) =>
  (await Promise.all(requests)).map(({ status }) => status);
const ready = async ({ adminUrl }: { readonly adminUrl: string }) => {
  const response = await fetch(`${adminUrl}/health/ready`);
  return `${response.status} ${((await response.json()) as { status: string }).status}`;
};

function processesOf(group: number): string[] {
  const lines = execFileSync(program('ps'), ['-A', '-o', 'pgid=,stat='], {
    encoding: 'utf8',
  }).split('\n');
  return lines.filter((line) => new RegExp(`^\\s*${group}\\s+[^Z]`).test(line));
}

const groupGone = (group: number) =>
  until('no process is left', () => processesOf(group).length === 0);

describe('a worker', () => {
  let gateway: GatewayWithWorkers;
  let key: string;
  beforeAll(async () => {
    const guard = 'authFailureLimit: { failures: 6, window: 1h }';
    const contract = 'contract: { file: pets.yaml }';
    gateway = await start(`http: { drainDelay: 500ms, ${DRAIN}, ${guard} }\n${contract}\n`, {
      isDescribed: true,
      env: await ports(),
    });
    ({ key } = await gateway.key('1000000/day'));
  });
  afterAll(stopAll);

  const categories = async (agent: Agent | false = false) =>
    (await get(`${gateway.url}/categories`, { 'X-API-Key': key }, agent)).status;
  const replaced = (pids: readonly number[]) =>
    until('others have taken their place', () => !gateway.pids.some((pid) => pids.includes(pid)));

  test('that keeps crashing is replaced with growing delays, and the other one serves meanwhile; without any the gateway is not ready', async () => {
    const [first, other] = gateway.pids;
    process.kill(first!, 'SIGKILL');
    await until('its end is logged', () => gateway.logged('worker.ended').length === 1);
    expect(await categories()).toBe(200);
    expect(await ready(gateway)).toBe('200 ready');
    await replaced([first!]);
    expect(gateway.pids[1]).toBe(other);

    const both = gateway.pids;
    for (const pid of both) process.kill(pid, 'SIGKILL');
    await until('it says so', async () => (await ready(gateway)) === '503 no_workers');
    await replaced(both);
    expect(await ready(gateway)).toBe('200 ready');
    expect(await categories()).toBe(200);
    const ends = gateway.logged('worker.ended').filter(({ worker }) => worker === 1);
    expect(ends.map(({ replacedAfter }) => replacedAfter)).toEqual([100, 200]);
    expect(await gateway.metric('storegate_worker_exits_total')).toBe(3);
  });

  test('that hangs is killed and replaced', async () => {
    const [stuck, other] = gateway.pids;
    process.kill(stuck!, 'SIGSTOP');
    const ended = () => gateway.logged('worker.ended').find(({ pid }) => pid === stuck);
    await until('its end is logged', () => ended() !== undefined);
    expect(ended()).toMatchObject({ reason: 'did not respond for 10 s', level: 50 });
    await replaced([stuck!]);
    expect(gateway.pids[1]).toBe(other);
    const responses = await gateway.fromEveryWorker('/categories', { 'X-API-Key': key });
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  });

  test('counts failures in Redis, and answers /usage, while the primary process is silent', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const fails = async () => (await get(`${gateway.url}/categories`, {}, agent)).status;
    expect(await fails()).toBe(401);
    gateway.running.child.kill('SIGSTOP');
    try {
      const statuses = [];
      for (let i = 0; i < 6; i++) statuses.push(await fails());
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
      const usage = await get(`${gateway.url}/usage`, { 'X-API-Key': key }, agent);
      expect(JSON.parse(usage.body)).toMatchObject({ deprecated: [] });
    } finally {
      gateway.running.child.kill('SIGCONT');
    }
    agent.destroy();
  });

  test('that is stopped finishes its requests, is replaced, and loses no request; it does not count as a failure', async () => {
    const { pids } = gateway;
    const [before, exits] = [
      gateway.logged('worker.ended').length,
      await gateway.metric('storegate_worker_exits_total'),
    ];
    const requests = await inFlight(gateway);
    let over = false;
    async function call(): Promise<void> {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (; !over; await pause(10)) expect(await categories(agent)).toBe(200);
      agent.destroy();
    }
    const calls = Promise.all(Array.from({ length: 4 }, call));
    const [stopped, other] = pids;
    process.kill(stopped!, 'SIGTERM');
    release();
    await Promise.race([calls, replaced([stopped!])]);
    expect(gateway.pids[1]).toBe(other);
    expect(isAlive(stopped!)).toBe(false);
    over = true;
    await calls;
    expect(await statuses(requests)).toEqual([200, 200]);
    expect(gateway.logged('worker.ended').slice(before)).toEqual([
      expect.objectContaining({ worker: 1, pid: stopped, level: 30, replacedAfter: 0 }),
    ]);
    expect(await gateway.metric('storegate_worker_exits_total')).toBe(exits);
    expect(await gateway.metric('storegate_requests_total', { operation: 'getPet' })).toBe(2);
  });

  test('finishes its requests when SIGINT reaches all processes of the gateway, which then ends and resets no connection', async () => {
    const { pids, running } = gateway;
    const before = gateway.logged('worker.ended').length;
    const requests = await inFlight(gateway);
    const answered = await gateway.metric('storegate_requests_total');
    const clients = new Worker(new URL('../support/connecting-clients.ts', import.meta.url));
    const lost = once(clients, 'message');
    clients.postMessage(Number(new URL(gateway.url).port));
    await until(
      'clients that keep connecting are answered',
      async () => (await gateway.metric('storegate_requests_total')) > answered,
    );
    process.kill(-running.child.pid!, 'SIGINT');
    await until('it is logged', () => gateway.logged('stopping').length === 1);
    expect(gateway.logged('stopping')).toEqual([expect.objectContaining({ inFlight: 2 })]);
    expect(await ready(gateway)).toBe('503 stopping');
    expect(pids.filter(isAlive)).toEqual(pids);
    release();
    expect(await statuses(requests)).toEqual([200, 200]);
    expect(await lost).toEqual([[]]);
    await clients.terminate();
    expect(await running.exit).toBe(0);
    await allGone(pids);
    expect(gateway.logged('stopped')).toEqual([expect.objectContaining({ cutOff: 0 })]);
    const ends = gateway.logged('worker.ended').slice(before);
    expect(ends.filter(({ unexpected, level }) => unexpected || level >= 40)).toEqual([]);
    expect(running.err()).toBe('');
  });
});

const sum = (numbers: readonly number[]): number => numbers.reduce((one, other) => one + other, 0);

describe('when the primary process is killed', () => {
  afterAll(stopAll);

  test('its workers continue, one until a SIGTERM and one until there is a new gateway, and finish their requests', async () => {
    const env = await ports();
    const settings = `http: { ${DRAIN} }\n`;
    const gateway = await start(settings, { env });
    const [one, other] = gateway.pids;
    const { key } = await gateway.key('1000/day');
    const requests = await inFlight(gateway);
    gateway.running.child.kill('SIGKILL');
    await until('they have noticed', () => gateway.logged('primary.exited').length === 2);
    expect(gateway.logged('primary.exited').map(({ inFlight }) => inFlight)).toEqual([1, 1]);
    const categories = async () => (await gateway.get('/categories', { 'X-API-Key': key })).status;
    const answered = () =>
      until('callers are answered', async () => (await categories().catch(() => 0)) === 200);
    await answered();

    process.kill(one!, 'SIGTERM');
    release();
    expect(await statuses(requests)).toEqual([200, 200]);
    await allGone([one!]);
    await answered();
    const last = gateway.get('/pets/1', { 'X-API-Key': key });
    await until('the backend has it', () => held.length === 1);

    const next = await start(settings, { env });
    await until('the new workers are all there is for callers', async () => {
      const logged = () =>
        [next, gateway].map((one) => one.logged('request').length) as [number, number];
      const before = logged();
      const statuses = await Promise.all(Array.from({ length: 20 }, categories));
      expect(new Set(statuses)).toEqual(new Set([200]));
      await until('all are logged', () => sum(logged()) === sum(before) + statuses.length);
      return logged()[1] === before[1];
    });
    expect(isAlive(other!)).toBe(true);
    release();
    expect((await last).status).toBe(200);
    await allGone([other!]);
    expect(await ready(next)).toBe('200 ready');
    expect(next.pids.filter(isAlive)).toEqual(next.pids);

    next.running.child.kill('SIGTERM');
    expect(await next.running.exit).toBe(0);
    await allGone(next.pids);
    expect(next.logged('worker.ended')).toEqual([]);
    expect(await redis.admin.zcard('sg:g')).toBe(0);
  });
});

describe('the start', () => {
  const folder = temporaryFolders({ keep: true });
  const cwd = folder();
  const env = (more: Readonly<Record<string, string>> = {}) => ({
    STOREGATE_HOST: '127.0.0.1',
    STOREGATE_PORT: '0',
    STOREGATE_ADMIN_PORT: '0',
    STOREGATE_WORKERS: '2',
    REDIS_URL: redis.url,
    ...more,
  });
  const announced = () => redis.admin.zcard('sg:g');

  test.each([
    ['has just been made', () => true],
    ['is about to listen', async () => (await announced()) > 0],
  ])('ends if the primary process is killed while a worker %s', async (_, moment) => {
    const { child } = storegate(['serve'], {
      cwd,
      env: env({ BACKEND_URL: backend.url }),
      ownGroup: true,
    });
    const group = child.pid!;
    await until('there are workers', async () => {
      await pause(20);
      return processesOf(group).length === 3;
    });
    await until('they are that far', moment);
    child.kill('SIGKILL');
    await groupGone(group);
    await redis.admin.flushall();
  });

  test('reports in one line that the port is in use, and leaves nothing running', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await until('the port is taken', () => taken.listening);
    const port = `${(taken.address() as { port: number }).port}`;
    // Its key cache is not of a Redis that has been emptied.
    const own = { STOREGATE_PORT: port, STOREGATE_DATA: 'own' };
    expect(await finished(['serve'], { cwd, env: env(own) })).toEqual({
      code: 1,
      out: '',
      err: `cannot listen on 127.0.0.1:${port}: another program is using it (STOREGATE_PORT)\n`,
    });
    expect(await redis.admin.client('LIST')).not.toContain('name=storegate');
    taken.close();
  });

  test('has a backend of its own, shows valid demo keys, and a stop waits for the balancer until the second signal', async () => {
    // Another folder has the copy of keys that Redis has lost.
    const cwd = folder();
    writeFileSync(join(cwd, 'gateway.yaml'), patientText('http: { drainDelay: 1d }\n'));
    const more = { LOG_LEVEL: 'silent', STOREGATE_CONFIG: 'gateway.yaml' };
    const running = storegate(['serve'], { cwd, env: env(more), ownGroup: true, onTerminal: true });
    const group = running.child.pid!;
    await until('the gateway is up', () => running.out().includes('Ctrl-C'));
    const found = [/available at (http:\S+)/, /pro +.+ (sg_demo_\w+)/, /Console +(http:\/\/[^/]+)/];
    const [url, key, adminUrl] = found.map((it) => it.exec(running.out())![1]!);
    const pets = async () => {
      const agent = new Agent({ keepAlive: true });
      const answered = await get(`${url}/pets`, { 'X-API-Key': key! }, agent);
      agent.destroy();
      return answered;
    };
    const { status, headers, body } = await pets();
    expect([status, headers.connection, JSON.parse(body).length > 0]).toEqual([
      200,
      'keep-alive',
      true,
    ]);

    process.kill(-group, 'SIGTERM');
    await until(
      'it says so',
      async () => (await ready({ adminUrl: adminUrl! })) === '503 stopping',
    );
    await until(
      'answers end connections',
      async () => (await pets()).headers.connection === 'close',
    );
    const responses = await Promise.all(Array.from({ length: 20 }, pets));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(running.err()).toBe('');
    await until('a later signal ends it', () => !running.child.kill('SIGTERM'));
    expect(await running.exit).toBe(130);
    await groupGone(group);
  });
});
