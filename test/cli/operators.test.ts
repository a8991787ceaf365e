import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { makeSecret } from '../../src/records/keys/secret.ts';
import { adminSocketsIn } from '../../src/state/admin-sockets.ts';
import { commandLine, type Surroundings } from '../support/command-line.ts';
import { jsonOf } from '../support/failure.ts';
import { TestGateway } from '../support/gateway.ts';
import { temporaryFolders } from '../support/temporary.ts';

const TOKEN = makeSecret('admin');
const cwd = temporaryFolders({ keep: true })();
const gateway = await TestGateway.start({ env: { STOREGATE_ADMIN_TOKEN: TOKEN } });
afterAll(() => gateway.stop());

const storegate = (args: readonly string[], surroundings?: Surroundings) =>
  commandLine(cwd)(args, surroundings);

const REMOTE = () => ({ STOREGATE_ADMIN_URL: gateway.adminUrl, STOREGATE_ADMIN_TOKEN: TOKEN });

describe.each([
  ['a running gateway', REMOTE],
  ['the local state', () => ({})],
])('operators of %s', (_where, environment) => {
  const run = (args: readonly string[]) => storegate(args, { env: environment() });
  const sg = (line: string) => run(line.split(' '));
  const json = async (line: string) => {
    const result = await sg(`${line} --json`);
    expect(result).toMatchObject({ code: 0, err: '' });
    return JSON.parse(result.out);
  };
  const create = () => json('keys create --plan free --account acme');

  test('create, get, update, disable, enable, rotate, revoke and identify keys', async () => {
    const made = await json(
      'keys create --plan pro --account acme --label one --limits 5/minute --expires-in 90d ' +
        '--address 10.0.0.0/8 --address ::1 --meta team=pets --scope pets:write --scope backend:admin',
    );
    const { id } = made;
    expect(made).toMatchObject({
      limits: '5/minute',
      addresses: ['10.0.0.0/8', '::1'],
      metadata: { team: 'pets' },
      scopes: ['pets:write', 'backend:admin'],
    });
    expect(await json('keys list --scope backend:admin')).toMatchObject([{ id }]);
    const update = (options: string) => sg(`keys update ${id} ${options}`);
    await update('--scope pets:read');
    await update('--add-scope a --add-scope b');
    await update('--add-scope c --remove-scope a --remove-scope unknown');
    const key = await json(`keys get ${id}`);
    expect(key).toMatchObject({ id, label: 'one', scopes: ['pets:read', 'b', 'c'] });
    await update('--remove-scope b --remove-scope c');
    for (const options of [
      '--add-scope a --scope b',
      '--remove-scope a --no-scopes',
      '--add-scope a --remove-scope a',
      '--add-scope a,b',
      '--scope a,b',
      '--api notes',
      '--api notes --no-apis',
    ])
      expect(await update(options)).toMatchObject({ code: 2, out: '' });
    const line = `keys update ${id} --plan free --no-limits --no-expires --label two`;
    expect(await json(line)).toMatchObject({
      plan: 'free',
      limits: null,
      expires: null,
      label: 'two',
      addresses: ['10.0.0.0/8', '::1'],
      scopes: ['pets:read'],
    });
    expect(await json(`keys update ${id} --no-scopes`)).toMatchObject({ scopes: [] });
    expect((await sg(`keys disable ${id}`)).out).toBe(`${id} is disabled.\n`);
    expect(await json('keys list --status disabled')).toMatchObject([{ id }]);
    await sg(`keys enable ${id}`);
    const rotated = await json(`keys rotate ${id} --overlap 1h`);
    expect(rotated).toMatchObject({ id, key: expect.stringMatching(/^sg_live_/) });
    for (const secret of [made.key, rotated.key])
      expect((await json(`keys identify ${secret}`)).id).toBe(id);
    expect(await sg(`keys rotate ${id}`)).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^The older secret works until 20\S+Z: to end it now, add force \(--force\)\.\n$/,
      ),
    });
    for (const input of [`# from a paste\napi_key=${made.key}; other=1\n`, `${rotated.key}\n`]) {
      const { out } = await storegate(['keys', 'identify'], { env: environment(), input });
      expect(out).toContain(id);
    }
    expect(await json(`keys revoke ${id}`)).toMatchObject({ status: 'revoked' });
    const list = await sg('keys list --account acme');
    expect(list.out).toMatch(/^id +account +plan +limits +status/);
    expect(list.out).not.toContain(made.key);
    expect(JSON.stringify(await json('keys list'))).not.toContain('hash');
  });

  test('create one key for repeated calls with an idempotency key', async () => {
    const once = `keys create --plan free --account once --idempotency-key deploy-${'x'.repeat(16)}`;
    expect((await json(once)).key).toBe((await json(once)).key);
    expect(await json('keys list --account once')).toHaveLength(1);
  });

  test('import a key by its hash', async () => {
    const hash = createHash('sha256').update(makeSecret('old')).digest('hex');
    const line = `keys import --plan free --account old --hash ${hash}`;
    expect(await json(line)).toMatchObject({ imported: true });
    const err = 'A key with this hash is there already.\n';
    expect(await sg(line)).toMatchObject({ code: 1, err });
  });

  test('list accounts', async () => {
    await create();
    expect(await json('accounts list')).toContainEqual(
      expect.objectContaining({ account: 'acme' }),
    );
    const plans = expect.arrayContaining(['free']);
    expect(await json('accounts get acme')).toMatchObject({ plans });
    expect((await json('accounts keys acme')).length).toBeGreaterThan(0);
  });

  test('add, extend and lift bans, and reset and grant usage', async () => {
    const { id } = await create();
    const [ban] = await json(`bans add ${id} --duration 1h --reason scrapes`);
    expect(ban).toMatchObject({ key: id, reason: 'scrapes' });
    const again = await sg(`bans extend ${id} --duration 1h --reason still`);
    expect(again.out).toContain('still');
    expect((await sg('bans list')).out).toMatch(
      /key +account +plan +since +until +level +next duration +resets +by +reason +history/,
    );
    expect(await json('bans list')).toContainEqual(expect.objectContaining({ key: id }));
    expect((await json(`usage get ${id}`))[0].banned).not.toBeNull();
    expect((await sg(`usage reset ${id}`)).out).toMatch(
      new RegExp(`^key:${id} stays banned until 20\\S+\\. To end the ban`, 'm'),
    );
    expect((await sg(`bans lift ${id}`)).out).toMatch(
      new RegExp(
        `^${id} is not banned\\.\nsubject +window +limit +used +remaining .*\nkey:${id} +minute +60 +0 +60 `,
      ),
    );
    const [lifted, extended, added] = await json(`bans history ${id}`);
    expect(lifted).toMatchObject({ action: 'bans.lift', target: id, ended: null });
    expect(extended).toMatchObject({
      after: { reason: 'still' },
      ended: { how: 'lifted', by: lifted.actor },
    });
    expect(added).toMatchObject({
      after: { reason: 'scrapes' },
      ended: { how: 'extended', at: extended.at },
    });
    const text = (await sg(`bans history ${id} --since 1h --limit 2`)).out;
    expect(text).toMatch(/^number +time +target +action +by +until +level +ended +reason\n/);
    expect(text).toContain(`lifted by ${lifted.actor} at ${lifted.at.slice(0, 19)}Z`);
    expect(text.trim().split('\n')).toHaveLength(3);
    expect(await json(`bans history --below ${added.number + 1} --limit 1`)).toEqual([added]);
    expect(await json(`bans history ${id} --since 2100-01-01T00:00:00Z`)).toEqual([]);
    expect((await sg(`usage get ${id}`)).out).toContain(
      `Bans of key:${id}: 1 ban in 30 days, last lifted by ${lifted.actor} at `,
    );
    expect((await json(`usage reset ${id}`))[0].windows[0].used).toBe(0);
    expect((await sg(`usage grant ${id} --units 5 --window day`)).out).toContain('day');
  });

  test('list plans and simulate one', async () => {
    const names = ['free', 'pro', 'business', 'enterprise', 'public'];
    expect((await json('plans list')).map(({ name }: { name: string }) => name)).toEqual(names);
    for (const [line, expected] of [
      ['get free', { limits: '60/minute,1000/day' }],
      ['simulate free --limits 30/minute', { after: '30/minute,1000/day' }],
      ['simulate free --limits 30/minute --drop day', { after: '30/minute' }],
      ['get enterprise', { concurrency: null, weight: 16 }],
      ['simulate enterprise --concurrency 20', { after: null, concurrency: 20, keys: 0 }],
    ] as const)
      expect(await json(`plans ${line}`)).toMatchObject(expected);
  });

  test('read the audit log and the configuration', async () => {
    const { id } = await create();
    expect(await json(`audit list --target ${id}`)).toMatchObject([{ action: 'keys.create' }]);
    expect((await sg('audit list --limit 1')).out.trimEnd().split('\n')).toHaveLength(2);
    await run(['keys', 'disable', id, '--reason', 'Ticket „7“']);
    expect((await sg('audit list --limit 1')).out).toContain('Ticket „7“');
    const { code, err } = await run(['keys', 'enable', id, '--reason', 'one\ntwo']);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('control character') });
    const settings = await json('config');
    const found = settings.find(({ name }: { name: string }) => name === 'http.maxBodyBytes');
    expect(found).toMatchObject({ value: '"1MiB"' });
    expect(JSON.stringify(settings)).not.toContain(TOKEN);
  });

  test('create and revoke tokens', async () => {
    const token = { name: 'reader', token: expect.any(String) };
    expect(await json('tokens create reader --role read')).toMatchObject(token);
    expect((await sg('tokens list')).out).toContain('reader');
    expect((await sg('tokens revoke reader')).out).toBe('reader is revoked.\n');
  });
});

