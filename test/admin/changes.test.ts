import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { adminOf } from '../support/admin.ts';
import { bodyOf } from '../support/failure.ts';
import { TestGateway } from '../support/gateway.ts';

const PLANS = `# Kept by hand.
plans:
  free: { windows: [{ limit: 3, per: minute }] }
  team: { count: account, windows: [{ limit: 4, per: minute }] }
  crew: { count: account, windows: [{ limit: 5, per: minute }] }
`;

const gateway = await TestGateway.start({ plans: PLANS });
afterEach(() => writeFileSync(file('gateway.yaml'), '{}\n'));
afterAll(() => gateway.stop());
const admin = adminOf(gateway.adminUrl);

const file = (name: string) => join(gateway.folder, name);
const create = async (draft: object = {}): Promise<{ id: string; key: string }> =>
  bodyOf(await admin('POST', '/keys', { account: 'acme', plan: 'free', ...draft }));
const actions = async (query = '') =>
  (await admin('GET', `/audit${query}`)).body.entries.map(
    ({ action }: { action: string }) => action,
  );

describe('plans', () => {
  test('set at once are all in force, and in the file', async () => {
    const names = ['one', 'two', 'three', 'free'];
    const responses = await Promise.all(
      names.map((name) => admin('PUT', `/plans/${name}`, { create: true, limits: '9/minute' })),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    for (const name of names)
      expect((await admin('GET', `/plans/${name}`)).body.limits).toBe('9/minute');
    const text = readFileSync(file('plans.yaml'), 'utf8');
    for (const name of names) expect(text).toContain(`${name}:`);
  });

  test('that cannot be put in force are recorded as failed, and the file is restored', async () => {
    const before = readFileSync(file('plans.yaml'), 'utf8');
    writeFileSync(file('gateway.yaml'), 'nonsense: true\n');
    const { status, body } = await admin('PUT', '/plans/free', { limits: '8/minute' });
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'configuration_unfit' });
    expect(body.message).toMatch(/^Nothing was changed/);
    expect(readFileSync(file('plans.yaml'), 'utf8')).toBe(before);
    const [failed, put] = (await admin('GET', '/audit')).body.entries;
    expect([put.action, failed.action]).toEqual(['plans.set', 'plans.set.failed']);
    expect(failed.after).toEqual(put.before);
  });
});

test('records a reload in the audit log if it changed something, and not if it was refused', async () => {
  writeFileSync(file('gateway.yaml'), 'nonsense: true\n');
  const before = await actions();
  expect((await admin('POST', '/reload')).status).toBe(422);
  expect(await actions()).toEqual(before);
  writeFileSync(file('gateway.yaml'), 'cors: { maxAge: 1m }\n');
  expect((await admin('POST', '/reload')).status).toBe(200);
  const [entry] = (await admin('GET', '/audit')).body.entries;
  expect(entry).toMatchObject({
    action: 'config.reload',
    after: { changed: ['cors.maxAge'], needRestart: [] },
  });
});

describe('the target of an entry', () => {
  test('is the id of the key, also for bans and usage', async () => {
    const { id } = await create({ account: 'single' });
    await admin('PUT', `/bans/${id}`, { duration: '1h', reason: 'why' });
    await admin('POST', `/bans/${id}/extend`, { duration: '1h', reason: 'still' });
    await admin('DELETE', `/bans/${id}`);
    await admin('POST', `/usage/${id}/reset`);
    await admin('POST', '/usage/single/grant', { units: 1 });
    expect(await actions(`?target=${id}`)).toEqual([
      'usage.grant',
      'usage.reset',
      'bans.lift',
      'bans.extend',
      'bans.add',
      'keys.create',
    ]);
  });

  test('is the account name if the plan counts accounts, and bans of its plans are distinguished', async () => {
    const { id } = await create({ account: 'shared', plan: 'team' });
    await admin('PUT', `/bans/${id}`, { duration: '1h', reason: 'team' });
    const other = await create({ account: 'shared', plan: 'crew' });
    await admin('PUT', `/bans/${other.id}`, { duration: '2h', reason: 'crew' });
    expect(await actions('?target=shared')).toEqual(['bans.add', 'bans.add']);
    const { bans } = (await admin('GET', '/bans')).body;
    expect(
      bans.map(({ plan, reason, by }: Record<string, string>) => ({ plan, reason, by })),
    ).toEqual([
      { plan: 'team', reason: 'team', by: 'local' },
      { plan: 'crew', reason: 'crew', by: 'local' },
    ]);
  });
});
