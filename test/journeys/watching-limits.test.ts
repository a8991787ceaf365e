import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type AdminCall, adminOf } from '../support/admin.ts';
import { commandLine } from '../support/command-line.ts';
import { isTheError } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';

const PLANS = `plans:
  free:
    windows:
      - { limit: 2, per: minute, enforce: false }
      - { limit: 5, per: hour }
      - { limit: 3, per: day, overage: true }
  pro: { enforce: false, windows: [{ limit: 1, per: minute }, { limit: 9, per: day }] }
  paid: { windows: [{ limit: 9, per: minute }] }
accounts:
  watched: { enforce: false, windows: [{ limit: 1, per: minute }] }
bans: { strikes: 1, workers: 1, window: 1m, grace: 0ms, durations: [1m], decay: 1d }
`;

let gateway: TestGateway;
let call: AdminCall;

beforeAll(async () => {
  gateway = await TestGateway.start({ plans: PLANS });
  call = adminOf(gateway.adminUrl);
});
afterAll(() => gateway.stop());

const get = (key: string, path = '/pets') => gateway.client.get(path).set('X-API-Key', key);

async function statuses(key: string, times: number): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < times; i++) all.push((await get(key)).status);
  return all;
}

test('a window that refuses nothing is in no header beside one that does', async () => {
  const { secret } = await gateway.key();
  const { headers } = await get(secret);
  expect(headers['ratelimit-policy']).toBe('"hour";q=5;w=3600');
  expect(headers).toMatchObject({ 'x-ratelimit-limit': '5', 'x-ratelimit-remaining': '4' });
  expect(await statuses(secret, 4)).toEqual([200, 200, 200, 200]);
  isTheError(await get(secret), 429, 'rate_limit_exceeded');
  const { windows } = (await get(secret, '/usage')).body;
  expect(windows).toEqual([
    expect.objectContaining({ name: 'hour', used: 5, remaining: 0 }),
    expect.objectContaining({ name: 'day', used: 5, remaining: 0 }),
  ]);
});

test('requests above limits that do not refuse are explained, counted and summed up per plan', async () => {
  const { secret } = await gateway.key({ account: 'second' });
  await statuses(secret, 3);
  const fourth = await get(secret);
  const id = fourth.headers['x-request-id']!;
  expect((await call('GET', `/requests/${id}`)).body.windows).toEqual([
    expect.objectContaining({ name: 'minute', excess: 'watch', over: 1, before: 0, after: 0 }),
    expect.objectContaining({ name: 'hour', excess: null, over: 0, before: 2, after: 1 }),
    expect.objectContaining({ name: 'day', excess: 'overage', over: 1, before: 0, after: 0 }),
  ]);
  const storegate = commandLine(gateway.folder);
  const admin = { env: { STOREGATE_ADMIN_URL: gateway.adminUrl } };
  const explained = await storegate(['explain', id], admin);
  expect(explained.out).toContain(
    'minute would have refused it, but only watches; 1 unit above the limit of day',
  );
  const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  // Three of the first test and two of this one.
  expect(metrics).toContain(
    'storegate_excess_requests_total{plan="free",window="minute",excess="watch"} 5',
  );
  expect(metrics).toContain(
    'storegate_excess_requests_total{plan="free",window="day",excess="overage"} 3',
  );
  expect((await call('GET', '/plans/free')).body.excess).toEqual([
    { window: 'minute', excess: 'watch', requests: 5, units: 5, subjects: 2 },
    { window: 'day', excess: 'overage', requests: 3, units: 3, subjects: 2 },
  ]);
  const shown = await storegate(['plans', 'get', 'free'], admin);
  expect(shown.out + shown.err).toContain(
    'minute would have refused 5 requests of 2 keys in the last day.',
  );
  expect(shown.out + shown.err).toContain(
    'day admitted 3 units above its limit, 3 requests of 2 keys in the last day.',
  );
});

test('a plan that only watches refuses nothing and makes no strike', async () => {
  const { secret } = await gateway.key({ plan: 'pro' });
  expect(await statuses(secret, 12)).toEqual(Array(12).fill(200));
  const { body } = await get(secret, '/usage');
  expect(body.windows).toEqual([]);
  expect(body.ban).toMatchObject({ until: null, strikes: 0 });
  expect((await call('GET', '/plans/pro')).body).toMatchObject({
    limits: '1/minute+watch,9/day+watch',
  });
});

test('an account that only watches is not refused either', async () => {
  const { secret } = await gateway.key({ plan: 'paid', account: 'watched' });
  expect(await statuses(secret, 3)).toEqual([200, 200, 200]);
  expect((await call('GET', '/plans/paid')).body).not.toHaveProperty('excess');
});
