import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, type ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { program } from '../runner/programs.ts';
import { freePort } from '../support/free-port.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { finished, type Running, storegate } from '../support/storegate.ts';
import { until } from '../support/until.ts';
import { type FakeStore, fakeStore } from '../support/upstream.ts';
import { type Answered, allGone, GatewayWithWorkers, get, isAlive } from '../support/workers.ts';

/** So long that no test sees its end: a process that stops sooner has another reason. */
const PATIENT_DRAIN = 'door: { drainTimeout: 10m }\n';

let redis: RedisServer;
let store: FakeStore;
/** Requests that the store has received but not answered. */
let held: ServerResponse[];
const gateways: GatewayWithWorkers[] = [];

beforeAll(async () => {
  redis = await startRedis();
  held = [];
  store = await fakeStore((request, response) => {
    if (request.url === '/pets/1') held.push(response);
    else answer(response);
  });
});
afterEach(async () => {
  await redis.admin.flushall();
  await Promise.all(gateways.splice(0).map((gateway) => gateway.stop()));
  for (const response of held.splice(0)) response.destroy();
});
afterAll(async () => {
  await store.close();
  await redis.stop();
});

function answer(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
}

async function start(more = '', env: Readonly<Record<string, string>> = {}): Promise<GatewayWithWorkers> {
  const files = { 'gateway.yaml': more };
  const gateway = await GatewayWithWorkers.start({ redisUrl: redis.url, storeUrl: store.url, files, env });
  gateways.push(gateway);
  return gateway;
}

/** Sends requests that the store holds, one through each worker. */
async function inFlight(gateway: GatewayWithWorkers): Promise<Promise<Answered>[]> {
  const { key } = await gateway.key('1000/day');
  const requests: Promise<Answered>[] = [];
  for (let i = 0; i < 2; i++) {
    const before = held.length;
    requests.push(gateway.get('/pets/1', { 'X-API-Key': key }));
    // One after the other: connections go to the next worker that is free, and a busy one takes its time to say that it is.
    await until('the store has it', () => held.length === before + 1);
  }
  return requests;
}

function release(): void {
  for (const response of held.splice(0)) answer(response);
}

const statuses = async (requests: readonly Promise<Answered>[]) =>
  (await Promise.all(requests)).map(({ status }) => status);
const ready = async ({ adminUrl }: GatewayWithWorkers) => {
  const response = await fetch(`${adminUrl}/health/ready`);
  return `${response.status} ${((await response.json()) as { status: string }).status}`;
};
const signalGroup = ({ running }: GatewayWithWorkers, signal: NodeJS.Signals) =>
  process.kill(-running.child.pid!, signal);

describe('the gateway stops', () => {
  // Each signal once, and each way to send it once: a start is of three processes.
  test('on SIGTERM, once what was begun has been answered', async () => {
    const gateway = await start(PATIENT_DRAIN);
    const { pids } = gateway;
    const requests = await inFlight(gateway);
    gateway.running.child.kill('SIGTERM');
    await until('it says so', async () => (await ready(gateway)) === '503 stopping');
    await until('it has told', () => gateway.told('stopping').length === 1);
    release();
    expect(await statuses(requests)).toEqual([200, 200]);
    expect(await gateway.running.exit).toBe(0);
    await allGone(pids);
    expect(gateway.told('stopping')).toEqual([expect.objectContaining({ inFlight: 2 })]);
    expect(gateway.told('stopped')).toEqual([expect.objectContaining({ cutOff: 0 })]);
    expect(gateway.told('worker.ended')).toEqual([]);
    expect(await redis.admin.zcard('sg:g')).toBe(0);
  });

  test('on SIGINT to all of its processes, in the same way', async () => {
    const gateway = await start(PATIENT_DRAIN);
    const { pids } = gateway;
    const requests = await inFlight(gateway);
    signalGroup(gateway, 'SIGINT');
    await until('it has told', () => gateway.told('stopping').length === 1);
    expect(pids.filter(isAlive)).toEqual(pids);
    release();
    expect(await statuses(requests)).toEqual([200, 200]);
    expect(await gateway.running.exit).toBe(0);
    await allGone(pids);
    expect(gateway.told('worker.ended').filter(({ unexpected, level }) => unexpected || level >= 40)).toEqual([]);
    expect(gateway.running.err()).toBe('');
  });

  test('on SIGTERM to all of its processes only after the delay, in which everything is answered', async () => {
    const gateway = await start('door: { drainDelay: 1d }\n');
    const { key } = await gateway.key('1000/day');
    const answered = async () => {
      const agent = new Agent({ keepAlive: true });
      const answer = await get(`${gateway.url}/categories`, { 'X-API-Key': key }, agent);
      agent.destroy();
      return answer;
    };
    expect((await answered()).headers.connection).toBe('keep-alive');
    signalGroup(gateway, 'SIGTERM');
    await until('it says so', async () => (await ready(gateway)) === '503 stopping');
    await until('answers end connections', async () => (await answered()).headers.connection === 'close');
    const answers = await Promise.all(Array.from({ length: 20 }, answered));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    gateway.running.child.kill('SIGTERM');
    expect(await gateway.running.exit).toBe(130);
  });

  test('cuts off what is not finished in time, and says how much that was', async () => {
    const gateway = await start('door: { drainTimeout: 100ms }\n');
    const requests = (await inFlight(gateway)).map((request) => request.catch((error) => error.code));
    gateway.running.child.kill('SIGTERM');
    expect(await gateway.running.exit).toBe(0);
    expect(await Promise.all(requests)).toEqual(['ECONNRESET', 'ECONNRESET']);
    expect(gateway.told('stopped')).toEqual([expect.objectContaining({ cutOff: 2 })]);
  });

  test('at once on the second signal, with every worker', async () => {
    const gateway = await start(PATIENT_DRAIN);
    const { pids } = gateway;
    const requests = (await inFlight(gateway)).map((request) => request.catch((error) => error.code));
    gateway.running.child.kill('SIGINT');
    await until('it drains', () => gateway.told('stopping').length === 1);
    gateway.running.child.kill('SIGINT');
    expect(await gateway.running.exit).toBe(130);
    await allGone(pids);
    expect(await Promise.all(requests)).toEqual(['ECONNRESET', 'ECONNRESET']);
  });
});

