import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type AdminCall, adminOf } from '../support/admin.ts';
import { TestGateway } from '../support/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';

const PLANS = `plans:
  free: { windows: [{ limit: 3, per: hour }] }
  team: { count: account, windows: [{ limit: 3, per: hour }] }
bans: { strikes: 3, workers: 1, window: 1m, grace: 0ms, durations: [10m, 30m], decay: 1d }
`;
const REASON =
  'sent 3 more requests within 1m after the limit of 3 per hour was used up, the last of them listPets';
const MINUTE = 60_000;

const ask = (gateway: { url: string }, key: string, path = '/pets') =>
  fetch(`${gateway.url}${path}`, { headers: { 'X-API-Key': key } });

async function getBanned(key: string, gateways: readonly { url: string }[]): Promise<void> {
  for (let i = 0; i < 500; i++) {
    const response = await ask(gateways[i % gateways.length]!, key);
    await response.arrayBuffer();
    if (response.status === 403) return;
  }
  throw new Error('it was never banned');
}

type Entry = Record<string, unknown> & { readonly after: Record<string, unknown> };

async function history(admin: AdminCall, query = ''): Promise<Entry[]> {
  const { status, body } = await admin('GET', `/ban-history${query}`);
  expect(status).toBe(200);
  return body.entries;
}

async function historyOf(admin: AdminCall, count: number, query = ''): Promise<Entry[]> {
  await until(`${count} entries`, async () => (await history(admin, query)).length >= count);
  return await history(admin, query);
}

const kinds = (entries: readonly Entry[]) =>
  entries.map(({ action, ended }) => `${action} ${(ended as { how: string } | null)?.how ?? '-'}`);

describe('an embedded gateway', () => {
  let gateway: TestGateway;
  let admin: AdminCall;
  beforeEach(async () => {
    gateway = await TestGateway.start({ plans: PLANS });
    admin = adminOf(gateway.adminUrl);
  });
  afterEach(() => gateway.stop());

  test('records a ban of the escalation once, with its reason, also after a restart', async () => {
    const { secret, id } = await gateway.key();
    const begin = gateway.clock.now;
    await getBanned(secret, [gateway]);
    await ask(gateway, secret);
    const newest = async () => (await historyOf(adminOf(gateway.adminUrl), 1))[0]!;
    const entry = await newest();
    expect(entry).toEqual({
      number: 1,
      at: new Date(begin).toISOString(),
      actor: 'storegate',
      action: 'bans.start',
      target: id,
      before: { plan: 'free', until: null },
      after: {
        plan: 'free',
        until: new Date(begin + 10 * MINUTE).toISOString(),
        reason: REASON,
        limit: '3/hour',
        strikes: 3,
        operation: 'listPets',
        level: 1,
      },
      requestId: expect.stringMatching(/./),
      reason: REASON,
      ended: null,
    });
    expect(
      gateway.log.find((line) => line.id === entry.requestId && line.msg === 'ban.started'),
    ).toBeDefined();
    const [ban] = (await admin('GET', '/bans')).body.bans;
    expect(ban).toMatchObject({
      reason: REASON,
      by: null,
      level: 1,
      history: { bans: 1, lifted: null },
    });
    expect((await admin('GET', `/audit?target=${id}`)).body.entries).toEqual([]);
    expect(JSON.stringify([await history(admin), gateway.log])).not.toContain(secret);
    await gateway.close();
    await gateway.open();
    expect(await newest()).toEqual(entry);
    expect(await history(adminOf(gateway.adminUrl))).toHaveLength(1);
  });
});

describe('gateways on one Redis', () => {
  let redis: RedisServer;
  const gateways: TestGateway[] = [];
  beforeEach(async () => {
    redis = await startRedis();
  });
  afterEach(async () => {
    for (const gateway of gateways.splice(0)) await gateway.stop();
    await redis.stop();
  });

  async function start(settings = ''): Promise<TestGateway> {
    const gateway = await TestGateway.start({
      plans: PLANS,
      settings,
      env: { REDIS_URL: redis.url },
    });
    gateways.push(gateway);
    return gateway;
  }

  test('record a ban once, though both refuse, and each shows changes of the other', async () => {
    const [one, two] = [await start(), await start()];
    const secrets: string[] = [];
    for (let i = 0; i < 5; i++) secrets.push((await one.key({ account: `a${i}` })).secret);
    await Promise.all(secrets.map((secret) => getBanned(secret, [one, two])));
    const entries = await historyOf(adminOf(one.adminUrl), 5);
    for (const secret of secrets)
      for (const gateway of [one, two])
        await until(
          'both refuse it as banned',
          async () => (await ask(gateway, secret)).status === 403,
        );
    expect(entries.map(({ number }) => number)).toEqual([5, 4, 3, 2, 1]);
    expect(new Set(entries.map(({ target }) => target)).size).toBe(5);
    for (const { after } of entries)
      expect(after).toMatchObject({ reason: REASON, level: 1, strikes: 3 });
    await adminOf(two.adminUrl)('DELETE', '/bans/a0');
    expect(kinds(await history(adminOf(one.adminUrl), '?subject=a0'))).toEqual([
      'bans.lift -',
      'bans.start lifted',
    ]);
    expect(await history(adminOf(two.adminUrl))).toHaveLength(6);
  });

  test('record a ban of an outage of Redis after the outage', async () => {
    const gateway = await start('redis: { failureThreshold: 1 }');
    const { secret, id } = await gateway.key();
    expect((await ask(gateway, secret)).status).toBe(200);
    await redis.admin.replicaof('127.0.0.1', '1');
    await getBanned(secret, [gateway]);
    expect(gateway.log.filter((line) => line.msg === 'ban.started')).toHaveLength(1);
    await redis.admin.replicaof('NO', 'ONE');
    const entries = await historyOf(adminOf(gateway.adminUrl), 1, `?subject=${id}`);
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({
      action: 'bans.start',
      after: { reason: REASON, operation: 'listPets' },
    });
  });
});
