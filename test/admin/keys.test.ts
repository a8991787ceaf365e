import { createHash, randomBytes } from 'node:crypto';
import { afterAll, describe, expect, test } from '@jest/globals';
import { makeToken } from '../../src/records/operators/tokens.ts';
import { adminOf } from '../support/admin.ts';
import { bodyOf } from '../support/failure.ts';
import { TestGateway } from '../support/gateway.ts';
import { DAY, HOUR } from '../support/limits.ts';
import { until } from '../support/until.ts';

const gateway = await TestGateway.start();
afterAll(() => gateway.stop());
const admin = adminOf(gateway.adminUrl);

const NEW = { account: 'acme', plan: 'business' };
const create = async (draft: object = {}) =>
  bodyOf(await admin('POST', '/keys', { ...NEW, ...draft }));
const pets = (key: string) => gateway.client.get('/pets').set('X-API-Key', key);

describe('a key', () => {
  test('is created with all given fields, shown once, and works at once', async () => {
    const draft = {
      label: 'nightly import',
      limits: '5/minute,50/day',
      expiresIn: '90d',
      addresses: ['127.0.0.0/8', '::1'],
      scopes: ['pets:write', 'backend:admin'],
      metadata: { team: 'pets' },
      env: 'test',
    };
    const { status, body } = await admin('POST', '/keys', { ...NEW, ...draft });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      ...NEW,
      label: draft.label,
      limits: draft.limits,
      addresses: draft.addresses,
      scopes: draft.scopes,
      metadata: draft.metadata,
      status: 'active',
      expires: new Date(gateway.clock.now + 90 * DAY).toISOString(),
      key: expect.stringMatching(/^sg_test_/),
    });
    expect((await pets(body.key)).headers['x-ratelimit-limit']).toBe('5');
    const shown = await admin('GET', `/keys/${body.id}`);
    expect(JSON.stringify(shown.body)).not.toContain(body.key);
    expect(JSON.stringify(shown.body)).not.toContain(
      createHash('sha256').update(body.key).digest('base64url'),
    );
  });

  test('is listed with filters and pages', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      gateway.clock.pass(1);
      ids.push((await create({ account: 'lister', label: `Number ${i}` })).id);
    }
    await admin('POST', `/keys/${ids[1]}/disable`);
    const seen: string[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const { body }: { body: { keys: { id: string }[]; next: string | null } } = await admin(
        'GET',
        `/keys?account=lister&limit=2${next && `&after=${next}`}`,
      );
      seen.push(...body.keys.map(({ id }) => id));
      next = body.next;
    }
    expect(seen).toEqual(ids);
    const disabled = await admin('GET', '/keys?account=lister&status=disabled');
    expect(disabled.body.keys.map(({ id }: { id: string }) => id)).toEqual([ids[1]]);
    expect((await admin('GET', '/keys?account=lister&label=number%203')).body.keys).toHaveLength(1);
    expect((await admin('GET', '/keys?after=key_nowhere')).status).toBe(400);
  });

  test('reads banned with all keys that are counted with it, and is filtered so', async () => {
    const [alone, , other] = [await create(), await create({ plan: 'free' }), await create()];
    await admin('PUT', `/bans/${alone.id}`, { duration: '1h', reason: 'why' });
    await admin('POST', `/keys/${other.id}/disable`);
    await admin('PUT', `/bans/${other.id}`, { duration: '1h', reason: 'why' });
    const idsOf = async (status: string) => {
      const { keys } = bodyOf(await admin('GET', `/keys?account=acme&limit=200&status=${status}`));
      return keys.map(({ id }: { id: string }) => id);
    };
    expect(await idsOf('banned')).toEqual([alone.id]);
    expect(await idsOf('active')).not.toContain(alone.id);
    expect(await idsOf('disabled')).toContain(other.id);
    expect((await admin('GET', `/keys/${alone.id}`)).body.status).toBe('banned');
    expect((await admin('PATCH', `/keys/${alone.id}`, { label: 'x' })).body.status).toBe('banned');
    await admin('DELETE', `/bans/${alone.id}`);
    expect((await admin('GET', `/keys/${alone.id}`)).body.status).toBe('active');
  });

  test('is found by a part of id, account or label, and first by its whole id', async () => {
    const late = await create({ account: 'Finder-2', label: null });
    // Keys of one millisecond are in the order of their ids.
    gateway.clock.pass(1);
    const early = await create({ account: 'other', label: `was ${late.id}, for a finder` });
    const find = async (query: string) =>
      (await admin('GET', `/keys?${query}`)).body.keys.map(({ id }: { id: string }) => id);
    expect(await find('find=fINDer')).toEqual([late.id, early.id]);
    expect(await find('find=finder&sort=-created')).toEqual([early.id, late.id]);
    expect(await find('find=finder&account=other')).toEqual([early.id]);
    expect(await find(`find=${late.id}&sort=-created&limit=1`)).toEqual([late.id, early.id]);
    expect(await find(`find=${late.id}&after=${early.id}`)).toEqual([]);
    expect(await find(`find=${late.id.slice(4, 12)}`)).toEqual([late.id, early.id]);
    expect(await find('find=nothing+has+this')).toEqual([]);
  });

  test('cannot be found by its secret: the response says to use the id', async () => {
    const { key } = await create();
    const { status, body } = await admin('GET', `/keys?find=${key}`);
    expect([status, body.code]).toEqual([400, 'invalid_value']);
    expect(body.message).toContain('give the id');
    expect(body.message).not.toContain(key);
  });

  test('cannot be found by the token of an operator, which must not appear in a URL', async () => {
    const token = makeToken();
    for (const path of [
      `/keys?find=${token}`,
      `/audit?actor=${token}`,
      `/tokens/${token.slice(0, 30)}`,
    ]) {
      const { status, body } = await admin(path.startsWith('/tokens') ? 'DELETE' : 'GET', path);
      expect([path, status, body.code]).toEqual([path, 400, 'invalid_value']);
      expect(body.message).toBe('This looks like the token of an operator: give its name.');
    }
  });

  test.each(['%zz', '%', '%ff', '%E0%A4%A'])('cannot be named %s', async (id) => {
    const { status, body } = await admin('GET', `/keys/${id}`);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.message).toBe('The path has a percent sign that encodes no character.');
  });

  test('is changed in the given fields, and null removes a value', async () => {
    const { id, key } = await create({ label: 'old', metadata: { a: '1' }, expiresIn: '1d' });
    const { body } = await admin('PATCH', `/keys/${id}`, {
      plan: 'pro',
      limits: '7/minute',
      label: null,
      expires: null,
    });
    expect(body).toMatchObject({
      plan: 'pro',
      limits: '7/minute',
      label: null,
      expires: null,
      metadata: { a: '1' },
    });
    expect((await pets(key)).headers['x-ratelimit-limit']).toBe('7');
  });

  test('has no scopes by default, keeps them in a rotation, and loses them on request', async () => {
    const { id, scopes } = await create({ account: 'scoped' });
    expect(scopes).toEqual([]);
    const given = ['pets:write', 'https://example.org/scope?a=b&c', '~!#$%()*+-./:<=>@[]^_`{|}'];
    expect((await admin('PATCH', `/keys/${id}`, { scopes: given })).body.scopes).toEqual(given);
    expect((await admin('PATCH', `/keys/${id}`, { label: 'x' })).body.scopes).toEqual(given);
    expect((await admin('POST', `/keys/${id}/rotate`)).body.scopes).toEqual(given);
    const holders = async (scope: string) =>
      (await admin('GET', `/keys?account=scoped&scope=${encodeURIComponent(scope)}`)).body.keys
        .length;
    expect([await holders('pets:write'), await holders(given[1]!)]).toEqual([1, 1]);
    expect((await admin('PATCH', `/keys/${id}`, { scopes: [] })).body.scopes).toEqual([]);
    const { entries } = (await admin('GET', `/audit?target=${id}`)).body;
    expect(entries[0]).toMatchObject({
      action: 'keys.update',
      before: { scopes: given },
      after: { scopes: [] },
    });
  });

  test('is refused while it is disabled, works again, and is revoked for good', async () => {
    const { id, key } = await create();
    await admin('POST', `/keys/${id}/disable`);
    expect((await pets(key)).body.code).toBe('key_disabled');
    await admin('POST', `/keys/${id}/enable`);
    expect((await pets(key)).status).toBe(200);
    expect((await admin('DELETE', `/keys/${id}`)).body.status).toBe('revoked');
    expect((await pets(key)).status).toBe(401);
    expect((await admin('POST', `/keys/${id}/enable`)).status).toBe(409);
    expect((await admin('PATCH', `/keys/${id}`, { label: 'x' })).status).toBe(409);
    expect((await admin('POST', `/keys/${id}/rotate`)).status).toBe(409);
  });

  test('is refused from other addresses than its own', async () => {
    const { key } = await create({ addresses: ['192.0.2.0/24'] });
    expect((await pets(key)).body).toMatchObject({ code: 'address_not_allowed', status: 403 });
  });

  test('shows when it was last used', async () => {
    const { id, key } = await create();
    expect((await admin('GET', `/keys/${id}`)).body.lastUsed).toBeNull();
    await pets(key);
    expect((await admin('GET', `/keys/${id}`)).body.lastUsed).toBe(
      new Date(gateway.clock.now).toISOString(),
    );
  });

  test('is identified by its secret', async () => {
    const { id, key } = await create();
    expect(bodyOf(await admin('POST', '/keys/identify', { key })).id).toBe(id);
    expect((await admin('POST', '/keys/identify', { key: `${key}x` })).status).toBe(404);
  });
});

