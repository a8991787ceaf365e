import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type AdminCall, adminOf } from '../support/admin.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { TestGateway } from '../support/gateway.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { writeUnnoticed } from '../support/unnoticed.ts';
import { until } from '../support/until.ts';

const [FIRST, SECOND] = ['first-secret-of-sentinels', 'second-secret-of-sentinels'];
const SETTINGS = `redis: { sentinelPassword: ${FIRST} }\n`;
const PLANS = `plans:
  free: { windows: [{ limit: 60, per: minute }] }
  team: { count: account, windows: [{ limit: 100, per: hour }] }
accounts:
  acme: { windows: [{ limit: 5, per: minute }] }
bans: { strikes: 3, workers: 1, durations: [1m] }
`;
/** Small: each reload with a changed contract reads it in a separate process. */
const CONTRACT = `openapi: 3.0.3
info: { title: Pets, version: '1' }
paths:
  /pets:
    get: { operationId: listPets, responses: &all { default: { description: All. } } }
    post: { operationId: createPet, responses: *all }
  /store/inventory:
    get: { operationId: listInventory, responses: *all }
  /categories:
    get:
      operationId: listCategories
      responses:
        200:
          description: All categories.
          content: { application/json: { schema: { type: array, items: { $ref: '#/components/schemas/Category' } } } }
components:
  schemas:
    Category: { type: object }
`;
const MARK = 'audit: { maxEntries: 7000 }\n';
const MARKED = {
  name: 'audit.maxEntries',
  inForce: '100000',
  inFiles: '7000',
  source: expect.stringMatching(/^file .*gateway\.yaml:\d+:\d+$/),
  restart: true,
  masked: false,
};
const NOTHING = { settings: [MARKED], plans: [], accounts: [], bans: null, contract: null };

const folderOf = temporaryFolders({ keep: true });
let gateway: TestGateway;
let admin: AdminCall;
let contractFile: string;
let cli: CommandLine;
beforeAll(async () => {
  contractFile = join(folderOf(), 'own.yaml');
  writeFileSync(contractFile, CONTRACT);
  gateway = await TestGateway.start({
    settings: SETTINGS,
    plans: PLANS,
    env: { STOREGATE_CONTRACT: contractFile },
  });
  admin = adminOf(gateway.adminUrl);
  cli = commandLine(gateway.folder);
  unchanged();
  await until(
    'the gateway has noticed these files',
    async () => (await currentConfiguration()).lastReload !== null,
  );
});
beforeEach(unchanged);
afterAll(() => gateway?.stop());

const currentConfiguration = async () =>
  (await admin('GET', '/status')).body.gateways[0].configuration;

const write = (name: 'gateway.yaml' | 'plans.yaml', text: string) =>
  writeUnnoticed(join(gateway.folder, name), text);

function unchanged(): void {
  write('gateway.yaml', `${SETTINGS}${MARK}`);
  write('plans.yaml', PLANS);
  writeUnnoticed(contractFile, CONTRACT);
}

const diff = async () => {
  const { status, body } = await admin('GET', '/config/diff');
  return status === 200 ? body : { status, ...body };
};
const here = (...args: string[]) =>
  cli(args, {
    env: {
      STOREGATE_DATA: gateway.config.data,
      STOREGATE_CONFIG: 'gateway.yaml',
      STOREGATE_PLANS: 'plans.yaml',
      STOREGATE_CONTRACT: contractFile,
    },
  });
const there = (...args: string[]) => cli(args, { env: { STOREGATE_ADMIN_URL: gateway.adminUrl } });

async function traces() {
  const metrics = (await gateway.admin.get('/metrics')).text;
  const { entries } = (await admin('GET', '/audit?action=config.reload')).body;
  return {
    log: gateway.log.filter(({ msg }) => String(msg).startsWith('reload.')),
    metrics: metrics.split('\n').filter((line) => /^storegate_(reload|config)/.test(line)),
    configuration: await currentConfiguration(),
    audit: entries,
  };
}

