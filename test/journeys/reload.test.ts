import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type AdminCall, adminOf } from '../support/admin.ts';
import { TestGateway } from '../support/gateway.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { writeUnnoticed } from '../support/unnoticed.ts';
import { until } from '../support/until.ts';
import { get } from '../support/workers.ts';

const plans = (limit: number, more = '') => `plans:
  free: { windows: [{ limit: ${limit}, per: minute }] }
  busy: { windows: [{ limit: 1000000, per: day }] }
${more}`;

/** Small: each reload with a changed contract reads it in a separate process. */
const CONTRACT = `openapi: 3.0.3
info: { title: Pets, version: '1' }
paths:
  /pets:
    get: { operationId: listPets, responses: { default: { description: All pets. } } }
`;

const folder = temporaryFolders({ keep: true });
let settings: string;
let gateway: TestGateway;
let admin: AdminCall;
beforeAll(async () => {
  const contract = join(folder(), 'pets.yaml');
  writeFileSync(contract, CONTRACT);
  settings = `cors: { maxAge: 10m }\ncontract: { file: "${contract}" }\n`;
  gateway = await TestGateway.start({ plans: plans(5), settings });
  admin = adminOf(gateway.adminUrl);
  const { secret } = await gateway.key();
  write('plans.yaml', plans(4));
  write('gateway.yaml', settings);
  await until('the gateway has noticed these files', async () => (await limit(secret)) === '4');
  unchanged();
  await reload();
});
afterAll(() => gateway?.stop());

const file = (name: string) => join(gateway.folder, name);
/** The gateway does not notice this change by itself, so the reload of the test is the only one. */
const write = (name: string, text: string) => writeUnnoticed(file(name), text);
function unchanged(): void {
  write('plans.yaml', plans(5));
  write('gateway.yaml', settings);
}
const reload = () => admin('POST', '/reload');
const pets = (key: string) => get(`${gateway.url}/pets`, { 'X-API-Key': key });
const remaining = async (key: string) => Number((await pets(key)).headers['x-ratelimit-remaining']);
const limit = async (key: string) => (await pets(key)).headers['x-ratelimit-limit'];
const logged = (type: string) => gateway.log.filter(({ msg }) => msg === type);
const exposition = async () => (await gateway.admin.get('/metrics')).text;

