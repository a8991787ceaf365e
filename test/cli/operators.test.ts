import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { makeSecret } from '../../src/records/keys/secret.ts';
import { adminSocketsIn } from '../../src/state/admin-sockets.ts';
import { commandLine, type Surroundings } from '../support/command-line.ts';
import { jsonOf } from '../support/failure.ts';
import { TestGateway } from '../support/gateway.ts';

let cwd: string;
let gateway: TestGateway;
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'storegate-cli-'));
  gateway = await TestGateway.start({ env: { STOREGATE_ADMIN_TOKEN: TOKEN } });
});
afterAll(async () => {
  await gateway.stop();
  rmSync(cwd, { recursive: true, force: true });
});

const TOKEN = makeSecret('admin');

const storegate = (args: readonly string[], surroundings?: Surroundings) =>
  commandLine(cwd)(args, surroundings);

const REMOTE = () => ({ STOREGATE_ADMIN_URL: gateway.adminUrl, STOREGATE_ADMIN_TOKEN: TOKEN });

describe.each([
  ['a running gateway', REMOTE],
  ['the local state', () => ({})],
])('operators of %s', (_where, environment) => {
  const sg = (...args: string[]) => storegate(args, { env: environment() });
  const json = async (...args: string[]) => {
    const result = await sg(...args, '--json');
    expect(result).toMatchObject({ code: 0, err: '' });
    return JSON.parse(result.out);
  };
  const create = () => json('keys', 'create', '--plan', 'free', '--account', 'acme');

  test('create, get, update, disable, enable, rotate, revoke and identify keys', async () => {
    const made = await json(
      ...[
        'keys',
        'create',
        '--plan',
        'pro',
        '--account',
        'acme',
        '--label',
        'one',
        '--limits',
        '5/minute',
      ],
      '--expires-in',
      '90d',
      '--address',
      '10.0.0.0/8',
      '--address',
      '::1',
      '--meta',
      'team=pets',
      '--scope',
      'pets:write',
      '--scope',
      'backend:admin',
    );
    expect(made).toMatchObject({
      limits: '5/minute',
      addresses: ['10.0.0.0/8', '::1'],
      metadata: { team: 'pets' },
    });
    expect(made.scopes).toEqual(['pets:write', 'backend:admin']);
    expect(await json('keys', 'list', '--scope', 'backend:admin')).toMatchObject([{ id: made.id }]);
    expect(await json('keys', 'update', made.id, '--scope', 'pets:read')).toMatchObject({
      scopes: ['pets:read'],
    });
    const scope = (...given: string[]) => sg('keys', 'update', made.id, ...given);
    await scope('--add-scope', 'a', '--add-scope', 'b');
    await scope('--add-scope', 'c', '--remove-scope', 'a', '--remove-scope', 'unknown');
    expect(await json('keys', 'get', made.id)).toMatchObject({ scopes: ['pets:read', 'b', 'c'] });
    await scope('--remove-scope', 'b', '--remove-scope', 'c');
    for (const given of [
      ['--add-scope', 'a', '--scope', 'b'],
      ['--remove-scope', 'a', '--no-scopes'],
      ['--add-scope', 'a', '--remove-scope', 'a'],
      ['--add-scope', 'a b'],
    ])
      expect(await scope(...given)).toMatchObject({ code: 2, out: '' });
    const { code, err } = await sg('keys', 'update', made.id, '--scope', 'a,b');
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining('"a,b" is not a valid scope name'),
    });
    expect(await json('keys', 'get', made.id)).toMatchObject({ id: made.id, label: 'one' });
    const changed = await json(
      'keys',
      'update',
      made.id,
      '--plan',
      'free',
      '--no-limits',
      '--no-expires',
      '--label',
      'two',
    );
    expect(changed).toMatchObject({
      plan: 'free',
      limits: null,
      expires: null,
      label: 'two',
      addresses: ['10.0.0.0/8', '::1'],
    });
    expect(changed.scopes).toEqual(['pets:read']);
    expect(await json('keys', 'update', made.id, '--no-scopes')).toMatchObject({ scopes: [] });
    expect((await sg('keys', 'disable', made.id)).out).toBe(`${made.id} is disabled.\n`);
    expect(
      (await json('keys', 'list', '--status', 'disabled')).map(({ id }: { id: string }) => id),
    ).toEqual([made.id]);
    await sg('keys', 'enable', made.id);
    const rotated = await json('keys', 'rotate', made.id, '--overlap', '1h');
    expect(rotated).toMatchObject({ id: made.id, key: expect.stringMatching(/^sg_live_/) });
    for (const key of [made.key, rotated.key])
      expect((await json('keys', 'identify', key)).id).toBe(made.id);
    expect(await sg('keys', 'rotate', made.id)).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^The older secret works until 20\S+Z: to end it now, add force \(--force\)\.\n$/,
      ),
    });
    const found = `# from a paste\napi_key=${made.key}; other=1\n`;
    expect(
      (await storegate(['keys', 'identify'], { env: environment(), input: found })).out,
    ).toContain(made.id);
    expect(
      (await storegate(['keys', 'identify'], { env: environment(), input: `${rotated.key}\n` }))
        .out,
    ).toContain(made.id);
    expect(await json('keys', 'revoke', made.id)).toMatchObject({ status: 'revoked' });
    const list = await sg('keys', 'list', '--account', 'acme');
    expect(list.out).toMatch(/^id +account +plan +limits +status/);
    expect(list.out).not.toContain(made.key);
  });

  test('create one key for repeated calls with an idempotency key', async () => {
    const once = [
      'keys',
      'create',
      '--plan',
      'free',
      '--account',
      'once',
      '--idempotency-key',
      `deploy-${'x'.repeat(16)}`,
    ];
    expect((await json(...once)).key).toBe((await json(...once)).key);
    expect(await json('keys', 'list', '--account', 'once')).toHaveLength(1);
  });

  test('import a key by its hash', async () => {
    const hash = createHash('sha256').update(makeSecret('old')).digest('hex');
    expect(
      await json('keys', 'import', '--plan', 'free', '--account', 'old', '--hash', hash),
    ).toMatchObject({
      imported: true,
    });
    expect(
      await sg('keys', 'import', '--plan', 'free', '--account', 'old', '--hash', hash),
    ).toMatchObject({
      code: 1,
      err: 'A key with this hash is there already.\n',
    });
  });

  test('list accounts', async () => {
    await create();
    expect(await json('accounts', 'list')).toContainEqual(
      expect.objectContaining({ account: 'acme' }),
    );
    expect(await json('accounts', 'get', 'acme')).toMatchObject({
      plans: expect.arrayContaining(['free']),
    });
    expect((await json('accounts', 'keys', 'acme')).length).toBeGreaterThan(0);
  });

  test('add, extend and lift bans, and reset and grant usage', async () => {
    const { id } = await create();
    const [ban] = await json('bans', 'add', id, '--duration', '1h', '--reason', 'scrapes');
    expect(ban).toMatchObject({ key: id, reason: 'scrapes' });
    expect((await sg('bans', 'extend', id, '--duration', '1h', '--reason', 'still')).out).toContain(
      'still',
    );
    expect((await sg('bans', 'list')).out).toMatch(
      /key +account +plan +since +until +level +next duration +resets +by +reason +history/,
    );
    expect((await json('bans', 'list')).map(({ key }: { key: string }) => key)).toContain(id);
    expect((await json('usage', 'get', id))[0].banned).not.toBeNull();
    expect((await sg('usage', 'reset', id)).out).toMatch(
      new RegExp(`^key:${id} stays banned until 20\\S+\\. To end the ban`, 'm'),
    );
    expect((await sg('bans', 'lift', id)).out).toMatch(
      new RegExp(
        `^${id} is not banned\\.\nsubject +window +limit +used +remaining .*\nkey:${id} +minute +60 +0 +60 `,
      ),
    );
    const [lifted, extended, added] = await json('bans', 'history', id);
    expect(lifted).toMatchObject({ action: 'bans.lift', target: id, ended: null });
    expect(extended).toMatchObject({
      after: { reason: 'still' },
      ended: { how: 'lifted', by: lifted.actor },
    });
    expect(added).toMatchObject({
      after: { reason: 'scrapes' },
      ended: { how: 'extended', at: extended.at },
    });
    const text = (await sg('bans', 'history', id, '--since', '1h', '--limit', '2')).out;
    expect(text).toMatch(/^number +time +target +action +by +until +level +ended +reason\n/);
    expect(text).toContain(`lifted by ${lifted.actor} at ${lifted.at.slice(0, 19)}Z`);
    expect(text.trim().split('\n')).toHaveLength(3);
    expect(
      await json('bans', 'history', '--below', String(added.number + 1), '--limit', '1'),
    ).toEqual([added]);
    expect(await json('bans', 'history', id, '--since', '2100-01-01T00:00:00Z')).toEqual([]);
    expect((await sg('usage', 'get', id)).out).toContain(
      `Bans of key:${id}: 1 ban in 30 days, last lifted by ${lifted.actor} at `,
    );
    expect((await json('usage', 'reset', id))[0].windows[0].used).toBe(0);
    expect((await sg('usage', 'grant', id, '--units', '5', '--window', 'day')).out).toContain(
      'day',
    );
  });

  test('list plans and simulate one', async () => {
    expect((await json('plans', 'list')).map(({ name }: { name: string }) => name)).toEqual([
      'free',
      'pro',
      'business',
      'enterprise',
      'public',
    ]);
    expect(await json('plans', 'get', 'free')).toMatchObject({ limits: '60/minute,1000/day' });
    expect(await json('plans', 'simulate', 'free', '--limits', '30/minute')).toMatchObject({
      after: '30/minute,1000/day',
    });
    expect(await json('plans', 'get', 'enterprise')).toMatchObject({
      concurrency: null,
      weight: 16,
    });
    expect(await json('plans', 'simulate', 'enterprise', '--concurrency', '20')).toMatchObject({
      after: null,
      concurrency: 20,
      weight: 16,
      keys: 0,
    });
    const dropped = await json(
      'plans',
      'simulate',
      'free',
      '--limits',
      '30/minute',
      '--drop',
      'day',
    );
    expect(dropped).toMatchObject({ after: '30/minute' });
  });

  test('read the audit log and the configuration', async () => {
    const { id } = await create();
    expect(await json('audit', 'list', '--target', id)).toEqual([
      expect.objectContaining({ action: 'keys.create', target: id }),
    ]);
    expect((await sg('audit', 'list', '--limit', '1')).out.trimEnd().split('\n')).toHaveLength(2);
    await sg('keys', 'disable', id, '--reason', 'Ticket „7“');
    expect((await sg('audit', 'list', '--limit', '1')).out).toContain('Ticket „7“');
    const { code, err } = await sg('keys', 'enable', id, '--reason', 'one\ntwo');
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('control character') });
    const settings = await json('config');
    expect(
      settings.find(({ name }: { name: string }) => name === 'http.maxBodyBytes'),
    ).toMatchObject({
      value: '"1MiB"',
    });
    expect(JSON.stringify(settings)).not.toContain(TOKEN);
  });

  test('create and revoke tokens', async () => {
    expect(await json('tokens', 'create', 'reader', '--role', 'read')).toMatchObject({
      name: 'reader',
      token: expect.any(String),
    });
    expect((await sg('tokens', 'list')).out).toContain('reader');
    expect((await sg('tokens', 'revoke', 'reader')).out).toBe('reader is revoked.\n');
  });

  describe('make mistakes:', () => {
    let audit: unknown;
    let key: string;
    const newest = () => json('audit', 'list', '--limit', '1');
    beforeAll(async () => {
      ({ key } = await create());
      audit = await newest();
    });

    test.each([
      [['keys', 'get', 'key_nowhere'], 1, 'The key "key_nowhere" does not exist'],
      [['keys', 'update', 'key_nowhere'], 2, 'Name a change, such as --plan pro.'],
      [['keys', 'identify'], 2, 'No key on standard input.'],
      [
        ['keys', 'create', '--plan', 'enterprise', '--account', 'a'],
        2,
        "error: option '--limits <limits>' is missing. Plan enterprise has no limits of its own: add limits, such as 600/minute,100000/day.",
      ],
      [
        ['keys', 'update', 'x', '--expires-in', '9d', '--expires', '2030-01-31T00:00:00Z'],
        2,
        "option '--expires-in <time>' cannot be used with option '--expires <time>'",
      ],
      [
        ['plans', 'set', 'Bad Name', '--create', '--limits', '5/minute'],
        2,
        'Plan "Bad Name" is invalid: must be a name of lower-case letters, digits and hyphens',
      ],
      [
        ['plans', 'simulate', 'free', '--custom', '--limits', '5/minute'],
        2,
        'Use either --custom, or --limits and --drop.',
      ],
      [
        ['plans', 'simulate', 'free', '--limits', '30/minute,30/minute'],
        2,
        "argument '30/minute,30/minute' is invalid. It must have each span once: minute is given twice",
      ],
      [
        ['webhooks', 'test'],
        1,
        'No webhook endpoint is set: webhooks.url or STOREGATE_WEBHOOK_URL.',
      ],
      [
        ['keys', 'update', 'key_nowhere', '--label', 'x'],
        1,
        'The key "key_nowhere" does not exist',
      ],
      [
        ['keys', 'create', '--plan', 'gold', '--account', 'a'],
        2,
        'The plan "gold" does not exist; plans: free, pro',
      ],
      [['keys', 'create', '--plan', 'free', '--account', 'a', '--expires-in', 'soon'], 2, '90d'],
      [
        ['keys', 'create', '--plan', 'free', '--account', 'a', '--meta', 'novalue'],
        2,
        'name=value',
      ],
      [
        ['keys', 'create', '--plan', 'free', '--account', 'a', '--idempotency-key', 'short'],
        2,
        "option '--idempotency-key <text>' argument 'short' is invalid. It must have at least 16 characters.",
      ],
      [
        ['keys', 'create', '--plan', 'free', '--account', 'a', '--limits', '60/fortnight'],
        2,
        "option '--limits <limits>' argument '60/fortnight' is invalid. It must have a span: fortnight is not second, minute, hour, day",
      ],
      [
        [
          'keys',
          'create',
          '--plan',
          'free',
          '--account',
          'a',
          '--label',
          'x'.repeat(201),
          '--scope',
          '',
        ],
        2,
        "option '--label <text>' is invalid. It must have at most 200 characters.\nerror: option '--scope <name>' is invalid.",
      ],
      [['keys', 'list', '--status', 'lost'], 2, 'active, banned, disabled, expired, revoked'],
      [['keys', 'rotate'], 2, 'missing required argument'],
      [
        ['keys', 'create', '--plan', 'free', '--account', 'acme', '--expires', 'yesterday'],
        2,
        "option '--expires <time>' argument 'yesterday' is invalid. It must be a date, time and zone, such as 2030-01-31T00:00:00Z",
      ],
      [
        ['keys', 'create', '--plan', 'free', '--account', 'acme', '--expires', '2030-01-31'],
        2,
        '2030-01-31T00:00:00Z; or use --expires-in 90d',
      ],
      [
        [
          'keys',
          'create',
          '--plan',
          'free',
          '--account',
          'acme',
          '--expires',
          '2020-01-31T00:00:00Z',
        ],
        2,
        "option '--expires <time>' argument '2020-01-31T00:00:00Z' is invalid. It must be in the future; or use",
      ],
      [['keys', 'identify', 'sg_live_x'], 1, 'No key with this secret'],
      [
        ['keys', 'import', '--plan', 'free', '--account', 'a', '--hash', 'abc'],
        2,
        "'abc' is invalid. Use the SHA-256",
      ],
      [['accounts', 'get', 'unknown'], 1, 'The account "unknown" does not exist'],
      [
        ['bans', 'add', 'unknown', '--duration', '1h', '--reason', 'x'],
        1,
        'No key or account is named "unknown"',
      ],
      [['bans', 'add', 'acme', '--reason', 'x'], 2, '--duration'],
      [['bans', 'lift', 'unknown'], 1, 'unknown'],
      [['bans', 'history', '--since', 'long ago'], 2, '2030-01-31T00:00:00Z'],
      [['bans', 'history', '--below', '0'], 2, 'from 1'],
      [['usage', 'get', 'unknown'], 1, 'unknown'],
      [['usage', 'grant', 'acme', '--units', '-5'], 2, 'whole number'],
      [['plans', 'get', 'gold'], 1, 'The plan "gold" does not exist'],
      [['plans', 'simulate', 'free'], 2, 'Name a change, such as --limits 30/minute.'],
      [['plans', 'simulate', 'free', '--concurrency', 'off'], 2, 'a whole number from 1, or none'],
      [
        ['plans', 'simulate', 'free', '--weight', '1001'],
        2,
        "argument '1001' is invalid. It must be at most 1000.",
      ],
      [
        ['plans', 'simulate', 'free', '--limits', 'many'],
        2,
        "'many' is invalid. It must look like 5/minute",
      ],
      [['audit', 'list', '--limit', '0'], 2, 'whole number'],
      [
        ['audit', 'list', '--limit', '5000'],
        2,
        "option '--limit <number>' argument '5000' is invalid. It must be at most",
      ],
      [
        ['requests', '--code', 'nope'],
        2,
        'The error code "nope" does not exist. Known error codes: malformed_request, ',
      ],
      [
        ['requests', '--code', 'key_baned'],
        2,
        'The error code "key_baned" does not exist. Did you mean "key_banned"?',
      ],
      [['tokens', 'create', 'Bad Name', '--role', 'read'], 2, 'name'],
      [['tokens', 'create', 'x', '--role', 'king'], 2, 'read, operate, admin'],
      [['tokens', 'revoke', 'unknown'], 1, 'The token "unknown" does not exist'],
      [['keys', 'creat'], 2, 'Did you mean create?'],
      [['kyes'], 2, 'Did you mean keys?'],
    ])('get a reason for the failure of %j', async (args, code, message) => {
      expect(await sg(...args)).toEqual({ code, out: '', err: expect.stringContaining(message) });
    });

    test.each([
      ...['get', 'disable', 'enable', 'rotate', 'revoke'].map((name) => ['keys', name]),
      ['keys', 'update', '--plan', 'pro'],
      ...['get', 'keys'].map((name) => ['accounts', name]),
      ...['get', 'reset'].map((name) => ['usage', name]),
      ['usage', 'grant', '--units', '1'],
      ['bans', 'lift'],
      ...['add', 'extend'].map((name) => ['bans', name, '--duration', '1h', '--reason', 'x']),
      ['audit', 'list', '--target'],
      ['keys', 'list', '--account'],
      ['plans', 'get'],
      ['tokens', 'revoke'],
    ])('never see a secret that they use as a name: %s %s', async (...args) => {
      const result = await sg(...args, key);
      expect(result).toEqual({
        code: 2,
        out: '',
        err: expect.stringContaining('storegate keys identify'),
      });
      expect(result.err).not.toContain(key.slice(0, 16));
    });

    test.each([
      [['KEY']],
      [['keys', 'KEY']],
      [['keys', 'list', 'KEY']],
      [['bans', 'add', 'a', '--duration', 'KEY']],
    ])('never see a secret of an invalid command line: %j', async (words) => {
      const result = await sg(...words.map((word) => (word === 'KEY' ? key : word)));
      expect(result).toMatchObject({ code: 2, out: '' });
      expect(result.err).not.toContain(key.slice(0, 16));
    });

    test('the audit log has none of them', async () => {
      expect(await newest()).toEqual(audit);
    });
  });
});

