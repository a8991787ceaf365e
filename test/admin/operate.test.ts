import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { adminOf } from '../support/admin.ts';
import { bodyOf } from '../support/failure.ts';
import { TestGateway } from '../support/gateway.ts';
import { DAY, HOUR, MINUTE } from '../support/limits.ts';

const PLANS = `# Kept by hand.
plans:
  free:
    windows: [{ limit: 3, per: minute }, { limit: 5, per: day }] # small
  team:
    count: account
    windows: [{ limit: 4, per: minute }]
  changed:
    windows: [{ limit: 3, per: minute }, { limit: 5, per: day }]
  custom: { custom: true }
bans: { strikes: 3, workers: 1, durations: [1m, 5m] }
`;

let gateway = await TestGateway.start({ plans: PLANS });
afterAll(() => gateway.stop());
let admin = adminOf(gateway.adminUrl);
/** Of one test. */
let account: string;
let tests = 0;
beforeEach(() => {
  account = `acme-${++tests}`;
});

const create = async (draft: object = {}): Promise<{ id: string; key: string }> =>
  bodyOf(await admin('POST', '/keys', { account, plan: 'free', ...draft }));
/** Of the account of the test. */
const bans = async () =>
  (await admin('GET', '/bans')).body.bans.filter(
    (ban: { account: string }) => ban.account === account,
  );
const status = async (key: string) =>
  (await gateway.client.get('/pets').set('X-API-Key', key)).status;

const at = (later: number) => new Date(gateway.clock.now + later).toISOString();

async function misbehave(key: string): Promise<void> {
  for (let i = 0; i < 10 && (await status(key)) !== 403; i++) gateway.clock.pass(150);
}

describe('bans', () => {
  test('of the escalation are listed, and lifted so that requests are admitted again', async () => {
    const { id, key } = await create();
    await misbehave(key);
    expect(await bans()).toEqual([
      {
        subject: `key:${id}`,
        key: id,
        account,
        plan: 'free',
        since: at(0),
        until: at(MINUTE),
        limit: '3/minute',
        level: 1,
        strikes: 3,
        operation: 'listPets',
        nextDuration: '5m',
        resetsAt: at(MINUTE + DAY),
        by: null,
        reason:
          'sent 3 more requests within 1m after the limit of 3 per minute was used up, the last of them listPets',
        history: { bans: 1, lifted: null },
      },
    ]);
    const { body } = await admin('DELETE', `/bans/${id}`);
    expect(body.usage[0]).toMatchObject({ key: id, banned: null, strikes: 0, level: 0 });
    expect(body.usage[0].windows[0]).toMatchObject({
      name: 'minute',
      limit: 3,
      used: 0,
      remaining: 3,
      resets: null,
    });
    expect(await bans()).toEqual([]);
    const { body: audit } = await admin('GET', `/audit?target=${id}&limit=1`);
    expect(audit.entries[0]).toMatchObject({
      before: { used: { minute: 3, day: 3 } },
      after: { used: { minute: 0, day: 0 } },
    });
    expect(await status(key)).toBe(200);
  });

  test('are added with a reason, extended, and expire', async () => {
    const { id, key } = await create();
    const added = await admin('PUT', `/bans/${id}`, { duration: '1h', reason: 'scrapes' });
    expect(added.body.bans[0]).toMatchObject({ key: id, reason: 'scrapes', by: 'local' });
    const listed = async () =>
      (await bans()).map(({ history: _, ...ban }: Record<string, unknown>) => ban);
    expect(await listed()).toEqual(added.body.bans);
    gateway.clock.pass(MINUTE);
    expect(await status(key)).toBe(403);
    const extended = await admin('POST', `/bans/${id}/extend`, { duration: '1h', reason: 'still' });
    expect(extended.body.bans[0].until).toBe(at(2 * HOUR - MINUTE));
    expect(extended.body.bans[0]).toMatchObject({
      reason: 'still',
      since: at(0),
      limit: null,
      level: 1,
      nextDuration: '5m',
    });
    expect(await listed()).toEqual(extended.body.bans);
    gateway.clock.pass(2 * HOUR);
    expect(await status(key)).toBe(200);
    expect(
      (await admin('POST', `/bans/${id}/extend`, { duration: '1h', reason: 'x' })).status,
    ).toBe(409);
  });

  test('of an account apply to all its keys and its shared counters', async () => {
    const [one, two, own] = [
      await create({ plan: 'team' }),
      await create({ plan: 'team' }),
      await create(),
    ];
    await admin('PUT', `/bans/${account}`, { duration: '1h', reason: 'unpaid' });
    expect([await status(one.key), await status(two.key), await status(own.key)]).toEqual([
      403, 403, 403,
    ]);
    expect(await bans()).toHaveLength(2);
    await admin('DELETE', `/bans/${account}`);
    expect([await status(one.key), await status(two.key), await status(own.key)]).toEqual([
      200, 200, 200,
    ]);
  });

  test.each([{ duration: '0s', reason: 'x' }, { duration: '1h' }])(
    'are refused for %j',
    async (body) => {
      const { id } = await create();
      expect((await admin('PUT', `/bans/${id}`, body)).status).toBe(400);
      expect(await bans()).toEqual([]);
    },
  );

  test('of an unknown key or account are refused', async () => {
    expect((await admin('PUT', '/bans/unknown', { duration: '1h', reason: 'x' })).status).toBe(404);
    expect((await admin('DELETE', '/bans/key_0000000000000000')).status).toBe(404);
  });
});