describe('the files are compared with the configuration in force', () => {
  afterEach(async () => {
    unchanged();
    expect(await diff()).toEqual(NOTHING);
  });

  test('settings with both values, the source of the new one, and whether it needs a restart', async () => {
    write('gateway.yaml', `${SETTINGS}${MARK}cors: { maxAge: 3m }\n`);
    expect((await diff()).settings).toEqual([
      { ...MARKED, name: 'cors.maxAge', inForce: '"10m"', inFiles: '"3m"', restart: false },
      MARKED,
    ]);
    const { code, out } = await there('config', 'diff');
    expect(code).toBe(0);
    expect(out).toMatch(/^type +name +in force +in the files +source +restart\n/);
    expect(out).toMatch(/\nsetting +audit\.maxEntries +100000 +7000 +file \S+ +needed\n/);
    expect(out).toMatch(/\nsetting +cors\.maxAge +"10m" +"3m" +file \S+ +-\n/);
  });

  const plan = (limits: string | null, more: object = {}) => ({
    count: 'key',
    limits,
    concurrency: null,
    weight: 1,
    addresses: null,
    ...more,
  });

  test('plans, limits of accounts, and bans', async () => {
    write(
      'plans.yaml',
      `plans:
  free: { windows: [{ limit: 30, per: minute }, { limit: 500, per: day, kind: sliding }] }
  new: { custom: true, addresses: { allow: ["::1"] } }
accounts:
  acme: { windows: [{ limit: 6, per: minute }] }
  other: { windows: [{ limit: 7, per: minute }] }
bans: { strikes: 4, workers: 1, durations: [1m] }
`,
    );
    expect(await diff()).toMatchObject({
      settings: [MARKED],
      plans: [
        {
          name: 'free',
          inForce: plan('60/minute'),
          inFiles: plan('30/minute,500/day:sliding'),
        },
        { name: 'team', inForce: plan('100/hour', { count: 'account' }), inFiles: null },
        {
          name: 'new',
          inForce: null,
          inFiles: plan(null, { addresses: { allow: ['::1'], deny: [] } }),
        },
      ],
      accounts: [
        { name: 'acme', inForce: '5/minute', inFiles: '6/minute' },
        { name: 'other', inForce: null, inFiles: '7/minute' },
      ],
      bans: { inForce: { strikes: 3 }, inFiles: { strikes: 4 } },
      contract: null,
    });
    const { out } = await here('config', 'diff');
    expect(out).toMatch(/\nplan +free +60 per minute +30 per minute, 500 per day \(sliding\) /);
    expect(out).toMatch(
      /\nplan +team +100 per hour per account +-.*\nplan +new +- +custom, from ::1 /,
    );
    expect(out).toMatch(/\naccount limits +acme +5 per minute +6 per minute /);
    expect(out).toMatch(/\nbans +strikes +3 +4 /);
    expect(out).not.toContain('lengths');
  });

  test('the contract: operations that are new, removed, or refer to something else', async () => {
    const changed = CONTRACT.replace('operationId: createPet', 'operationId: addPet');
    writeUnnoticed(
      contractFile,
      changed.replace('Category: {', 'Category: { title: Something else,'),
    );
    const { contract } = await diff();
    expect(contract).toMatchObject({ added: ['addPet'], removed: ['createPet'] });
    expect(contract.changed).toEqual(['listCategories']);
    expect(contract.inForce.digest).toBe((await currentConfiguration()).contract);
    expect(contract.inFiles).toMatchObject({ operations: contract.inForce.operations });
    expect(contract.inFiles.digest).not.toBe(contract.inForce.digest);
    const { out } = await there('config', 'diff');
    expect(out).toMatch(/\noperation +addPet +- +present .*\noperation +createPet +present +- /);
    expect(out).toMatch(/\noperation +listCategories +present +changed /);
  });

  test('a secret is only reported as different', async () => {
    write('gateway.yaml', `redis: { sentinelPassword: ${SECOND} }\n${MARK}`);
    const found = await diff();
    expect(found.settings).toContainEqual(
      expect.objectContaining({
        name: 'redis.sentinelPassword',
        inForce: '"***"',
        inFiles: '"***"',
        masked: true,
      }),
    );
    const [human, json] = [await there('config', 'diff'), await there('config', 'diff', '--json')];
    expect(human.out).toMatch(
      /\nsetting +redis\.sentinelPassword +a secret +another secret +file /,
    );
    expect(JSON.parse(json.out)).toEqual(found);
    for (const secret of [FIRST, SECOND])
      expect(`${JSON.stringify(found)}${human.out}${json.out}`).not.toContain(secret);
  });
});

