import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isTheError } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';

/** Times are measured: with this weight they do not change the order. */
const PLANS = `plans:
  free: { windows: [{ limit: 1000, per: minute }] }
  bounded: { windows: [{ limit: 1000, per: minute }], concurrency: 4 }
  enterprise: { windows: [{ limit: 1000, per: minute }], weight: 1000 }
`;
const CAPACITY = 4;

let backend: Server;
let gateway: TestGateway;
const held: { readonly plan: string; readonly key: string; readonly response: ServerResponse }[] =
  [];
beforeAll(async () => {
  backend = createServer(({ headers }: IncomingMessage, response) => {
    held.push({
      plan: `${headers['x-storegate-plan']}`,
      key: `${headers['x-storegate-key-id']}`,
      response,
    });
  });
  backend.listen(0, '127.0.0.1');
  await once(backend, 'listening');
  gateway = await TestGateway.start({
    plans: PLANS,
    settings: `upstream: { connections: ${CAPACITY} }`,
    backendUrl: `http://127.0.0.1:${(backend.address() as AddressInfo).port}`,
  });
});
afterAll(async () => {
  await gateway.stop();
  backend.close();
  backend.closeAllConnections();
});

const waiting = async () => {
  const { text } = await gateway.admin.get('/metrics');
  return Number(/^storegate_upstream_pending_requests(?:\{.*\})? (\d+)$/m.exec(text)![1]);
};

/** Resolves when the gateway has accepted all; `expected` of them wait then. */
async function send(secret: string, count: number, expected: number): Promise<Promise<number>[]> {
  const sent = Array.from({ length: count }, () =>
    gateway.client
      .get('/pets')
      .set('X-API-Key', secret)
      .then(({ status }) => status),
  );
  await until(
    `${expected} wait`,
    async () => held.length === CAPACITY && (await waiting()) === expected,
  );
  return sent;
}

/** Returns the requests that arrived then, in order. */
async function next(count: number): Promise<{ readonly plan: string; readonly key: string }[]> {
  const came: (typeof held)[number][] = [];
  for (let i = 0; i < count; i++) {
    held.shift()!.response.end('[]');
    await until('the next one has come', () => held.length === CAPACITY);
    came.push(held.at(-1)!);
  }
  return came;
}

async function answerAll(sent: readonly Promise<number>[]): Promise<number[]> {
  let isOver = false;
  const statuses = Promise.all(sent).finally(() => {
    isOver = true;
  });
  await until('all have their answers', () => {
    for (const { response } of held.splice(0)) response.end('[]');
    return isOver;
  });
  return await statuses;
}

const SIX_SERVED = ['enterprise', 'free', 'enterprise', 'enterprise', 'enterprise', 'free'];

test('four requests of enterprise precede thirty of free that came earlier, and free is served too', async () => {
  const [free, enterprise] = [await gateway.key(), await gateway.key({ plan: 'enterprise' })];
  const flood = await send(free.secret, 32, 28);
  const paid = await send(enterprise.secret, 4, 32);
  expect((await next(6)).map(({ plan }) => plan)).toEqual(SIX_SERVED);
  expect(await answerAll([...flood, ...paid])).toEqual(Array(36).fill(200));
});

test('a queue full of free traffic makes room for enterprise: free is refused, with a time to retry', async () => {
  const [free, enterprise] = [await gateway.key(), await gateway.key({ plan: 'enterprise' })];
  const flood = await send(free.secret, 36, 32);
  const late = await gateway.client.get('/pets').set('X-API-Key', free.secret);
  isTheError(late, 503, 'upstream_busy');
  expect(late.headers['retry-after']).toBe('1');
  const paid = await send(enterprise.secret, 4, 32);
  const rejected = () => gateway.log.filter(({ code }) => code === 'upstream_busy').length;
  await until('all of enterprise wait in place of free', () => rejected() === 1 + 4);
  expect((await next(6)).map(({ plan }) => plan)).toEqual(SIX_SERVED);
  expect(await answerAll(paid)).toEqual([200, 200, 200, 200]);
  const statuses = await answerAll(flood);
  expect(statuses.filter((status) => status === 503)).toHaveLength(4);
  expect(statuses.filter((status) => status === 200)).toHaveLength(32);
});

test('clients that leave the queue keep no slot: others get it, and a limited key has as many waiting as in flight', async () => {
  const [leaving, other] = [await gateway.key({ plan: 'bounded' }), await gateway.key()];
  const holding = await send(other.secret, CAPACITY, 0);
  for (let i = 0; i < 10; i++) {
    const sockets = Array.from({ length: 4 }, () =>
      connect(Number(new URL(gateway.url).port), '127.0.0.1'),
    );
    for (const socket of sockets)
      socket.write(`GET /pets HTTP/1.1\r\nHost: a\r\nX-API-Key: ${leaving.secret}\r\n\r\n`);
    await until('all wait', async () => (await waiting()) === 4);
    for (const socket of sockets) socket.destroy();
    await until('no request waits', async () => (await waiting()) === 0);
  }
  const usage = await gateway.client.get('/usage').set('X-API-Key', leaving.secret);
  expect(usage.body.inFlight).toEqual({ most: 4, now: 0 });
  expect(await answerAll(holding)).toEqual([200, 200, 200, 200]);
  expect(held).toHaveLength(0);
  expect(gateway.log.filter(({ code }) => code === 'client_closed_request')).toHaveLength(40);
});