describe('usage', () => {
  test('shows every window, grants units, and resets windows', async () => {
    const { id, key } = await create();
    for (let i = 0; i < 3; i++) await status(key);
    expect(await status(key)).toBe(429);
    const windows = async () => (await admin('GET', `/usage/${id}`)).body.usage[0].windows;
    expect(await windows()).toEqual([
      expect.objectContaining({
        name: 'minute',
        limit: 3,
        used: 3,
        remaining: 0,
        resets: expect.any(String),
      }),
      expect.objectContaining({ name: 'day', limit: 5, used: 3, remaining: 2 }),
    ]);
    const granted = await admin('POST', `/usage/${id}/grant`, { units: 2, window: 'minute' });
    expect(granted.body.usage[0].windows.map(({ used }: { used: number }) => used)).toEqual([1, 3]);
    expect([await status(key), await status(key), await status(key)]).toEqual([200, 200, 429]);
    const reset = await admin('POST', `/usage/${id}/reset`);
    expect(reset.body.usage[0].windows.map(({ used }: { used: number }) => used)).toEqual([0, 0]);
    expect(await windows()).toEqual(reset.body.usage[0].windows);
    expect(await status(key)).toBe(200);
  });

  test('of an account is the shared count', async () => {
    const [one, two] = [await create({ plan: 'team' }), await create({ plan: 'team' })];
    await status(one.key);
    await status(two.key);
    expect((await admin('GET', `/usage/${account}`)).body.usage).toEqual([
      expect.objectContaining({
        key: null,
        account,
        windows: [expect.objectContaining({ used: 2 })],
      }),
    ]);
  });

  test.each([{ units: 0 }, { units: 1, window: 'week' }])('is not changed by %j', async (body) => {
    const { id, key } = await create();
    await status(key);
    expect((await admin('POST', `/usage/${id}/grant`, body)).status).toBe(400);
    expect((await admin('GET', `/usage/${id}`)).body.usage[0].windows[0].used).toBe(1);
  });
});