describe('a rotation', () => {
  test('accepts both secrets until the overlap ends, warns clients of the old one, and counts it', async () => {
    const { id, key: old } = await create();
    const { body } = await admin('POST', `/keys/${id}/rotate`, { overlap: '1h' });
    const ends = new Date(gateway.clock.now + HOUR).toISOString();
    expect(body).toMatchObject({ id, key: expect.any(String), rotation: { overlapEnds: ends } });
    const response = await pets(old);
    expect(response.status).toBe(200);
    expect(response.headers['x-key-retires']).toBe(ends);
    expect((await pets(body.key)).headers['x-key-retires']).toBeUndefined();
    expect((await gateway.admin.get('/metrics')).text).toContain(
      'storegate_retiring_key_requests_total{plan="business"} 1',
    );
    gateway.clock.pass(HOUR);
    expect((await pets(old)).body.code).toBe('key_retired');
    expect((await pets(body.key)).status).toBe(200);
  });

  test('shares the counters between both secrets', async () => {
    const { id, key: old } = await create({ limits: '2/minute' });
    const { key } = bodyOf(await admin('POST', `/keys/${id}/rotate`));
    expect([(await pets(old)).status, (await pets(key)).status, (await pets(old)).status]).toEqual([
      200, 200, 429,
    ]);
  });

  test('is refused during a rotation, also for concurrent calls, unless it is forced', async () => {
    const { id, key: old } = await create();
    const responses = await Promise.all([1, 2, 3].map(() => admin('POST', `/keys/${id}/rotate`)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const { key } = responses.find(({ status }) => status === 200)!.body;
    expect((await pets(old)).status).toBe(200);
    const forced = await admin('POST', `/keys/${id}/rotate`, { force: true });
    expect(forced.status).toBe(200);
    expect((await pets(old)).status).toBe(401);
    expect((await pets(key)).status).toBe(200);
  });

  test('without an overlap ends the old secret at once', async () => {
    const { id, key: old } = await create();
    const { key } = bodyOf(await admin('POST', `/keys/${id}/rotate`, { overlap: '0s' }));
    expect((await pets(old)).body.code).toBe('invalid_api_key');
    expect((await pets(key)).status).toBe(200);
  });
});

describe('a key of another system', () => {
  test('is refused before the import and works after it, in any form', async () => {
    const secret = `legacy-${randomBytes(12).toString('hex')}`;
    expect((await pets(secret)).status).toBe(401);
    const hash = createHash('sha256').update(secret).digest('hex');
    const { status, body } = await admin('POST', '/keys/import', { ...NEW, hash });
    expect(status).toBe(201);
    expect(body).toMatchObject({ imported: true, status: 'active' });
    await until('the key works', async () => (await pets(secret)).status === 200);
    expect((await admin('POST', '/keys/import', { ...NEW, hash })).status).toBe(409);
  });
});

describe('an invalid call changes nothing and says what to do', () => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`);

  test.each([
    ['an unknown plan', { plan: 'gold' }, 'The plan "gold" does not exist; plans: free, pro'],
    ['a custom plan without limits', { plan: 'enterprise' }, 'add limits, such as'],
    ['an account that is a path', { account: '../etc' }, 'An account is'],
    ['invalid limits', { limits: 'lots' }, 'must look like 60/minute'],
    ['an invalid address', { addresses: ['10.0.0.0/33'] }, 'is not an address'],
    ['a scope twice', { scopes: ['a', 'a'] }, 'must not have duplicate entries'],
    ['an empty scope', { scopes: [''] }, 'must have at least 1 character'],
    ['a scope that is too long', { scopes: ['x'.repeat(65)] }, 'must have at most 64 characters'],
    ['33 scopes', { scopes: names(33) }, 'must have at most 32 entries'],
    ['no APIs', { apis: [] }, 'must have at least 1 entry'],
    ['an API twice', { apis: ['a', 'a'] }, 'must not have duplicate entries'],
    ['an API without a name', { apis: [''] }, 'must have at least 1 character'],
    ['an API with a long name', { apis: ['a'.repeat(33)] }, 'must have at most 32 characters'],
    ['101 APIs', { apis: names(101) }, 'must have at most 100 entries'],
    ['a scope with a space', { scopes: ['a', 'b c'] }, 'is not a valid scope name'],
    [
      'an API of one alone',
      { apis: ['default'] },
      'The API of a key must be absent, because gateway.yaml has one API alone, is "default"',
    ],
    [
      'a limit of an API',
      { limits: '9/day@default' },
      'The API of a limit must be absent, because gateway.yaml has one API alone, is "default"',
    ],
    ['an expiry in the past', { expires: '2001-01-01T00:00:00Z' }, 'expiry is in the past'],
    [
      'two expiries',
      { expires: '2101-01-01T00:00:00Z', expiresIn: '1d' },
      'expiresIn must be absent with expires',
    ],
    ['an unknown field', { colour: 'red' }, 'colour'],
  ])('%s', async (_name, draft, message) => {
    const before = (await admin('GET', '/keys?limit=1000')).body.keys.length;
    const { status, body } = await admin('POST', '/keys', { ...NEW, ...draft });
    expect({ status, message: body.message }).toEqual({
      status: 400,
      message: expect.stringContaining(message),
    });
    expect((await admin('GET', '/keys?limit=1000')).body.keys).toHaveLength(before);
  });

  test.each([
    ['GET', '/keys/key_nowhere', undefined, 404],
    ['PATCH', '/keys/key_nowhere', { label: 'x' }, 404],
    ['GET', '/keys?colour=red', undefined, 400],
    ['POST', '/keys', '{"account":', 400],
    ['PUT', '/keys', NEW, 405],
    ['GET', '/nothing', undefined, 404],
  ] as const)('%s %s', async (method, path, body, status) => {
    const response = await admin(method, path, body);
    expect(response.status).toBe(status);
    expect(response.body).toEqual(
      expect.objectContaining({ code: expect.any(String), message: expect.any(String), status }),
    );
  });

  test('refuses a body of another type, too large, or compressed', async () => {
    expect((await admin('POST', '/keys', 'a=b', { 'Content-Type': 'text/plain' })).status).toBe(
      415,
    );
    expect((await admin('POST', '/keys', 'x'.repeat(300_000))).status).toBe(413);
    expect((await admin('POST', '/keys', NEW, { 'Content-Encoding': 'gzip' })).status).toBe(415);
  });
});
