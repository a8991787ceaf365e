import { createHash, randomBytes } from 'node:crypto';
import { afterAll, describe, expect, test } from '@jest/globals';
import { hashSecret } from '../../src/records/keys/secret.ts';
import { adminOf } from '../support/admin.ts';
import { TestGateway } from '../support/gateway.ts';
import { DAY } from '../support/limits.ts';
import { until } from '../support/until.ts';

const gateway = await TestGateway.start();
afterAll(() => gateway.stop());
const admin = adminOf(gateway.adminUrl);

const secretOf = () => `legacy-${randomBytes(12).toString('hex')}`;
const keyOf = (changes: object = {}) => ({
  account: 'acme',
  plan: 'business',
  hash: hashSecret(secretOf()),
  ...changes,
});
const importMany = (keys: readonly object[], more: object = {}) =>
  admin('POST', '/keys/import-many', { keys, ...more });
const listed = async (account: string): Promise<{ id: string; label: string | null }[]> =>
  (await admin('GET', `/keys?account=${account}`)).body.keys;
const pets = (key: string) => gateway.client.get('/pets').set('X-API-Key', key);

const FULL = {
  label: 'a – from before',
  limits: '5/minute,50/day',
  addresses: ['127.0.0.0/8', '::1'],
  scopes: ['pets:write', 'backend:admin'],
  metadata: { team: 'pets', old: 'yes' },
};

test('imports many keys with all their fields, and their old secrets work', async () => {
  const [one, two, off] = [secretOf(), secretOf(), secretOf()];
  const expires = new Date(gateway.clock.now + 90 * DAY).toISOString();
  const { status, body } = await importMany([
    keyOf({
      account: 'full',
      hash: createHash('sha256').update(one).digest('hex'),
      ...FULL,
      expires,
    }),
    keyOf({ account: 'full', hash: hashSecret(off), label: 'b', disabled: true }),
    keyOf({ account: 'full', hash: hashSecret(two) }),
  ]);
  expect({ status, body }).toEqual({
    status: 200,
    body: { dryRun: false, imported: 3, already: 0, bad: [] },
  });
  await until('they work', async () => (await pets(two)).status === 200);
  expect((await pets(one)).headers['x-ratelimit-limit']).toBe('5');
  expect((await pets(off)).body.code).toBe('key_disabled');
  const keys = await listed('full');
  expect(keys).toMatchObject([
    { ...FULL, expires, status: 'active', imported: true },
    { status: 'disabled' },
    { limits: null, label: null, addresses: null, scopes: [], metadata: {}, status: 'active' },
  ]);
  for (const { id } of keys) {
    const { body } = await admin('GET', `/audit?target=${id}`);
    expect(body.entries).toMatchObject([
      {
        action: 'keys.import',
        target: 'keys',
        after: { count: 3, ids: keys.map((key) => key.id) },
      },
    ]);
  }
});

test('lists imported keys in the order of their file', async () => {
  const labels = Array.from({ length: 50 }, (_, i) => `label ${(i * 7) % 50}`);
  await importMany(labels.map((label) => keyOf({ account: 'ordered', label })));
  expect((await listed('ordered')).map(({ label }) => label)).toEqual(labels);
});

test('a repeated call changes nothing', async () => {
  const keys = [keyOf({ account: 'twice', ...FULL, disabled: true }), keyOf({ account: 'twice' })];
  await importMany(keys);
  const before = await listed('twice');
  const [first] = (await admin('GET', '/audit')).body.entries;
  const again = [{ ...keys[0], metadata: { old: 'yes', team: 'pets' } }, keys[1]!];
  expect((await importMany(again)).body).toEqual({
    dryRun: false,
    imported: 0,
    already: 2,
    bad: [],
  });
  expect(await listed('twice')).toEqual(before);
  expect((await admin('GET', '/audit')).body.entries[0].number).toBe(first.number);
});

test('an existing key stays although its expiry has passed', async () => {
  const keys = [
    keyOf({ account: 'late', expires: new Date(gateway.clock.now + DAY).toISOString() }),
  ];
  await importMany(keys);
  gateway.clock.now += 2 * DAY;
  expect((await importMany(keys)).body).toEqual({
    dryRun: false,
    imported: 0,
    already: 1,
    bad: [],
  });
});