describe('accounts', () => {
  test('are listed with their keys', async () => {
    const { id } = await create();
    await create({ account: 'other' });
    await admin('DELETE', `/keys/${id}`);
    const { accounts } = (await admin('GET', '/accounts?limit=200')).body;
    expect(accounts).toContainEqual(expect.objectContaining({ account, keys: 1, active: 0 }));
    const active = { account: 'other', keys: 1, active: 1 };
    expect(accounts).toContainEqual(expect.objectContaining(active));
    expect((await admin('GET', `/accounts/${account}/keys`)).body.keys).toHaveLength(1);
    expect((await admin('GET', '/accounts/unknown')).status).toBe(404);
  });

  test('are listed in pages', async () => {
    for (const account of ['zc', 'z', 'zd', 'zb', 'za', 'za']) await create({ account });
    const pages: string[][] = [];
    for (let next: string | null = 'z'; next !== null; ) {
      const { body }: { body: { accounts: { account: string }[]; next: string | null } } =
        await admin('GET', `/accounts?limit=2&after=${next}`);
      pages.push(body.accounts.map(({ account }) => account));
      next = body.next;
    }
    expect(pages).toEqual([
      ['za', 'zb'],
      ['zc', 'zd'],
    ]);
    expect((await admin('GET', '/accounts?after=nowhere')).status).toBe(400);
  });
});

describe('plans', () => {
  test('are simulated without changing anything', async () => {
    const { id, key } = await create({ plan: 'changed' });
    for (let i = 0; i < 2; i++) await status(key);
    const text = readFileSync(join(gateway.folder, 'plans.yaml'), 'utf8');
    const { body } = await admin('POST', '/plans/changed/simulate', { limits: '2/minute' });
    const { lastDay, ...tried } = body;
    expect(lastDay).toMatchObject({
      windows: [
        { name: 'minute', limit: 2 },
        { name: 'day', limit: 5 },
      ],
    });
    expect(tried).toEqual({
      plan: 'changed',
      before: '3/minute,5/day',
      after: '2/minute,5/day',
      concurrency: null,
      weight: 1,
      workers: null,
      addresses: null,
      keys: 1,
      overLimit: [`key:${id}`],
      unusable: [],
    });
    const custom = await admin('POST', '/plans/changed/simulate', { limits: null });
    expect(custom.body).toMatchObject({ unusable: [id], lastDay: null });
    expect(readFileSync(join(gateway.folder, 'plans.yaml'), 'utf8')).toBe(text);
    expect((await admin('GET', '/plans/changed')).body).toEqual({
      name: 'changed',
      count: 'key',
      limits: '3/minute,5/day',
      concurrency: null,
      weight: 1,
      workers: null,
      addresses: null,
      keys: 1,
    });
  });

  test('are put in force at once, into a file that keeps its comments', async () => {
    const { key } = await create({ plan: 'changed' });
    await status(key);
    const put = gateway.clock.now;
    expect(
      (await admin('PUT', '/plans/changed', { limits: '10/minute,90/hour', drop: ['day'] })).status,
    ).toBe(200);
    const response = await gateway.client.get('/pets').set('X-API-Key', key);
    expect(response.headers['x-ratelimit-limit']).toBe('10');
    expect(response.headers['x-ratelimit-remaining']).toBe('8');
    const text = readFileSync(join(gateway.folder, 'plans.yaml'), 'utf8');
    expect(text).toContain('# Kept by hand.');
    gateway.clock.pass(5);
    const { body } = await admin('POST', '/plans/changed/simulate', { limits: '9/hour' });
    expect(body.lastDay.windows[1]).toMatchObject({
      name: 'hour',
      since: new Date(put).toISOString(),
    });
    expect(
      (await admin('PUT', '/plans/gold', { create: true, limits: '99/minute', count: 'account' }))
        .status,
    ).toBe(200);
    expect(
      (await admin('GET', '/plans')).body.plans.map(({ name }: { name: string }) => name),
    ).toContain('gold');
  });

  test.each([
    ['/plans/free', { limits: '0/minute' }],
    ['/plans/free', { limits: '5/minute,6/minute' }],
    ['/plans/Not%20A%20Name', { create: true, limits: '5/minute' }],
    ['/plans/free', {}],
    ['/plans/free', { concurrency: 0 }],
    ['/plans/free', { addresses: { deny: ['10.0.0.1/8'] } }],
    ['/plans/free', { drop: ['week'] }],
    ['/plans/free', { drop: ['minute', 'day'] }],
    ['/plans/new', { create: true, count: 'key' }],
  ])('are refused: %s %j', async (path, body) => {
    const text = readFileSync(join(gateway.folder, 'plans.yaml'), 'utf8');
    expect((await admin('PUT', path, body)).status).toBe(400);
    expect(readFileSync(join(gateway.folder, 'plans.yaml'), 'utf8')).toBe(text);
  });
});