test('files that a reload would refuse are reported with every mistake', async () => {
  const before = await traces();
  write('gateway.yaml', 'cors: { maxAge: soon }\n');
  write('plans.yaml', 'plans:\n  free: { windows: [{ limit: 0, per: minute }] }\n');
  expect(await diff()).toMatchObject({
    status: 422,
    code: 'configuration_unfit',
    message: expect.stringMatching(
      /^A reload would be refused: .*gateway\.yaml:1:.*plans\.yaml:2:/,
    ),
  });
  const { code, err } = await there('config', 'diff');
  expect(code).toBe(1);
  expect(err).toContain('plans.free.windows[0].limit');
  unchanged();
  writeUnnoticed(contractFile, 'openapi: 3.0.3\ninfo: { title: x }\npaths: {}\n');
  expect((await diff()).message).toMatch(/own\.yaml.*version/);
  unchanged();
  expect(await traces()).toEqual(before);
});

test('the gateway of the data folder is found, and a missing one is reported', async () => {
  expect((await here('config', 'diff')).out).toMatch(/^type .*\nsetting +audit\.maxEntries .*\n$/);
  const nowhere = await commandLine(folderOf())(['config', 'diff']);
  expect(nowhere).toMatchObject({
    code: 1,
    err: expect.stringContaining('No gateway is found in '),
  });
});

test('config without an argument still shows every setting, and accepts no other word', async () => {
  expect((await there('config')).out).toMatch(/^name +value +source +restart\n/);
  const { settings } = JSON.parse((await there('config', 'diff', '--json')).out);
  expect(settings).toHaveLength(1);
  expect(await there('config', 'dif')).toMatchObject({ code: 2 });
});

describe('a dry run of a reload', () => {
  test('reports changes and settings that need a restart, and leaves no trace', async () => {
    const { secret } = await gateway.key({ account: 'another' });
    const before = await traces();
    write('gateway.yaml', `${SETTINGS}${MARK}cors: { maxAge: 3m }\n`);
    write('plans.yaml', PLANS.replace('60', '2'));
    writeUnnoticed(contractFile, CONTRACT.replace('createPet', 'addPet'));
    const { status, body } = await admin('POST', '/reload?dryRun=true');
    expect([status, body]).toEqual([
      200,
      {
        changed: ['cors.maxAge', 'plans', 'contract'],
        needRestart: ['audit.maxEntries'],
        contractCopy: null,
      },
    ]);
    for (const { code, out } of [
      await there('reload', '--dry-run'),
      await here('reload', '--dry-run'),
    ]) {
      expect(code).toBe(0);
      expect(out).toBe(
        'A reload would change: cors.maxAge, plans, contract.\nA restart would change: audit.maxEntries.\n',
      );
    }
    const response = await gateway.client.get('/pets').set('X-API-Key', secret);
    expect(response.headers['x-ratelimit-limit']).toBe('60');
    unchanged();
    expect(await traces()).toEqual(before);
    expect((await there('reload', '--dry-run')).out).toMatch(/^A reload would change nothing\.\n/);
  });

  test('is not the default: without the option, the same files take effect', async () => {
    write('gateway.yaml', `${SETTINGS}${MARK}cors: { maxAge: 4m }\n`);
    expect((await admin('POST', '/reload?dryRun=yes')).status).toBe(400);
    expect((await admin('POST', '/reload?dryRun=false')).body.changed).toEqual(['cors.maxAge']);
    unchanged();
    expect((await admin('POST', '/reload')).body.changed).toEqual(['cors.maxAge']);
  });
});