describe('a reload', () => {
  afterEach(async () => {
    unchanged();
    await reload();
  });

  test('raises and lowers a limit from the next request on, and keeps the used units', async () => {
    const { secret } = await gateway.key();
    expect(await remaining(secret)).toBe(4);
    write('plans.yaml', plans(10));
    expect((await reload()).body).toEqual({
      changed: ['plans'],
      needRestart: [],
      contractCopy: null,
    });
    expect(await remaining(secret)).toBe(8);
    write('plans.yaml', plans(2));
    await reload();
    expect((await pets(secret)).status).toBe(429);
    expect(await exposition()).toMatch(/storegate_reloads_total\{result="success"\} [2-9]/);
  });

  test('changes nothing if a file is invalid, and every mistake is in the response, in the log and in a metric', async () => {
    const { secret } = await gateway.key();
    write(
      'plans.yaml',
      'plans:\n  free: { windows: [{ limit: 0, per: minute }, { limit: 1, per: aeon }] }\n',
    );
    write('gateway.yaml', 'cors: { maxAge: soon }\n');
    const { status, body } = await reload();
    expect(status).toBe(422);
    for (const place of [
      'gateway.yaml:1:',
      'plans.free.windows[0].limit',
      'plans.free.windows[1].per',
    ])
      expect(body.message).toContain(place);
    expect(body.details).toHaveLength(3);
    // The gateway may also have noticed the files by itself, soon after its start.
    expect(logged('reload.failed')).toContainEqual(
      expect.objectContaining({
        problems: expect.arrayContaining([expect.stringContaining('aeon')]),
      }),
    );
    expect(await exposition()).toMatch(/storegate_reloads_total\{result="failure"\} [1-9]/);
    expect(await remaining(secret)).toBe(4);
  });

  test('is refused if a plan with keys is removed', async () => {
    const { id } = await gateway.key({ plan: 'busy' });
    write('plans.yaml', 'plans:\n  free: { windows: [{ limit: 5, per: minute }] }\n');
    expect((await reload()).body.message).toContain('plan busy is missing, and 1 key has it');
    await admin('DELETE', `/keys/${id}`);
  });

  test('applies another contract, other CORS and APIs at once; settings that need a restart are reported and unchanged', async () => {
    const { secret } = await gateway.key();
    write('other.yaml', CONTRACT.replace('  /pets:\n', '  /animals:\n'));
    write(
      'gateway.yaml',
      'contract: { file: other.yaml }\ncors: { origins: [] }\nhttp: { maxConnections: 7 }\n',
    );
    const { body } = await reload();
    expect(body.changed).toEqual(
      expect.arrayContaining(['contract', 'contract.file', 'cors.origins']),
    );
    expect(body.needRestart).toEqual(['http.maxConnections']);
    expect((await pets(secret)).status).toBe(404);
    const preflight = await gateway.client
      .options('/animals')
      .set({ Origin: 'https://a.example', 'Access-Control-Request-Method': 'GET' });
    expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
    const { settings } = (await admin('GET', '/config')).body;
    const value = (name: string) =>
      settings.find((one: { name: string }) => one.name === name).value;
    expect([value('http.maxConnections'), value('cors.origins')]).toEqual(['10000', '[]']);
  });

  test('fails no concurrent request, and every one is counted', async () => {
    const { secret, id } = await gateway.key({ plan: 'busy' });
    let sent = 0;
    let done = false;
    const statuses = new Set<number>();
    const callers = Array.from({ length: 4 }, async () => {
      for (; !done; await pause(20)) {
        sent++;
        statuses.add((await pets(secret)).status);
      }
    });
    write('gateway.yaml', 'contract: { file: own.yaml }\n');
    for (let i = 0; i < 2; i++) {
      write(
        'plans.yaml',
        plans(5 + i, `accounts: { a${i}: { windows: [{ limit: ${i + 1}, per: hour }] } }\n`),
      );
      write('own.yaml', `${CONTRACT}# ${i}\n`);
      expect((await reload()).status).toBe(200);
    }
    done = true;
    await Promise.all(callers);
    expect([...statuses]).toEqual([200]);
    expect((await admin('GET', `/usage/${id}`)).body.usage[0].windows[0].used).toBe(sent);
  });
});

describe('the gateway detects', () => {
  test('a file that an editor replaces, one that is written, and an invalid one', async () => {
    const { secret } = await gateway.key();
    writeFileSync(file('new'), plans(50));
    renameSync(file('new'), file('plans.yaml'));
    await until('the limit is raised', async () => (await limit(secret)) === '50');
    writeFileSync(file('plans.yaml'), plans(60));
    await until('the limit is raised again', async () => (await limit(secret)) === '60');
    const before = logged('reload.failed').length;
    writeFileSync(file('plans.yaml'), 'plans: []\n');
    await until('it is logged', () => logged('reload.failed').length > before);
    writeFileSync(file('plans.yaml'), plans(70));
    await until('it is fixed', async () => (await limit(secret)) === '70');
  });

  test('a file that the contract refers to, also one that it refers to only since a reload', async () => {
    const { secret } = await gateway.key();
    const refer = (name: string) =>
      CONTRACT.replace('paths:\n', `paths:\n  /more: { $ref: '${name}' }\n`);
    const item = (id: string) =>
      `get: { operationId: ${id}, responses: { '200': { description: Good. } } }\n`;
    const served = async () =>
      (await gateway.client.get('/openapi.json')).body.paths['/more']?.get.operationId;
    const before = logged('reload.failed').length;
    writeFileSync(file('more.yaml'), item('first'));
    writeFileSync(file('referring.yaml'), refer('more.yaml'));
    writeFileSync(file('gateway.yaml'), 'contract: { file: referring.yaml }\n');
    await until('the contract is in force', async () => (await served()) === 'first');
    writeFileSync(file('more.yaml'), item('second'));
    await until('the change is in force', async () => (await served()) === 'second');
    expect((await reload()).body).toEqual({ changed: [], needRestart: [], contractCopy: null });
    writeFileSync(file('more.yaml'), 'get: []\n');
    await until('the mistake is logged', () => logged('reload.failed').length > before);
    expect(JSON.stringify(logged('reload.failed').at(-1))).toContain('more.yaml:1:');
    expect((await pets(secret)).status).toBe(200);
  });
});