test('the admin API returns no secret of a path, query or body', async () => {
  const secret = makeSecret('live');
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${gateway.adminUrl}${path}`, {
      ...init,
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
    });
  for (const response of [
    await ask(`/usage/${secret}`),
    await ask(`/keys/x%20${secret}`),
    await ask(`/audit?target=${secret}`),
    await ask('/keys', { method: 'POST', body: JSON.stringify({ plan: secret, account: 'acme' }) }),
    await ask('/keys', {
      method: 'POST',
      body: JSON.stringify({ plan: 'free', account: 'acme', [secret]: 1 }),
    }),
  ]) {
    expect(response.status).toBe(400);
    expect(await response.text()).not.toContain(secret.slice(0, 16));
  }
});

test('commands that add and remove scopes at the same time lose no change', async () => {
  const { id } = await gateway.key();
  const update = (...args: string[]) =>
    storegate(['keys', 'update', id, ...args, '--json'], { env: REMOTE() });
  const names = ['a', 'b', 'c', 'd', 'e'];
  await Promise.all(names.map((name) => update('--add-scope', name)));
  const { scopes } = jsonOf(await update('--label', 'all'));
  expect(scopes.sort()).toEqual(names);
  await Promise.all(['a', 'c', 'e'].map((name) => update('--remove-scope', name)));
  expect(jsonOf(await update('--label', 'some')).scopes.sort()).toEqual(['b', 'd']);
});

describe('the gateway of a command', () => {
  afterEach(() => rmSync(join(cwd, 'profile.yaml'), { force: true }));

  test('comes from flags, the environment or a profile, in this order', async () => {
    writeFileSync(join(cwd, 'profile.yaml'), `url: ${gateway.adminUrl}\ntoken: ${TOKEN}\n`, {
      mode: 0o600,
    });
    expect(await storegate(['tokens', 'list', '--profile', 'profile.yaml'])).toMatchObject({
      code: 0,
      err: '',
    });
    expect(
      (await storegate(['tokens', 'list'], { env: { STOREGATE_PROFILE: 'profile.yaml' } })).code,
    ).toBe(0);
    const wrong = { STOREGATE_ADMIN_TOKEN: 'wrong' };
    expect(
      (await storegate(['tokens', 'list', '--profile', 'profile.yaml'], { env: wrong })).code,
    ).toBe(3);
    const flags = ['--url', gateway.adminUrl, '--token', TOKEN];
    expect((await storegate(['tokens', 'list', ...flags], { env: wrong })).code).toBe(0);
  });

  test('is called with the token of a file', async () => {
    writeFileSync(join(cwd, 'token'), `${TOKEN}\n`);
    const env = { STOREGATE_ADMIN_URL: gateway.adminUrl, STOREGATE_ADMIN_TOKEN_FILE: 'token' };
    expect(await storegate(['tokens', 'list'], { env })).toMatchObject({ code: 0, err: '' });
    expect(
      await storegate(['tokens', 'list'], { env: { ...env, STOREGATE_ADMIN_TOKEN: TOKEN } }),
    ).toMatchObject({
      code: 1,
      err: 'STOREGATE_ADMIN_TOKEN_FILE: STOREGATE_ADMIN_TOKEN is set too; set one of them\n',
    });
  });

  test('is not called with a token that others can read', async () => {
    writeFileSync(join(cwd, 'profile.yaml'), `url: ${gateway.adminUrl}\ntoken: ${TOKEN}\n`);
    chmodSync(join(cwd, 'profile.yaml'), 0o644);
    expect(await storegate(['keys', 'list', '--profile', 'profile.yaml'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('chmod 600'),
    });
  });

  test.each([
    [['--url', 'nonsense'], 2, 'Invalid admin URL'],
    [['--url', 'http://127.0.0.1:9'], 3, 'Cannot reach the gateway'],
    [['--profile', 'nowhere.yaml'], 1, 'it does not exist'],
  ])('must be reachable: %j', async (flags, code, message) => {
    expect(await storegate(['keys', 'list', ...flags])).toMatchObject({
      code,
      err: expect.stringContaining(message),
    });
  });

  test('must be an admin listener', async () => {
    const result = await storegate(['keys', 'list', '--url', gateway.url]);
    expect(result.code).toBe(3);
  });

  test('reloads, also without a URL', async () => {
    expect((await storegate(['reload'], { env: REMOTE() })).out).toBe('Nothing changed.\n');
    expect(await storegate(['reload'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('STOREGATE_ADMIN_URL'),
    });
    expect(
      (await storegate(['reload'], { env: { STOREGATE_DATA: gateway.config.data } })).out,
    ).toBe('Nothing changed.\n');
  });

  describe('has the counters in its memory', () => {
    const beside = () => ({ STOREGATE_DATA: gateway.config.data });

    test('and is found through its folder, with or without a token', async () => {
      const { id, secret } = await gateway.key();
      await gateway.client.get('/pets').set('X-API-Key', secret);
      const { out } = await storegate(['usage', 'get', id, '--json'], { env: beside() });
      expect(JSON.parse(out)).toMatchObject([{ key: id, windows: [{ used: 1 }, { used: 1 }] }]);
      const ban = ['bans', 'add', id, '--duration', '1h', '--reason', 'test'];
      expect(await storegate(ban, { env: beside() })).toMatchObject({ code: 0 });
      expect((await gateway.client.get('/pets').set('X-API-Key', secret)).body.code).toBe(
        'key_banned',
      );
    });

    test('and commands say how to reach it if its socket is gone', async () => {
      const { id } = await gateway.key();
      const [socket] = adminSocketsIn(gateway.config.data);
      const path = join(gateway.config.data, socket!.name);
      renameSync(path, `${path}.hidden`);
      expect(await storegate(['usage', 'get', id], { env: beside() })).toMatchObject({
        code: 3,
        err: expect.stringContaining('set STOREGATE_ADMIN_URL'),
      });
      renameSync(`${path}.hidden`, path);
    });

    test('and the audit log names the shell user', async () => {
      const user = `cli:${userInfo().username}`;
      const { id } = jsonOf(
        await storegate(['keys', 'create', '--plan', 'free', '--account', 'named', '--json'], {
          env: beside(),
        }),
      );
      for (const command of [
        ['bans', 'add', id, '--duration', '1h', '--reason', 'test'],
        ['usage', 'reset', id],
        ['bans', 'lift', id],
      ])
        expect(await storegate(command, { env: beside() })).toMatchObject({ code: 0 });
      const { out } = await storegate(['audit', 'list', '--target', id, '--json'], {
        env: beside(),
      });
      const entries = JSON.parse(out) as { actor: string; action: string }[];
      expect(entries.map(({ actor, action }) => [action, actor])).toEqual([
        ['bans.lift', user],
        ['usage.reset', user],
        ['bans.add', user],
        ['keys.create', user],
      ]);
    });
  });
});

test('a plan is written to its file, and a mistake changes nothing', async () => {
  const file = join(cwd, 'own-plans.yaml');
  writeFileSync(file, '# Ours.\nplans:\n  free: { windows: [{ limit: 3, per: minute }] }\n');
  const env = { STOREGATE_PLANS: 'own-plans.yaml', STOREGATE_DATA: 'own' };
  const put = await storegate(['plans', 'set', 'free', '--limits', '9/minute', '--json'], { env });
  expect(JSON.parse(put.out)).toMatchObject({ before: '3/minute', after: '9/minute' });
  expect(readFileSync(file, 'utf8')).toMatch(/^# Ours\.[\s\S]*limit: 9/);
  expect(
    (
      await storegate(['plans', 'set', 'team', '--create', '--custom', '--count', 'account'], {
        env,
      })
    ).code,
  ).toBe(0);
  expect((await storegate(['plans', 'get', 'team'], { env })).out).toMatch(/count +account/);
  const text = readFileSync(file, 'utf8');
  expect(await storegate(['plans', 'set', 'free', '--limits', '0/minute'], { env })).toMatchObject({
    code: 2,
    out: '',
  });
  expect(readFileSync(file, 'utf8')).toBe(text);
});

describe('printed text', () => {
  test('has colour on a terminal only, and not with NO_COLOR', async () => {
    const coloured = await storegate(['plans', 'list'], { isTerminal: true });
    expect(coloured.out).toContain('\u001b[');
    expect((await storegate(['plans', 'list'])).out).not.toContain('\u001b');
    expect(
      (await storegate(['plans', 'list'], { isTerminal: true, env: { NO_COLOR: '1' } })).out,
    ).not.toContain('\u001b');
  });

  test('cannot control the terminal', async () => {
    await storegate([
      'keys',
      'create',
      '--plan',
      'free',
      '--account',
      'evil',
      '--label',
      '\u001b[2Jgone',
    ]);
    expect((await storegate(['keys', 'list', '--account', 'evil'])).out).toContain('?[2Jgone');
  });

  test('is a completion script for each shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { code, out } = await storegate(['completion', shell]);
      expect(code).toBe(0);
      for (const word of ['keys', 'rotate', 'lift']) expect(out).toContain(word);
    }
    expect((await storegate(['completion', 'tcsh'])).code).toBe(2);
  });

  test('has help for every command', async () => {
    for (const args of [[], ['keys'], ['keys', 'rotate'], ['bans', 'add'], ['plans', 'simulate']]) {
      const { code, out } = await storegate([...args, '--help']);
      expect({ code, usage: out.startsWith('Usage: storegate') }).toEqual({ code: 0, usage: true });
    }
  });
});