describe('the audit log', () => {
  test('records author, action and target, before and after, with pages, and survives a restart', async () => {
    const { id } = await create();
    await admin('PATCH', `/keys/${id}`, { plan: 'team' });
    await admin('POST', `/keys/${id}/rotate`);
    await admin('PUT', `/bans/${id}`, { duration: '1h', reason: 'why' });
    const first = await admin('GET', '/audit?limit=2');
    expect(first.body.entries.map(({ action }: { action: string }) => action)).toEqual([
      'bans.add',
      'keys.rotate',
    ]);
    const rest = await admin('GET', `/audit?below=${first.body.next}&limit=2`);
    expect(rest.body.entries).toEqual([
      expect.objectContaining({
        actor: 'local',
        action: 'keys.update',
        target: id,
        before: expect.objectContaining({ plan: 'free' }),
        after: expect.objectContaining({ plan: 'team' }),
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      }),
      expect.objectContaining({ action: 'keys.create', before: null }),
    ]);
    await gateway.close();
    await gateway.open();
    admin = adminOf(gateway.adminUrl);
    const entriesOf = async (query: string) => (await admin('GET', `/audit?${query}`)).body.entries;
    expect(await entriesOf(`target=${id}`)).toHaveLength(3);
    expect(await entriesOf(`target=${account}&action=bans.add`)).toHaveLength(1);
  });

  test('cannot be rewritten, not even in the file', async () => {
    await create();
    const db = new DatabaseSync(join(gateway.config.data, 'state.db'));
    expect(() => db.exec("UPDATE audit SET actor = 'other'")).toThrow('append-only');
    expect(() => db.exec('DELETE FROM audit')).toThrow('append-only');
    db.close();
  });

  test('holds no secret', async () => {
    const { id, key } = await create();
    const rotated = (await admin('POST', `/keys/${id}/rotate`)).body;
    const { token } = bodyOf(await admin('POST', '/tokens', { name: 'ops', role: 'admin' }));
    const text = JSON.stringify(
      (await adminOf(gateway.adminUrl, { Authorization: `Bearer ${token}` })('GET', '/audit')).body,
    );
    for (const secret of [key, rotated.key, token]) expect(text).not.toContain(secret);
  });
});

test('shows the configuration in force with sources, and secrets masked', async () => {
  await gateway.stop();
  const token = `t${'x'.repeat(40)}`;
  gateway = await TestGateway.start({
    settings: 'cors: { maxAge: 5m }\n',
    env: { STOREGATE_ADMIN_TOKEN: token },
  });
  const { body } = await adminOf(gateway.adminUrl, { Authorization: `Bearer ${token}` })(
    'GET',
    '/config',
  );
  const setting = (name: string) =>
    body.settings.find((one: { name: string }) => one.name === name);
  expect(setting('cors.maxAge')).toEqual({
    name: 'cors.maxAge',
    value: '"5m"',
    source: expect.stringContaining('gateway.yaml:1'),
    restart: false,
  });
  expect(setting('listen.port')).toMatchObject({
    source: 'environment STOREGATE_PORT',
    restart: true,
  });
  expect(JSON.stringify(body)).not.toContain(token);
});
