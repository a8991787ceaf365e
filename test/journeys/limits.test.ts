import { Agent } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { adminOf } from '../support/admin.ts';
import { send } from '../support/client.ts';
import { carriesTheHeadersOfEveryAnswer, isTheError } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../support/limits.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway.stop());

const get = (key: string) => gateway.client.get('/pets').set('X-API-Key', key);

/** Returns the first refused response. */
async function exhaust(key: string) {
  let response = await get(key);
  while (response.status === 200) response = await get(key);
  return response;
}

test('keys that alternate on one connection are distinguished, and a key revoked meanwhile is refused', async () => {
  const [first, second] = [await gateway.key({ plan: 'free' }), await gateway.key({ plan: 'pro' })];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ports = new Set<number | undefined>();
  agent.on('free', ({ localPort }) => ports.add(localPort));
  const ask = async (key: string) => {
    const options = { headers: { 'X-API-Key': key }, agent };
    const { status, headers } = await send(`${gateway.url}/pets`, options);
    return [status, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']];
  };
  expect(await ask(first.secret)).toEqual([200, '60', '59']);
  expect(await ask(second.secret)).toEqual([200, '300', '299']);
  expect(await ask(first.secret)).toEqual([200, '60', '58']);
  expect(await ask(first.secret)).toEqual([200, '60', '57']);
  await adminOf(gateway.adminUrl)('DELETE', `/keys/${first.id}`);
  expect((await ask(first.secret))[0]).toBe(401);
  expect(await ask(second.secret)).toEqual([200, '300', '298']);
  agent.destroy();
  expect(ports.size).toBe(1);
});

describe('the first request', () => {
  test('is answered by the backend, with the quota of the key', async () => {
    const { secret } = await gateway.key();
    const response = await get(secret);
    expect(response.status).toBe(200);
    expect(response.body.length).toBeGreaterThan(0);
    carriesTheHeadersOfEveryAnswer(response);
    expect(response.headers).toMatchObject({
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '59',
      'x-ratelimit-reset': `${Math.ceil((gateway.clock.now + MINUTE) / SECOND)}`,
      'ratelimit-policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
      ratelimit: '"minute";r=59;t=60, "day";r=999;t=86400',
    });
  });
});

describe('the limit per minute', () => {
  test('is counted down to zero, then refuses, and admits again after exactly the reported time', async () => {
    const { secret } = await gateway.key();
    const remaining: string[] = [];
    for (let i = 0; i < 60; i++)
      remaining.push((await get(secret)).headers['x-ratelimit-remaining']!);
    expect(remaining).toEqual(Array.from({ length: 60 }, (_, i) => `${59 - i}`));

    gateway.clock.pass(12_345);
    const refused = await get(secret);
    isTheError(refused, 429, 'rate_limit_exceeded');
    expect(refused.headers['retry-after']).toBe('48');
    expect(refused.headers['x-ratelimit-remaining']).toBe('0');

    gateway.clock.pass(Number(refused.headers['retry-after']) * SECOND);
    const again = await get(secret);
    expect(again.status).toBe(200);
    expect(again.headers['x-ratelimit-remaining']).toBe('59');
  });

  test('counts every authenticated request, valid or not', async () => {
    const { secret } = await gateway.key();
    const headers = { 'X-API-Key': secret };
    const remaining = async (response: PromiseLike<{ headers: Record<string, string> }>) =>
      (await response).headers['x-ratelimit-remaining'];
    expect(await remaining(gateway.client.get('/nowhere').set(headers))).toBe('59');
    expect(await remaining(gateway.client.patch('/pets').set(headers))).toBe('58');
    expect(await remaining(gateway.client.get('/pets?limit=many').set(headers))).toBe('57');
    expect(await remaining(gateway.client.get('/pets').set(headers))).toBe('56');
  });
});

describe('the limit per day', () => {
  test('refuses with its own code until the end of the day, and determines the headers', async () => {
    const windows = [
      { name: 'minute', kind: 'fixed', limit: 60, span: MINUTE },
      { name: 'day', kind: 'fixed', limit: 5, span: DAY },
    ] as const;
    const { secret } = await gateway.key({ windows });
    const opened = gateway.clock.now;
    expect((await get(secret)).headers['x-ratelimit-limit']).toBe('5');
    const refused = await exhaust(secret);
    isTheError(refused, 429, 'daily_quota_exceeded');
    expect(refused.headers['retry-after']).toBe('86400');
    expect(refused.headers['x-ratelimit-reset']).toBe(`${Math.ceil((opened + DAY) / SECOND)}`);
    gateway.clock.pass(DAY);
    expect((await get(secret)).status).toBe(200);
  });
});

describe('a key that keeps sending after 429', () => {
  const windows = [{ name: 'hour', kind: 'fixed', limit: 1, span: HOUR }] as const;

  async function provoke(secret: string) {
    let response = await exhaust(secret);
    while (response.status === 429) {
      gateway.clock.pass(100);
      response = await get(secret);
    }
    return response;
  }

  test('gets 403 until the ban ends and the window has reset, for every request', async () => {
    const { secret } = await gateway.key({ windows });
    const banned = await provoke(secret);
    isTheError(banned, 403, 'key_banned');
    expect(Number(banned.headers['retry-after'])).toBeGreaterThan(3_500);
    isTheError(
      await gateway.client.post('/pets').set('X-API-Key', secret).send({ name: 'Rex' }),
      403,
      'key_banned',
    );
    gateway.clock.pass(Number(banned.headers['retry-after']) * SECOND);
    expect((await get(secret)).status).toBe(200);
  });
});
