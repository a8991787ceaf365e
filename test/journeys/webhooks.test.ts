import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { LEASE } from '../../src/webhooks/cursors.ts';
import { type AdminCall, adminOf } from '../support/admin.ts';
import { TestGateway } from '../support/gateway.ts';
import { DAY, MINUTE } from '../support/limits.ts';
import { Receiver } from '../support/receiver.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const PLANS = `plans:
  free: { windows: [{ limit: 10, per: day }] }
  team: { count: account, windows: [{ limit: 5, per: day }] }
bans: { strikes: 3, workers: 1, window: 1m, grace: 0ms, durations: [10m, 30m], decay: 1d }
`;

const ask = async (
  gateway: { readonly url: string },
  key: string,
  path = '/pets',
): Promise<number> => {
  const response = await fetch(`${gateway.url}${path}`, { headers: { 'X-API-Key': key } });
  await response.arrayBuffer();
  return response.status;
};

async function getBanned(
  key: string,
  gateways: readonly { readonly url: string }[],
): Promise<void> {
  for (let i = 0; i < 500; i++)
    if ((await ask(gateways[i % gateways.length]!, key)) === 403) return;
  throw new Error('it was never banned');
}

const issue = async (admin: AdminCall, draft: object = {}): Promise<{ id: string; key: string }> =>
  (await admin('POST', '/keys', { account: 'acme', plan: 'free', ...draft })).body;

const temporary = temporaryFolders();
let receiver: Receiver;
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(async () => {
  await receiver.stop();
  expect(receiver.faults).toEqual([]);
});

describe('an embedded gateway', () => {
  let gateway: TestGateway;
  let admin: AdminCall;
  afterEach(() => gateway?.stop());

  async function start(settings = '', env = receiver.env): Promise<void> {
    gateway = await TestGateway.start({ plans: PLANS, settings, env });
    admin = adminOf(gateway.adminUrl);
  }

  const endpoint = async () => (await admin('GET', '/webhooks')).body.endpoints[0];
  const came = (type: string, count = 1) =>
    until(`${count} ${type}`, () => receiver.takenOf(type).length >= count);

  test('sends each event once, with the fields of its schema and no secret', async () => {
    await start();
    const { id, key } = await issue(admin, { account: 'shop', expiresAt: undefined });
    await until('it is sent', () =>
      receiver.takenOf('key.created').some(({ data }) => data.key === id),
    );
    expect(receiver.takenOf('key.created').find(({ data }) => data.key === id)!.data).toEqual({
      key: id,
      account: 'shop',
      plan: 'free',
      imported: false,
      by: 'local',
    });
    for (let i = 0; i < 8; i++) expect(await ask(gateway, key)).toBe(200);
    await came('quota.reached');
    expect(receiver.takenOf('quota.reached')[0]!.data).toEqual({
      key: id,
      account: 'shop',
      plan: 'free',
      window: 'day',
      limit: 10,
      used: 8,
      percent: 80,
      resets: new Date(gateway.clock.now + DAY).toISOString(),
    });
    await getBanned(key, [gateway]);
    await came('quota.reached', 2);
    expect(receiver.takenOf('quota.reached')[1]!.data).toMatchObject({ used: 10, percent: 100 });
    await came('ban.started');
    const [ban] = receiver.takenOf('ban.started');
    expect(ban!.data).toEqual({
      key: id,
      account: 'shop',
      plan: 'free',
      limit: '10/day',
      strikes: 3,
      level: 1,
      until: new Date(gateway.clock.now + 10 * MINUTE).toISOString(),
      operation: 'listPets',
      requestId: expect.stringMatching(/./),
    });
    await admin('POST', `/keys/${id}/rotate`, { overlap: '1h' });
    await came('key.rotated');
    expect(receiver.takenOf('key.rotated')[0]!.data).toMatchObject({ key: id, by: 'local' });
    writeFileSync(join(gateway.folder, 'plans.yaml'), 'plans: { free: 1 }');
    await came('reload.failed');
    expect(receiver.takenOf('reload.failed')[0]!.data.problems[0]).toContain('plans.yaml');
    await came('key.first_used');
    expect(receiver.takenOf('key.first_used').map(({ data }) => data)).toEqual([
      { key: id, account: 'shop', plan: 'free' },
    ]);
    const output = JSON.stringify([receiver.attempts, gateway.log, await endpoint()]);
    expect(output).not.toContain(key);
    expect(JSON.stringify([gateway.log, await endpoint()])).not.toContain('s3cr3t-path');
    expect(output).not.toContain(receiver.secret);
    expect(await endpoint()).toMatchObject({ status: 'ok', pending: 0, dropped: 0 });
    expect(new Set(receiver.taken.map((attempt) => attempt.id)).size).toBe(receiver.taken.length);
  });

  test('delivers each event once to an endpoint that failed for an hour, also over a crash', async () => {
    await start();
    const before = receiver.taken.length;
    receiver.answer = ({ headers }) => ({
      status: Number(headers['webhook-timestamp']) % 2 ? 500 : 503,
    });
    const keys: string[] = [];
    for (let i = 0; i < 3; i++) keys.push((await issue(admin)).id);
    await until('all of it waits', async () => (await endpoint()).pending === 3);
    const failures = async () => (await endpoint()).failures;
    await until('it was tried', async () => (await failures()) === 1);
    for (let i = 2; i < 7; i++) {
      gateway.clock.now += 6 * MINUTE;
      await until('it was tried again', async () => (await failures()) === i);
    }
    expect(await endpoint()).toMatchObject({
      status: 'failing',
      pending: 3,
      error: expect.stringMatching(/^HTTP 50/),
    });
    // The files as a crash at this moment leaves them.
    const crashed = join(temporary(), 'data');
    cpSync(gateway.config.data, crashed, { recursive: true });
    const [{ now }, { log }] = [gateway.clock, gateway];
    await gateway.stop();
    await start('', { ...receiver.env, STOREGATE_DATA: crashed });
    gateway.clock.now = now + 30 * MINUTE + LEASE;
    await until('it was tried by the new one', async () => (await failures()) === 7);
    receiver.answer = () => ({ status: 200 });
    gateway.clock.now += 6 * MINUTE;
    await until('nothing waits', async () => (await endpoint()).pending === 0);
    const taken = receiver.taken.slice(before);
    expect(taken.map(({ data }) => data.key).sort()).toEqual(keys.sort());
    const attempts = receiver.attempts.filter(({ id }) => taken.some((one) => one.id === id));
    // One at a time, and at most every five minutes after it has failed for a while.
    expect(attempts).toHaveLength(7 + 3);
    expect(log.filter(({ msg }) => msg === 'webhook.failing')).toHaveLength(1);
    expect(gateway.log.filter(({ msg }) => msg === 'webhook.recovered')).toHaveLength(1);
    expect(await endpoint()).toMatchObject({
      status: 'ok',
      failures: 0,
      error: null,
      failingSince: null,
    });
  });

  test('honours Retry-After, and pauses an endpoint that is gone until a test succeeds', async () => {
    await start();
    receiver.answer = () => ({ status: 503, headers: { 'Retry-After': '1800' } });
    await issue(admin);
    await until(
      'it waits',
      async () => Date.parse((await endpoint()).pausedUntil) === gateway.clock.now + 30 * MINUTE,
    );
    receiver.answer = () => ({ status: 410 });
    const tried = receiver.attempts.length;
    gateway.clock.now += 31 * MINUTE;
    await until('it is gone', async () => (await endpoint()).status === 'disabled');
    gateway.clock.now += DAY;
    await issue(admin, { account: 'later' });
    await until('another one waits', async () => (await endpoint()).pending === 2);
    expect(receiver.attempts.length).toBe(tried + 1);
    receiver.answer = () => ({ status: 202 });
    const { body } = await admin('POST', '/webhooks/test', {});
    expect(body.tests).toMatchObject([{ delivered: true, status: 202, error: null }]);
    await until('nothing waits', async () => (await endpoint()).pending === 0);
    expect(receiver.takenOf('test')[0]!.data).toMatchObject({ by: 'local' });
  });

  test('signs with the previous secret too, and sends each endpoint its event types', async () => {
    const bans = await Receiver.start();
    try {
      const settings = `webhooks: { endpoints: [{ url: '${bans.url}', events: [ban.started] }] }`;
      const both = {
        STOREGATE_WEBHOOK_SECRET: bans.secret,
        STOREGATE_WEBHOOK_PREVIOUS_SECRET: receiver.secret,
      };
      await start(settings, { ...receiver.env, ...both });
      await getBanned((await issue(admin)).key, [gateway]);
      await came('ban.started');
      await until('the other has it too', () => bans.taken.length === 1);
      expect(bans.taken[0]!.id).toBe(receiver.takenOf('ban.started')[0]!.id);
      const { endpoints } = (await admin('GET', '/webhooks')).body;
      expect(endpoints.map(({ events }: { events: string[] }) => events.length)).toEqual([12, 1]);
      const { body } = await admin('POST', '/webhooks/test', { endpoint: endpoints[1].id });
      expect(body.tests).toHaveLength(1);
      expect(bans.takenOf('test')).toHaveLength(1);
      expect((await admin('POST', '/webhooks/test', { endpoint: 'other' })).status).toBe(400);
      const { entries } = (await admin('GET', '/audit?action=webhooks.test')).body;
      expect(entries).toMatchObject([
        {
          actor: 'local',
          target: 'webhooks',
          after: { results: [{ delivered: true, status: 204 }] },
        },
      ]);
      expect(bans.faults).toEqual([]);
    } finally {
      await bans.stop();
    }
  });
});

test('a gateway without endpoints stores no events, and reports that', async () => {
  const gateway = await TestGateway.start({ plans: PLANS });
  try {
    const admin = adminOf(gateway.adminUrl);
    expect((await admin('GET', '/webhooks')).body).toEqual({ endpoints: [] });
    expect(await admin('POST', '/webhooks/test')).toMatchObject({ status: 404 });
    expect((await admin('GET', '/webhooks/schema')).body.definitions).toHaveProperty([
      'ban.started',
    ]);
    expect(await (await fetch(`${gateway.adminUrl}/metrics`)).text()).not.toContain('webhook');
  } finally {
    await gateway.stop();
  }
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

  async function start(settings = 'deadline: 10s', backendUrl?: string): Promise<TestGateway> {
    const gateway = await TestGateway.start({
      ...(backendUrl !== undefined && { backendUrl }),
      plans: PLANS,
      settings: `redis: { ${settings} }`,
      env: { REDIS_URL: redis.url, ...receiver.env },
    });
    gateways.push(gateway);
    return gateway;
  }

  test('send each event once, whichever sees it', async () => {
    const [one, two] = [await start(), await start()];
    const admin = adminOf(one.adminUrl);
    const keys: { id: string; key: string }[] = [];
    for (let i = 0; i < 4; i++) keys.push(await issue(admin, { account: `a${i}` }));
    await Promise.all(keys.map(({ key }) => getBanned(key, [one, two])));
    for (const { folder } of [one, two]) writeFileSync(join(folder, 'plans.yaml'), 'plans: 1');
    const counts = () =>
      ['ban.started', 'quota.reached', 'key.first_used', 'reload.failed'].map(
        (type) => receiver.takenOf(type).length,
      );
    await until('all of it is sent', () => counts().join() === '4,8,4,1');
    const issued = receiver.takenOf('key.created');
    expect(issued.map(({ data }) => data.key).sort()).toEqual(keys.map(({ id }) => id).sort());
    for (const gateway of [one, two])
      await until(
        'nothing waits',
        async () =>
          (await adminOf(gateway.adminUrl)('GET', '/webhooks')).body.endpoints[0].pending === 0,
      );
    expect(counts()).toEqual([4, 8, 4, 1]);
    expect(new Set(receiver.taken.map(({ id }) => id)).size).toBe(receiver.taken.length);
    expect(receiver.attempts).toHaveLength(receiver.taken.length);
  });
});
