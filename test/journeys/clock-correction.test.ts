import { rmSync } from 'node:fs';
import { afterEach, describe, expect, test } from '@jest/globals';
import { isDeep } from '../runner/fast-check.ts';
import { CrashingGateway } from '../support/crashes.ts';
import { startRedis } from '../support/redis/server.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { fakeBackend } from '../support/upstream.ts';
import { WallClock } from '../support/wall-clock.ts';
import { get } from '../support/workers.ts';

const HOUR = 3_600;
const MINUTE = 60;
/** Seconds. A response names whole seconds, and a slow machine takes some. */
const ROUNDING = 1;

const folder = temporaryFolders();
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function gatewayWith(env: Readonly<Record<string, string>>): Promise<CrashingGateway> {
  const backend = await fakeBackend((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('[]');
  });
  stops.push(() => backend.close());
  const gateway = new CrashingGateway(backend.url);
  gateway.env = env;
  stops.push(async () => {
    await gateway.kill();
    rmSync(gateway.folder, { recursive: true });
  });
  await gateway.start();
  return gateway;
}

/** A key that has used up its minute, and one that an operator has banned for ten minutes. */
async function refusedKeys(gateway: CrashingGateway, other = gateway) {
  const [used, banned] = [await gateway.key('5/minute'), await gateway.key('5/minute')];
  const ask = async ({ key }: { key: string }, at = gateway) => {
    const { status, headers } = await get(`${at.url}/pets`, { 'X-API-Key': key });
    return { status, retryAfter: Number(headers['retry-after'] ?? 0) };
  };
  await until('the minute is used up', async () => (await ask(used)).status === 429);
  const ban = { duration: '10m', reason: 'test' };
  expect((await gateway.admin('PUT', `/bans/${banned.id}`, ban)).status).toBeLessThan(300);
  expect((await ask(banned)).status).toBe(403);
  return { used: () => ask(used, other), banned: () => ask(banned, other) };
}

type Refused = Awaited<ReturnType<typeof refusedKeys>>;

async function expectShortWaits({ used, banned }: Refused): Promise<void> {
  const ban = await banned();
  expect(ban.status).toBe(403);
  expect(ban.retryAfter).toBeLessThanOrEqual(10 * MINUTE + ROUNDING);
  expect((await used()).retryAfter).toBeLessThanOrEqual(MINUTE + ROUNDING);
}

const describeDeep = isDeep ? describe : describe.skip;

describeDeep('a wall clock that was an hour fast and is corrected', () => {
  test('of a gateway with a data folder lengthens no window and no ban, also after a crash', async () => {
    const clock = new WallClock(folder());
    clock.set(HOUR);
    const gateway = await gatewayWith(clock.env);
    const refused = await refusedKeys(gateway);
    clock.set(0);
    await expectShortWaits(refused);
    clock.set(HOUR);
    const others = await refusedKeys(gateway);
    await gateway.kill();
    clock.set(0);
    await gateway.start();
    await expectShortWaits(others);
  });

  test('of Redis lengthens no window and no ban, and keeps no operator from a change', async () => {
    const clock = new WallClock(folder());
    clock.set(HOUR);
    const redis = await startRedis({ env: clock.env });
    stops.push(() => redis.stop());
    // Another gateway, which remembers no refusal.
    const [gateway, other] = [
      await gatewayWith({ REDIS_URL: redis.url }),
      await gatewayWith({ REDIS_URL: redis.url }),
    ];
    const refused = await refusedKeys(gateway, other);
    clock.set(0);
    await expectShortWaits(refused);
    const { id } = await gateway.key('5/minute');
    expect((await gateway.admin('PATCH', `/keys/${id}`, { label: 'changed' })).status).toBe(200);
  });
});
