import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type AdminCall, adminOf } from '../support/admin.ts';
import { isTheError } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';
import { DAY, HOUR, SECOND } from '../support/limits.ts';

const MIDNIGHT = Date.parse('2026-03-28T23:00Z');
const plans = (zone: string) => `plans:
  free:
    windows: [{ limit: 3, per: day, kind: calendar, zone: ${zone} }]
  paid:
    windows: [{ limit: 9, per: minute }]
bans: off
`;

let gateway: TestGateway;
let call: AdminCall;

beforeAll(async () => {
  gateway = await TestGateway.start({ plans: plans('Europe/Berlin') });
  call = adminOf(gateway.adminUrl);
});
afterAll(() => gateway.stop());
beforeEach(() => {
  gateway.clock.now = MIDNIGHT - 30 * SECOND;
});

const get = (key: string, path = '/pets') => gateway.client.get(path).set('X-API-Key', key);
const resetOf = ({ headers }: { headers: Record<string, string> }) =>
  Number(headers['x-ratelimit-reset']) * SECOND;

test('a calendar window resets at midnight of its zone, and every response has that time', async () => {
  const { secret } = await gateway.key();
  const first = await get(secret);
  expect(first.headers).toMatchObject({
    'x-ratelimit-remaining': '2',
    'ratelimit-policy': '"day";q=3;w=86400',
    ratelimit: '"day";r=2;t=30',
  });
  expect(resetOf(first)).toBe(MIDNIGHT);
  for (let i = 0; i < 2; i++) await get(secret);
  const refused = await get(secret);
  isTheError(refused, 429, 'daily_quota_exceeded');
  expect(refused.headers['retry-after']).toBe('30');
  const { windows } = (await get(secret, '/usage')).body;
  const reset = new Date(MIDNIGHT).toISOString();
  expect(windows).toEqual([
    { name: 'day', kind: 'calendar', limit: 3, used: 3, remaining: 0, reset },
  ]);

  gateway.clock.pass(30 * SECOND);
  const next = await get(secret);
  expect(next.status).toBe(200);
  // Summer time begins: the day has 23 hours.
  expect(resetOf(next)).toBe(MIDNIGHT + 23 * HOUR);
});

test('a reload with another zone keeps the used units until the new day ends', async () => {
  const { secret } = await gateway.key();
  for (let i = 0; i < 2; i++) await get(secret);
  writeFileSync(join(gateway.folder, 'plans.yaml'), plans('Asia/Tokyo'));
  expect((await call('POST', '/reload')).body).toMatchObject({ changed: ['plans'] });
  const { headers } = await get(secret);
  expect(headers['x-ratelimit-remaining']).toBe('0');
  expect(resetOf({ headers })).toBe(MIDNIGHT - 8 * HOUR + DAY);
});
