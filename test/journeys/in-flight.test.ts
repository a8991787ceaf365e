import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { adminOf } from '../support/admin.ts';
import { carriesTheHeadersOfEveryAnswer, isTheError } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { HANDSHAKE, SWITCHED } from '../support/websocket.ts';

const plans = (concurrency: number) => `plans:
  free: { windows: [{ limit: 60, per: minute }], concurrency: ${concurrency} }
  team: { windows: [{ limit: 60, per: minute }], count: account, concurrency: ${concurrency} }
  open: { windows: [{ limit: 60, per: minute }] }
accounts:
  globex: { windows: [{ limit: 60, per: minute }], concurrency: 1 }
bans: { strikes: 3, workers: 10, window: 1m, grace: 0ms, durations: [1m] }
`;

let backend: Server;
let gateway: TestGateway;
const held: ServerResponse[] = [];
const deafOnes: Socket[] = [];
beforeAll(async () => {
  backend = createServer((_request, response) => void held.push(response));
  backend.on('upgrade', ({ url }: IncomingMessage, socket: Socket) => {
    socket.write(SWITCHED);
    if (url === '/live/deaf') deafOnes.push(socket.resume().on('error', () => {}));
    else socket.pipe(socket);
  });
  backend.listen(0, '127.0.0.1');
  await once(backend, 'listening');
  const backendUrl = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`;
  const settings = `apis: [{ name: live, path: /live, contract: none, stripPath: false, target: "${backendUrl}", websocket: true }]`;
  gateway = await TestGateway.start({ plans: plans(2), settings, backendUrl });
});
afterAll(async () => {
  await gateway.stop();
  backend.close();
  backend.closeAllConnections();
});
beforeEach(() => expect(held).toHaveLength(0));

const get = (secret: string) => gateway.client.get('/pets').set('X-API-Key', secret);
const usage = async (secret: string) =>
  (await gateway.client.get('/usage').set('X-API-Key', secret)).body;

async function inFlight(secret: string, count: number) {
  const before = held.length;
  const sent = Array.from({ length: count }, () => get(secret).then(({ status }) => status));
  await until('the backend has them', () => held.length === before + count);
  return {
    async answer() {
      for (const response of held.splice(0)) response.end('[]');
      return await Promise.all(sent);
    },
  };
}

describe('a key whose plan allows two requests at once', () => {
  test('is refused the third: free, no strike, with its quota, until one of them is answered', async () => {
    const { secret } = await gateway.key();
    const two = await inFlight(secret, 2);
    for (let i = 0; i < 5; i++) {
      const refused = await get(secret);
      isTheError(refused, 429, 'too_many_in_flight');
      carriesTheHeadersOfEveryAnswer(refused);
      expect(refused.headers).toMatchObject({ 'retry-after': '1', 'x-ratelimit-remaining': '58' });
      expect(refused.body.message).toContain('limit 2 for this key');
    }
    expect(await usage(secret)).toMatchObject({
      inFlight: { most: 2, now: 2 },
      windows: [{ used: 2 }],
      ban: { strikes: 0, until: null },
    });
    expect(held).toHaveLength(2);
    expect(await two.answer()).toEqual([200, 200]);
    expect(await usage(secret)).toMatchObject({ inFlight: { most: 2, now: 0 } });
    const next = await inFlight(secret, 1);
    expect(await next.answer()).toEqual([200]);
  });

  test('is banned if it does not wait after more of these refusals than it may have workers', async () => {
    const { secret } = await gateway.key();
    const two = await inFlight(secret, 2);
    const codes = new Set<string>();
    while (!codes.has('key_banned')) {
      const refusals = await Promise.all(Array.from({ length: 20 }, () => get(secret)));
      for (const { body } of refusals) codes.add(body.code);
    }
    expect([...codes].sort()).toEqual(['key_banned', 'too_many_in_flight']);
    expect(await two.answer()).toEqual([200, 200]);
    isTheError(await get(secret), 403, 'key_banned');
  });

  test('has a WebSocket in flight for as long as it is open', async () => {
    const { secret } = await gateway.key({ account: 'globex' });
    const headers = { 'X-API-Key': secret, ...HANDSHAKE };
    const requested = request(`${gateway.url}/live`, { headers }).end();
    const [, socket] = (await once(requested, 'upgrade')) as [IncomingMessage, Socket];
    isTheError(await get(secret), 429, 'too_many_in_flight');
    socket.destroy();
    await until('it has ended', async () => (await usage(secret)).inFlight.now === 0);
    expect(await (await inFlight(secret, 1)).answer()).toEqual([200]);
  });

  test('frees the slot when its client has closed, although the target keeps its side open', async () => {
    const { secret } = await gateway.key({ account: 'globex' });
    const headers = { 'X-API-Key': secret, ...HANDSHAKE };
    const requested = request(`${gateway.url}/live/deaf`, { headers }).end();
    const [, socket] = (await once(requested, 'upgrade')) as [IncomingMessage, Socket];
    isTheError(await get(secret), 429, 'too_many_in_flight');
    const ended = () => gateway.log.filter(({ status }) => status === 101).length;
    const before = ended();
    socket.end();
    await until('it has ended', () => ended() === before + 1);
    expect(await usage(secret)).toMatchObject({ inFlight: { now: 0 } });
    for (const deaf of deafOnes.splice(0)) deaf.destroy();
  });
});

test('a new limit applies from the next request after a reload, and counts requests in flight', async () => {
  const { secret } = await gateway.key();
  const flight = await inFlight(secret, 2);
  writeFileSync(join(gateway.folder, 'plans.yaml'), plans(3));
  const { status } = await adminOf(gateway.adminUrl)('POST', '/reload');
  expect(status).toBe(200);
  const third = await inFlight(secret, 1);
  isTheError(await get(secret), 429, 'too_many_in_flight');
  expect(await third.answer()).toEqual([200]);
  expect(await flight.answer()).toEqual([200, 200]);
});