describe('operators make mistakes:', () => {
  const run = (args: readonly string[]) => storegate(args, { env: REMOTE() });
  const sg = (line: string) => run(line.split(' '));

  let audit: unknown;
  let key: string;
  const newest = async () => jsonOf(await sg('audit list --limit 1 --json'));
  beforeAll(async () => {
    ({ key } = jsonOf(await sg('keys create --plan free --account acme --json')));
    audit = await newest();
  });

  /** Names and values that do not exist, and invalid ones: unknown-values.test.ts, times.test.ts. */
  test.each<[string | readonly string[], number, string]>([
    ['keys update key_nowhere', 2, 'Name a change, such as --plan pro.'],
    ['keys identify', 2, 'No key on standard input.'],
    ['keys identify sg_live_x', 1, 'No key with this secret'],
    [
      'keys create --plan enterprise --account a',
      2,
      "error: option '--limits <limits>' is missing. Plan enterprise has no limits of its own: add limits, such as 600/minute,100000/day.",
    ],
    ['keys create --plan free --account ../etc', 2, 'An account is'],
    ['keys create --plan free --account acme --env A_B', 2, 'lowercase letters'],
    ['keys create --plan free --account a --meta novalue', 2, 'name=value'],
    [
      `keys create --plan free --account a --label ${'x'.repeat(201)} --scope `.split(' '),
      2,
      "option '--label <text>' is invalid. It must have at most 200 characters.\nerror: option '--scope <name>' is invalid.",
    ],
    [
      'keys create --plan free --account acme --expires 2030-01-31',
      2,
      '2030-01-31T00:00:00Z; or use --expires-in 90d',
    ],
    [
      'keys create --plan free --account acme --expires 2020-01-31T00:00:00Z',
      2,
      "option '--expires <time>' argument '2020-01-31T00:00:00Z' is invalid. It must be in the future; or use",
    ],
    [
      'keys update x --expires-in 9d --expires 2030-01-31T00:00:00Z',
      2,
      "option '--expires-in <time>' cannot be used with option '--expires <time>'",
    ],
    ['keys rotate', 2, 'missing required argument'],
    [
      ['plans', 'set', 'Bad Name', '--create', '--limits', '5/minute'],
      2,
      'Plan "Bad Name" is invalid: must be a name of lower-case letters, digits and hyphens',
    ],
    ['plans simulate free', 2, 'Name a change, such as --limits 30/minute.'],
    [
      'plans simulate free --custom --limits 5/minute',
      2,
      'Use either --custom, or --limits and --drop.',
    ],
    [
      'plans simulate free --limits 30/minute,30/minute',
      2,
      "argument '30/minute,30/minute' is invalid. It must have each span once: minute is given twice",
    ],
    ['webhooks test', 1, 'No webhook endpoint is set: webhooks.url or STOREGATE_WEBHOOK_URL.'],
    ['bans add acme --reason x', 2, '--duration'],
    [['tokens', 'create', 'Bad Name', '--role', 'read'], 2, 'name'],
    ['kyes', 2, 'Did you mean keys?'],
  ])('get a reason for the failure of %j', async (line, code, message) => {
    const result = await run(typeof line === 'string' ? line.split(' ') : line);
    expect(result).toEqual({ code, out: '', err: expect.stringContaining(message) });
  });

  test.each([
    ...['get', 'disable', 'enable', 'rotate', 'revoke'].map((name) => `keys ${name}`),
    'keys update --plan pro',
    ...['get', 'keys'].map((name) => `accounts ${name}`),
    ...['get', 'reset'].map((name) => `usage ${name}`),
    'usage grant --units 1',
    'bans lift',
    ...['add', 'extend'].map((name) => `bans ${name} --duration 1h --reason x`),
    'audit list --target',
    'keys list --account',
    'plans get',
    'tokens revoke',
  ])('never see a secret that they use as a name: %s', async (line) => {
    const result = await sg(`${line} ${key}`);
    const err = expect.stringContaining('storegate keys identify');
    expect(result).toEqual({ code: 2, out: '', err });
    expect(result.err).not.toContain(key.slice(0, 16));
  });

  test.each(['KEY', 'keys KEY', 'keys list KEY', 'bans add a --duration KEY'])(
    'never see a secret of an invalid command line: %s',
    async (line) => {
      const result = await sg(line.replace('KEY', key));
      expect(result).toMatchObject({ code: 2, out: '' });
      expect(result.err).not.toContain(key.slice(0, 16));
    },
  );

  test('the audit log has none of them', async () => {
    expect(await newest()).toEqual(audit);
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
  const profile = (mode: number) =>
    writeFileSync(join(cwd, 'profile.yaml'), `url: ${gateway.adminUrl}\ntoken: ${TOKEN}\n`, {
      mode,
    });
  const sg = (line: string, env: Readonly<Record<string, string>> = {}) =>
    storegate(line.split(' '), { env });
  afterEach(() => rmSync(join(cwd, 'profile.yaml'), { force: true }));

  test('comes from flags, the environment or a profile, in this order', async () => {
    profile(0o600);
    const wrong = { STOREGATE_ADMIN_TOKEN: 'wrong' };
    for (const [options, env, code] of [
      ['--profile profile.yaml', {}, 0],
      ['', { STOREGATE_PROFILE: 'profile.yaml' }, 0],
      ['--profile profile.yaml', wrong, 3],
      [`--url ${gateway.adminUrl} --token ${TOKEN}`, wrong, 0],
    ] as const)
      expect(await sg(`tokens list ${options}`.trim(), env)).toMatchObject({ code });
  });

  test('is called with the token of a file', async () => {
    writeFileSync(join(cwd, 'token'), `${TOKEN}\n`);
    const env = { STOREGATE_ADMIN_URL: gateway.adminUrl, STOREGATE_ADMIN_TOKEN_FILE: 'token' };
    expect(await sg('tokens list', env)).toMatchObject({ code: 0, err: '' });
    expect(await sg('tokens list', { ...env, STOREGATE_ADMIN_TOKEN: TOKEN })).toMatchObject({
      code: 1,
      err: 'STOREGATE_ADMIN_TOKEN_FILE: STOREGATE_ADMIN_TOKEN is set too; set one of them\n',
    });
  });

  test('is not called with a token that others can read', async () => {
    profile(0o644);
    const err = expect.stringContaining('chmod 600');
    expect(await sg('keys list --profile profile.yaml')).toMatchObject({ code: 1, err });
  });

  test.each([
    ['--url nonsense', 2, 'Invalid admin URL'],
    ['--url http://127.0.0.1:9', 3, 'Cannot reach the gateway'],
    ['--profile nowhere.yaml', 1, 'it does not exist'],
  ])('must be reachable: %j', async (flags, code, message) => {
    const err = expect.stringContaining(message);
    expect(await sg(`keys list ${flags}`)).toMatchObject({ code, err });
  });

  test('must be an admin listener', async () => {
    expect(await sg(`keys list --url ${gateway.url}`)).toMatchObject({ code: 3 });
  });

  test('reloads, also without a URL', async () => {
    const beside = { STOREGATE_DATA: gateway.config.data };
    for (const env of [REMOTE(), beside])
      expect(await sg('reload', env)).toMatchObject({ out: 'Nothing changed.\n' });
    const err = expect.stringContaining('STOREGATE_ADMIN_URL');
    expect(await sg('reload')).toMatchObject({ code: 1, err });
  });

  describe('has the counters in its memory', () => {
    const beside = (line: string) => sg(line, { STOREGATE_DATA: gateway.config.data });

    test('and is found through its folder, with or without a token', async () => {
      const { id, secret } = await gateway.key();
      const request = () => gateway.client.get('/pets').set('X-API-Key', secret);
      await request();
      const { out } = await beside(`usage get ${id} --json`);
      expect(JSON.parse(out)).toMatchObject([{ key: id, windows: [{ used: 1 }, { used: 1 }] }]);
      const ban = await beside(`bans add ${id} --duration 1h --reason test`);
      expect(ban).toMatchObject({ code: 0 });
      expect((await request()).body.code).toBe('key_banned');
    });

    test('and commands say how to reach it if its socket is gone', async () => {
      const { id } = await gateway.key();
      const [socket] = adminSocketsIn(gateway.config.data);
      const path = join(gateway.config.data, socket!.name);
      renameSync(path, `${path}.hidden`);
      const err = expect.stringContaining('set STOREGATE_ADMIN_URL');
      expect(await beside(`usage get ${id}`)).toMatchObject({ code: 3, err });
      renameSync(`${path}.hidden`, path);
    });

    test('and the audit log names the shell user', async () => {
      const actor = `cli:${userInfo().username}`;
      const { id } = jsonOf(await beside('keys create --plan free --account named --json'));
      for (const line of [
        `bans add ${id} --duration 1h --reason test`,
        `usage reset ${id}`,
        `bans lift ${id}`,
      ])
        expect(await beside(line)).toMatchObject({ code: 0 });
      expect(jsonOf(await beside(`audit list --target ${id} --json`))).toMatchObject(
        ['bans.lift', 'usage.reset', 'bans.add', 'keys.create'].map((action) => ({
          action,
          actor,
        })),
      );
    });
  });
});

test('a plan is written to its file, and a mistake changes nothing', async () => {
  const file = join(cwd, 'own-plans.yaml');
  writeFileSync(file, '# Ours.\nplans:\n  free: { windows: [{ limit: 3, per: minute }] }\n');
  const env = { STOREGATE_PLANS: 'own-plans.yaml', STOREGATE_DATA: 'own' };
  const plans = (line: string) => storegate(['plans', ...line.split(' ')], { env });
  const put = jsonOf(await plans('set free --limits 9/minute --json'));
  expect(put).toMatchObject({ before: '3/minute', after: '9/minute' });
  expect(readFileSync(file, 'utf8')).toMatch(/^# Ours\.[\s\S]*limit: 9/);
  expect((await plans('set team --create --custom --count account')).code).toBe(0);
  expect((await plans('get team')).out).toMatch(/count +account/);
  const text = readFileSync(file, 'utf8');
  expect(await plans('set free --limits 0/minute')).toMatchObject({ code: 2, out: '' });
  expect(readFileSync(file, 'utf8')).toBe(text);
});

describe('printed text', () => {
  test.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: '1' }, false],
  ])('on a terminal: %s, with %j, has colour: %s', async (isTerminal, env, isColoured) => {
    const { out } = await storegate(['plans', 'list'], { isTerminal, env });
    expect(out.includes('\u001b[')).toBe(isColoured);
  });

  test('cannot control the terminal', async () => {
    const create = 'keys create --plan free --account evil --label'.split(' ');
    await storegate([...create, '\u001b[2Jgone']);
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
});