describe('when the primary process is killed', () => {
  /** Which a new one will have too. */
  const ports = async () => ({ STOREGATE_PORT: `${await freePort()}`, STOREGATE_ADMIN_PORT: `${await freePort()}` });

  test('its workers go on until a new one is ready, and end when they have finished what they have begun', async () => {
    const env = await ports();
    const gateway = await start(PATIENT_DRAIN, env);
    const { pids } = gateway;
    const { key } = await gateway.key('1000/day');
    const requests = await inFlight(gateway);
    gateway.running.child.kill('SIGKILL');
    await until('they have noticed', () => gateway.told('primary.gone').length === 2);
    expect(gateway.told('primary.gone').map(({ inFlight }) => inFlight)).toEqual([1, 1]);
    const categories = async () => (await gateway.get('/categories', { 'X-API-Key': key })).status;
    await until('callers are answered', () =>
      categories()
        .catch(() => 0)
        .then((status) => status === 200),
    );

    const next = await start(PATIENT_DRAIN, env);
    await until('the new workers are all there is for callers', async () => {
      const before = next.told('request').length;
      const statuses = await Promise.all(Array.from({ length: 20 }, categories));
      expect(new Set(statuses)).toEqual(new Set([200]));
      return next.told('request').length === before + 20;
    });
    expect(pids.filter(isAlive)).toEqual(pids);
    release();
    expect(await statuses(requests)).toEqual([200, 200]);
    await allGone(pids);
    expect(await ready(next)).toBe('200 ready');
    expect(next.pids.filter(isAlive)).toEqual(next.pids);
  });

  test('its workers finish what they have begun after a SIGTERM, and end', async () => {
    const gateway = await start(PATIENT_DRAIN, await ports());
    const { pids } = gateway;
    const requests = await inFlight(gateway);
    gateway.running.child.kill('SIGKILL');
    await until('they have noticed', () => gateway.told('primary.gone').length === 2);
    for (const pid of pids) process.kill(pid, 'SIGTERM');
    release();
    expect(await statuses(requests)).toEqual([200, 200]);
    await allGone(pids);
  });
});

test.each([
  ['has just been made', (group: number, _: number) => processesOf(group).length === 3],
  ['has connected to Redis', async (_: number, clients: number) => (await clientsOfRedis()) > clients],
  ['is about to listen', async () => (await redis.admin.zcard('sg:g')) > 2],
])(
  'a worker that %s ends when its primary process is killed',
  async (_, moment) => {
    const gateway = await start();
    const { pid: group } = gateway.running.child;
    process.kill(gateway.pids[0]!, 'SIGKILL');
    await until('its end is told', () => gateway.told('worker.ended').length === 1);
    const clients = await clientsOfRedis();
    await until('its follower is that far', () => moment(group!, clients));
    gateway.running.child.kill('SIGKILL');
    await until('no process is left', () => processesOf(group!).length === 0);
  },
  60_000,
);