describe('an invalid key', () => {
  const SECRET = 'do-not-show';

  test.each([
    ['an unknown plan', { plan: SECRET }, 'plan', 'the plan does not exist; plans: free, pro'],
    ['a custom plan without limits', { plan: 'enterprise' }, 'limits', 'add limits, such as'],
    ['an invalid account', { account: `/${SECRET}` }, 'account', 'an account is'],
    [
      'an invalid address',
      { addresses: ['::1', SECRET] },
      'addresses',
      'address 2 is not an address',
    ],
    ['an expiry in the past', { expires: '2001-01-01T00:00:00Z' }, 'expires', 'in the past'],
  ])('with %s is reported, and no key is imported', async (_what, changes, field, message) => {
    const account = `bad-${field}`;
    const keys = [keyOf({ account }), keyOf(), keyOf(changes)];
    const { status, body } = await importMany(keys);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      code: 'invalid_value',
      details: [
        { in: 'body', pointer: `/keys/2/${field}`, message: expect.stringContaining(message) },
      ],
    });
    expect(JSON.stringify(body)).not.toContain(SECRET);
    expect(await listed(account)).toEqual([]);
  });

  test('is reported with all others by a dry run, which changes nothing', async () => {
    const twin = keyOf({ account: 'dry' });
    const keys = [keyOf({ account: 'dry' }), keyOf({ account: '-', plan: 'gold' }), twin, twin];
    const { status, body } = await importMany(keys, { dryRun: true });
    expect(status).toBe(200);
    expect(body).toMatchObject({ dryRun: true, imported: 2, already: 0 });
    expect(
      body.bad.map(({ index, field }: { index: number; field: string }) => [index, field]),
    ).toEqual([
      [1, 'account'],
      [1, 'plan'],
      [3, 'hash'],
    ]);
    expect(await listed('dry')).toEqual([]);
  });

  test('is skipped on request', async () => {
    const keys = [keyOf({ account: 'skip', plan: 'gold' }), keyOf({ account: 'skip' })];
    const { body } = await importMany(keys, { skipBad: true });
    expect(body).toMatchObject({ imported: 1, bad: [{ index: 0, field: 'plan' }] });
    expect(await listed('skip')).toHaveLength(1);
  });

  test.each([
    ['account', { account: 'other' }],
    ['plan', { plan: 'pro' }],
    ['label', { label: 'other' }],
    ['limits', { limits: '6/minute' }],
    ['expires', { expires: '2999-01-01T00:00:00Z' }],
    ['addresses', { addresses: ['::2'] }],
    ['scopes', { scopes: ['pets:write'] }],
    ['metadata', { metadata: { team: 'dogs' } }],
    ['disabled', { disabled: true }],
  ])('is an existing key with another %s', async (field, changes) => {
    const key = keyOf({ account: 'differs', ...FULL });
    await importMany([key]);
    const { body } = await importMany([{ ...key, ...changes }], { dryRun: true });
    expect(body).toMatchObject({ imported: 0, already: 0, bad: [{ index: 0, field }] });
    expect(body.bad[0].message).toMatch(/^it is there already as key_\w{16}, with another /);
  });

  test('is not a key with the same scopes in another order', async () => {
    const key = keyOf({ account: 'ordered', ...FULL });
    await importMany([key]);
    const { body } = await importMany([{ ...key, scopes: FULL.scopes.toReversed() }], {
      dryRun: true,
    });
    expect(body).toMatchObject({ imported: 0, already: 1, bad: [] });
  });

  test('is a revoked or rotated key', async () => {
    const revoked = keyOf({ account: 'ended', label: 'a' });
    const rotated = keyOf({ account: 'ended', label: 'b' });
    await importMany([revoked, rotated]);
    const [first, second] = (await listed('ended')).map(({ id }) => id);
    await admin('DELETE', `/keys/${first}`);
    await admin('POST', `/keys/${second}/rotate`, {});
    const { body } = await importMany([revoked, rotated], { dryRun: true });
    expect(body.bad.map(({ message }: { message: string }) => message)).toEqual([
      `it is there already as ${first}, which is revoked for good`,
      `it is there already as ${second}, which has a newer secret since: this one is the former`,
    ]);
  });
});

test.each([
  ['no key', []],
  [
    'more than a thousand',
    Array.from({ length: 1_001 }, () => ({ account: 'a', plan: 'b', hash: 'c'.repeat(64) })),
  ],
  ['an unknown field', [keyOf({ expiresIn: '90d' })]],
])('%s is refused', async (_what, keys) => {
  expect(await importMany(keys)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
});
