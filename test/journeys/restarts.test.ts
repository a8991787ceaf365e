import { Agent, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Balancer } from '../support/balancer.ts';
import { TestGateway } from '../support/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';
import { get } from '../support/workers.ts';

/** Much longer than the balancer needs, on a busy machine too. */
const SETTINGS = `redis: { deadline: 10s }
http: { drainDelay: 1s, drainTimeout: 10m }
`;
const ROUNDS = 2;
const REQUESTS = 500;
const CALLERS = 12;

let redis: RedisServer;
let backend: FakeBackend;
let gateways: TestGateway[];
let balancer: Balancer;
beforeAll(async () => {
  redis = await startRedis();
  backend = await fakeBackend((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  const options = { settings: SETTINGS, backendUrl: backend.url, env: { REDIS_URL: redis.url } };
  gateways = [await TestGateway.start(options), await TestGateway.start(options)];
  balancer = await Balancer.start(gateways);
});
afterAll(async () => {
  await balancer.stop();
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await backend.close();
  await redis.stop();
});

test('rolling restarts behind a balancer lose no request, and none is sent twice', async () => {
  for (const gateway of gateways) await until('the balancer uses it', () => balancer.uses(gateway));
  const windows = [{ name: 'day', kind: 'fixed', limit: 1_000_000, span: 86_400_000 }] as const;
  const { secret } = await gateways[0]!.key({ plan: 'business', windows });
  const outcomes = new Map<number | string, number>();
  let sent = 0;
  let restarted = false;

  async function call(caller: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (sent < REQUESTS || !restarted) {
      // Some leave their connections idle between two requests.
      await pause(caller % 4 === 0 ? 200 : 5);
      sent++;
      const requested = get(`${balancer.url}/categories`, { 'X-API-Key': secret }, agent);
      const outcome = await requested.then(
        ({ status }) => status,
        (error: NodeJS.ErrnoException) => error.code ?? error.message,
      );
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    agent.destroy();
  }

  const calls = Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)));
  for (let round = 0; round < ROUNDS; round++) {
    for (const gateway of gateways) {
      await gateway.close();
      await gateway.open();
      await until('the balancer uses it again', () => balancer.uses(gateway));
    }
  }
  restarted = true;
  await calls;
  expect([...outcomes]).toEqual([[200, sent]]);
  expect(backend.seen).toHaveLength(sent);
});

test('a response of an API without a contract in progress at a stop announces the end of its connection', async () => {
  const held: ServerResponse[] = [];
  const target = await fakeBackend((_, response) => void held.push(response));
  const apis = `apis: [{ name: files, path: /files, contract: none, stripPath: false, target: "${target.url}" }]\n`;
  const gateway = await TestGateway.start({ settings: apis, backendUrl: backend.url });
  const { secret } = await gateway.key();
  const agent = new Agent({ keepAlive: true });
  const requested = get(`${gateway.url}/files/a`, { 'X-API-Key': secret }, agent);
  await until('the target has the request', () => held.length === 1);
  const stopped = gateway.stop();
  await until(
    'it says so',
    async () => (await fetch(`${gateway.adminUrl}/health/ready`)).status === 503,
  );
  held[0]!.end('late');
  expect(await requested).toMatchObject({
    status: 200,
    body: 'late',
    headers: { connection: 'close' },
  });
  await stopped;
  agent.destroy();
  await target.close();
});