async function clientsOfRedis(): Promise<number> {
  return ((await redis.admin.client('LIST')) as string).split('name=storegate').length - 1;
}

/** The running processes of a group. */
function processesOf(group: number): string[] {
  const lines = execFileSync(program('ps'), ['-A', '-o', 'pgid=,stat='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => new RegExp(`^\\s*${group}\\s+[^Z]`).test(line));
}

describe('a worker', () => {
  test('that is asked to stop finishes what it has begun, and is replaced; nobody calls that a failure', async () => {
    const gateway = await start(PATIENT_DRAIN);
    const { pids } = gateway;
    const requests = await inFlight(gateway);
    process.kill(pids[0]!, 'SIGTERM');
    release();
    expect(await statuses(requests)).toEqual([200, 200]);
    await until('another one has taken its place', () => gateway.pids[0] !== pids[0]);
    expect(gateway.pids[1]).toBe(pids[1]);
    expect(isAlive(pids[0]!)).toBe(false);
    expect(gateway.told('worker.ended')).toEqual([
      expect.objectContaining({ worker: 1, pid: pids[0], level: 30, replacedAfter: 0 }),
    ]);
    expect(await gateway.metric('storegate_worker_exits_total')).toBe(0);
    expect(await gateway.metric('storegate_requests_total', { operation: 'getPet' })).toBe(2);
  });

  test('that is asked to stop costs no request of callers that keep their connections', async () => {
    const gateway = await start('door: { drainDelay: 500ms, drainTimeout: 10m }\n');
    const { key } = await gateway.key('1000000/day');
    let over = false;
    async function call(): Promise<void> {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      while (!over) {
        const { status } = await get(`${gateway.url}/categories`, { 'X-API-Key': key }, agent);
        expect(status).toBe(200);
      }
      agent.destroy();
    }
    const calls = Promise.all(Array.from({ length: 8 }, call));
    for (const [i, pid] of gateway.pids.entries()) {
      process.kill(pid, 'SIGTERM');
      await Promise.race([calls, until('another one has taken its place', () => gateway.pids[i] !== pid, 30_000)]);
    }
    over = true;
    await calls;
    expect(gateway.told('worker.ended')).toHaveLength(2);
  });

  test('that keeps dying is replaced later each time, and the other one serves meanwhile', async () => {
    const gateway = await start();
    const { key } = await gateway.key('1000/day');
    for (let deaths = 1; deaths <= 3; deaths++) {
      const pid = gateway.pids[0]!;
      process.kill(pid, 'SIGKILL');
      await until('its end is told', () => gateway.told('worker.ended').length === deaths);
      expect((await gateway.get('/categories', { 'X-API-Key': key })).status).toBe(200);
      expect(await ready(gateway)).toBe('200 ready');
      await until('another one has taken its place', () => gateway.pids[0] !== pid);
    }
    expect(gateway.told('worker.ended').map(({ replacedAfter }) => replacedAfter)).toEqual([100, 200, 400]);
    expect(await gateway.metric('storegate_worker_exits_total')).toBe(3);
  });

  test('is missed when there is no other: the gateway is not ready, and is again with the next one', async () => {
    const gateway = await start('', { STOREGATE_PORT: `${await freePort()}` });
    const { key } = await gateway.key('1000/day');
    for (const pid of gateway.pids) process.kill(pid, 'SIGKILL');
    await until('it says so', async () => (await ready(gateway)) === '503 no_worker');
    await until('it is ready again', async () => (await ready(gateway)) === '200 ready');
    expect((await gateway.get('/categories', { 'X-API-Key': key })).status).toBe(200);
  });

  test('that hangs is ended and replaced', async () => {
    const gateway = await start();
    const { key } = await gateway.key('1000/day');
    const [stuck, other] = gateway.pids;
    process.kill(stuck!, 'SIGSTOP');
    await until('its end is told', () => gateway.told('worker.ended').length === 1, 30_000);
    expect(gateway.told('worker.ended')).toMatchObject([{ pid: stuck, reason: 'did not answer for 10 s', level: 50 }]);
    await until('another one has taken its place', () => gateway.pids[0] !== stuck);
    expect(gateway.pids[1]).toBe(other);
    const answers = await gateway.fromEveryWorker('/categories', { 'X-API-Key': key });
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  test('that has lost Redis makes the gateway unready where the operator wants that', async () => {
    const own = await startRedis();
    const files = { 'gateway.yaml': 'redis: { readyWhenAway: false, deadline: 1s, misses: 1 }\n' };
    const gateway = await GatewayWithWorkers.start({ redisUrl: own.url, storeUrl: store.url, files });
    gateways.push(gateway);
    const { key } = await gateway.key('1000/day');
    await gateway.fromEveryWorker('/categories', { 'X-API-Key': key });
    expect(await ready(gateway)).toBe('200 ready');
    await own.kill();
    await gateway.fromEveryWorker('/categories', { 'X-API-Key': key });
    await until('it says so', async () => (await ready(gateway)) === '503 state_away');
    expect(await gateway.metric('storegate_state_mode', { mode: 'local' })).toBe(1);
    await own.stop();
  });

  test('counts failures by itself, up to its share, while the primary process is silent', async () => {
    const gateway = await start('door: { guard: { failures: 6, span: 1h } }\n');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const fails = async () => (await get(`${gateway.url}/categories`, {}, agent)).status;
    expect(await fails()).toBe(401);
    gateway.running.child.kill('SIGSTOP');
    try {
      expect([await fails(), await fails(), await fails(), await fails()]).toEqual([401, 401, 401, 429]);
      expect(gateway.told('primary.silent')).toHaveLength(1);
    } finally {
      gateway.running.child.kill('SIGCONT');
    }
    await until('it is heard again', () => gateway.told('primary.heard').length === 1);
    agent.destroy();
  });
});

describe('the start', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'storegate-'));
  afterAll(() => rmSync(cwd, { recursive: true, force: true }));
  const env = (more: Readonly<Record<string, string>> = {}) => ({
    STOREGATE_PORT: '0',
    STOREGATE_ADMIN_PORT: '0',
    STOREGATE_WORKERS: '2',
    REDIS_URL: redis.url,
    ...more,
  });
  const serve = (more: Readonly<Record<string, string>> = {}) => finished(['serve'], { cwd, env: env(more) });

  test('says in one line that the port is taken, and leaves nothing running', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await until('the port is taken', () => taken.listening);
    const port = `${(taken.address() as { port: number }).port}`;
    expect(await serve({ STOREGATE_PORT: port })).toEqual({
      code: 1,
      out: '',
      err: `cannot listen on 127.0.0.1:${port}: another program is using it (STOREGATE_PORT)\n`,
    });
    expect(await redis.admin.client('LIST')).not.toContain('name=storegate');
    taken.close();
  });

  test.each([
    ['Redis is away', () => ({ REDIS_URL: 'redis://127.0.0.1:1' }), /^cannot use Redis at 127\.0\.0\.1:1: .*\n$/],
    ['the contract is not there', () => ({ STOREGATE_CONTRACT: 'nowhere.yaml' }), /^\S+nowhere\.yaml: .*\n$/],
    ['there is no Redis', () => ({ REDIS_URL: '' }), /^STOREGATE_WORKERS: 2 workers need shared state, .*\n$/],
  ])('says in one line that %s', async (_, more, message) => {
    expect(await serve(more())).toEqual({ code: 1, out: '', err: expect.stringMatching(message) });
  });

  test('has a store of its own and shows demo keys that are good, as with one process', async () => {
    const own = await startRedis();
    const more = { REDIS_URL: own.url, LOG_LEVEL: 'silent' };
    const running = storegate(['serve'], { cwd, env: env(more), onTerminal: true });
    await until('the gateway is up', () => running.out().includes('Ctrl-C'));
    const [url, key] = [/answers at (http:\S+)/, /free +\S+ +(sg_demo_\w+)/].map((it) => it.exec(running.out())![1]!);
    const answered = await get(`${url}/pets`, { 'X-API-Key': key! });
    expect([answered.status, JSON.parse(answered.body).length > 0]).toEqual([200, true]);
    running.child.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    expect(running.err()).toBe('');
    await own.stop();
  });

  test('with auto and no Redis is that of one process', async () => {
    const running = storegate(['serve'], { cwd, env: env({ REDIS_URL: '', STOREGATE_WORKERS: 'auto' }) });
    await until('the gateway is up', () => running.out().includes('answers at'));
    expect(running.out()).not.toContain('worker');
    expect(await exposition(running)).not.toContain('storegate_workers');
    running.child.kill('SIGTERM');
    expect(await running.exit).toBe(0);
  });

  async function exposition(running: Running): Promise<string> {
    return (await fetch(/operators: (\S+)\)/.exec(running.out())![1]!)).text();
  }
});
