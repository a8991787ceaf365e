import { writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { makeToken } from '../../src/records/operators/tokens.ts';
import { adminOf } from '../support/admin.ts';
import { commandLine } from '../support/command-line.ts';
import { TestGateway } from '../support/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const SETTINGS = 'data: own\nplans: { file: plans.yaml }\n';
const PLANS = 'plans:\n  free: { windows: [{ limit: 2, per: minute }] }\n';
const CONTRACT = `openapi: 3.0.3
info: { title: Pets, version: '1' }
paths:
  /pets: { get: { operationId: listPets, responses: { default: { description: All. } } } }
`;
const UNUSED = ': the running gateway does not use it; a reload would be refused\n';
const folderOf = temporaryFolders();

/** The environment names no data folder. */
const NO_FOLDER = { STOREGATE_DATA: '' };

describe('a command in the folder of a running gateway', () => {
  let gateway: TestGateway;
  let contract: string;
  beforeEach(async () => {
    contract = join(folderOf(), 'api.yaml');
    writeFileSync(contract, CONTRACT);
    const env = { STOREGATE_CONTRACT: contract };
    gateway = await TestGateway.start({ settings: SETTINGS, plans: PLANS, env });
  });
  afterEach(() => gateway.stop());

  const write = (name: string, text: string) => writeFileSync(join(gateway.folder, name), text);
  const run = (line: string, env: Readonly<Record<string, string>> = {}) =>
    commandLine(gateway.folder)(line.split(' '), { env: { ...NO_FOLDER, ...env } });
  const json = async (line: string) => JSON.parse((await run(`${line} --json`)).out);
  const problems = async (): Promise<readonly string[]> =>
    (await adminOf(gateway.adminUrl)('GET', '/status')).body.gateways[0].configuration.lastReload
      ?.problems ?? [];

  test.each([
    [
      'an unknown field in plans.yaml',
      'plans.yaml',
      'plans:\n  free: { windows: [{ limt: 9, per: minute }] }\n',
      /^plans\.yaml:2:\d+ plans\.free\.windows\[0\]\.\w+: .*/,
    ],
    [
      'an invalid value in gateway.yaml',
      'gateway.yaml',
      `${SETTINGS}http: { maxBodyBytes: lots }\n`,
      /^gateway\.yaml:3:\d+ http\.maxBodyBytes: .*/,
    ],
    [
      'a gateway.yaml that is not YAML before the data folder',
      'gateway.yaml',
      `http: { maxBodyBytes: 1MiB\n${SETTINGS}`,
      /^gateway\.yaml:\d+:\d+: .*/,
    ],
  ])('succeeds and names %s', async (_, file, text, mistake) => {
    write(file, text);
    await until('the gateway has refused it', async () => (await problems()).length > 0);
    const note = expect.stringMatching(new RegExp(`${mistake.source}${UNUSED}$`));
    const made = await run('keys create --plan free --account acme --json');
    expect(made).toEqual({ code: 0, out: expect.stringContaining('key_'), err: note });
    const { id, key } = JSON.parse(made.out);
    for (const line of [
      'keys list',
      `bans add ${id} --duration 1h --reason abuse`,
      `bans lift ${id}`,
    ])
      expect(await run(line)).toEqual({ code: 0, out: expect.any(String), err: note });
    expect((await run('plans list')).out).toContain('2/minute');
    expect((await gateway.client.get('/pets').set('X-API-Key', key)).status).toBe(200);
    const entries = await json('audit list');
    expect(new Set(entries.map(({ actor }: { actor: string }) => actor))).toEqual(
      new Set([`cli:${userInfo().username}`]),
    );
    await gateway.close();
    const without = await run('config');
    expect(without).toMatchObject({ code: 1, err: expect.stringContaining(`${file}:`) });
    expect(without.err).not.toContain('running gateway');
  });

  test('shows plans in force, and says that the files are not', async () => {
    expect(await run('plans list')).toMatchObject({ code: 0, err: '' });
    writeFileSync(contract, 'openapi: 3.0.3\n');
    write('plans.yaml', PLANS.replace('2', '9'));
    await until('the gateway has refused them', async () => (await problems()).length > 0);
    for (const line of ['plans list', 'plans get free']) {
      const { out, err } = await run(line);
      expect(out).toContain('2/minute');
      expect(err).toBe('The files are not in force: storegate config diff shows why.\n');
    }
    expect((await run('plans list --quiet')).err).toBe('');
    expect((await run('config diff')).err).toContain('A reload would be refused: ');
  });

  test('uses the token that is given by hand, and its role', async () => {
    const create = 'keys create --plan free --account acme';
    const reader = (await run('tokens create reader --role read --token-only')).out.trim();
    const denied = {
      code: 3,
      out: '',
      err: 'This call needs a token of the role operate; yours has read.\n',
    };
    expect(await run(`${create} --token ${reader}`)).toEqual(denied);
    expect(await run(create, { STOREGATE_ADMIN_TOKEN: reader })).toEqual(denied);
    expect(await run(`keys list --token ${reader}`)).toMatchObject({ code: 0, err: '' });
    expect(await run(`${create} --token ${makeToken()}`)).toEqual({
      ...denied,
      err: 'The admin token is missing or wrong: use --token or STOREGATE_ADMIN_TOKEN.\n',
    });
    const operator = (await run('tokens create operator --role operate --token-only')).out.trim();
    const option = `${create} --token ${operator}`;
    expect(await run(option, { STOREGATE_ADMIN_TOKEN: reader })).toMatchObject({ code: 0 });
    expect(await json('audit list --action keys.create')).toMatchObject([{ actor: 'operator' }]);
    expect(await run(create)).toMatchObject({ code: 0 });
    await gateway.close();
    expect(await run(option)).toEqual({
      code: 3,
      out: '',
      err: 'No gateway of this folder was reached, and only a gateway checks --token. Name one with --url.\n',
    });
  });
});

describe('a command in the folder of one of two gateways on Redis', () => {
  let redis: RedisServer;
  let gateway: TestGateway;
  let other: TestGateway;
  let key: { readonly id: string; readonly secret: string };
  beforeAll(async () => {
    redis = await startRedis();
    const settings = `${SETTINGS}redis: { url: '${redis.url}' }\n`;
    const env = { STOREGATE_ADMIN_TOKEN: makeToken(), STOREGATE_CONTRACT: 'none' };
    gateway = await TestGateway.start({ settings, plans: PLANS, env });
    other = await TestGateway.start({ settings, plans: PLANS, env });
    key = await gateway.key();
    writeFileSync(join(gateway.folder, 'plans.yaml'), TYPO);
  });
  afterAll(async () => {
    await gateway.stop();
    await other.stop();
    await redis.stop();
  });

  const TYPO = 'plans:\n  free: { windows: [{ limt: 9, per: minute }] }\n';
  const MISTAKE = /^plans\.yaml:2:\d+ plans\.free\.windows\[0\]\.limit: .*/;
  const run = (line: string, env: Readonly<Record<string, string>> = {}) =>
    commandLine(gateway.folder)(line.split(' '), { env: { ...NO_FOLDER, ...env } });

  test('asks no gateway on another Redis than its variables name', async () => {
    expect((await run('keys list', { REDIS_URL: redis.url })).code).toBe(0);
    const elsewhere = await run('keys list', { REDIS_URL: 'redis://127.0.0.1:9' });
    expect(elsewhere).toEqual({ code: 1, out: '', err: expect.stringContaining('127.0.0.1:9') });
  });

  test('misses nothing that only the environment of the gateway has', async () => {
    const settings = 'data: own\nadmin: { host: 0.0.0.0 }\nworkers: 1\n';
    const env = { STOREGATE_ADMIN_TOKEN: makeToken(), REDIS_URL: redis.url };
    const open = await TestGateway.start({ settings, env });
    const listed = await commandLine(open.folder)(['keys', 'list'], { env: NO_FOLDER });
    expect(listed).toMatchObject({ code: 0, err: '' });
    await open.stop();
  });

  test('reads only the files that it needs once no gateway runs', async () => {
    await run(`bans add ${key.id} --duration 1h --reason abuse`);
    await gateway.close();
    await other.close();
    const failed = { code: 1, out: '', err: expect.stringMatching(MISTAKE) };
    expect(await run('keys create --plan free --account acme')).toEqual(failed);
    expect(await run('plans list')).toEqual(failed);
    expect((await run('keys list')).out).toMatch(new RegExp(`${key.id} .*\\bbanned\\b`));
    const history = `bans history ${key.id}`;
    for (const line of ['bans list', history, 'keys list', `keys disable ${key.id}`])
      expect(await run(line)).toEqual({
        code: 0,
        out: expect.stringContaining(key.id),
        err: '',
      });
    expect(await run(`bans lift ${key.id}`)).toMatchObject({ code: 0, err: '' });
    expect((await run('bans list')).out).toBe('No bans.\n');
    expect(await run('state export state.ndjson')).toMatchObject({ code: 0 });
    expect(await run(`bans lift ${key.id}`)).toEqual(failed);
    expect(await run('reload')).toMatchObject({
      code: 1,
      err: expect.stringContaining('STOREGATE_ADMIN_TOKEN'),
    });
  });
});
