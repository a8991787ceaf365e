import { spawnSync } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { shippedFiles } from '../../src/config/load.ts';
import { program } from '../runner/programs.ts';
import { type AdminCall, adminOf } from '../support/admin.ts';
import { TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';

const plans = (limit: number, more = '') => `plans:
  free: { windows: [{ limit: ${limit}, per: minute }] }
  busy: { windows: [{ limit: 1000000, per: day }] }
${more}`;

let gateway: TestGateway;
let admin: AdminCall;
beforeEach(async () => {
  gateway = await TestGateway.start({ plans: plans(5), settings: 'cors: { maxAge: 10m }\n' });
  admin = adminOf(gateway.adminUrl);
});
afterEach(() => gateway.stop());

const file = (name: string) => join(gateway.folder, name);
const pets = (key: string) => gateway.client.get('/pets').set('X-API-Key', key);
const remaining = async (key: string) => Number((await pets(key)).headers['x-ratelimit-remaining']);
const told = (type: string) => gateway.log.filter(({ msg }) => msg === type);

test('a raised and a lowered limit hold from the next request, and what was used stays used', async () => {
  const { secret } = await gateway.key();
  expect(await remaining(secret)).toBe(4);
  writeFileSync(file('plans.yaml'), plans(10));
  expect((await admin('POST', '/reload')).body).toEqual({ changed: ['plans'], needRestart: [] });
  expect(await remaining(secret)).toBe(8);
  writeFileSync(file('plans.yaml'), plans(2));
  await admin('POST', '/reload');
  expect((await pets(secret)).status).toBe(429);
  expect((await gateway.admin.get('/metrics')).text).toMatch(/storegate_reloads_total\{result="done"\} [2-9]/);
});

test('a file that an editor replaces is noticed, and so is one that is written', async () => {
  const { secret } = await gateway.key();
  writeFileSync(file('new'), plans(50));
  renameSync(file('new'), file('plans.yaml'));
  await until('the limit is raised', async () => (await pets(secret)).headers['x-ratelimit-limit'] === '50');
  writeFileSync(file('plans.yaml'), plans(60));
  await until('the limit is raised again', async () => (await pets(secret)).headers['x-ratelimit-limit'] === '60');
});

test('a file that the contract refers to is noticed too, also one that it refers to only since a reload', async () => {
  const { secret } = await gateway.key();
  const main = readFileSync(shippedFiles.contract, 'utf8');
  const refer = (name: string) => main.replace('paths:\n', `paths:\n  /more: { $ref: '${name}' }\n`);
  const item = (id: string) => `get: { operationId: ${id}, responses: { '200': { description: Good. } } }\n`;
  const served = async () => (await gateway.client.get('/openapi.json')).body.paths['/more']?.get.operationId;
  writeFileSync(file('more.yaml'), item('first'));
  writeFileSync(file('own.yaml'), refer('more.yaml'));
  writeFileSync(file('gateway.yaml'), 'contract: { file: own.yaml }\n');
  await until('the contract is in force', async () => (await served()) === 'first');
  writeFileSync(file('more.yaml'), item('second'));
  await until('the change is in force', async () => (await served()) === 'second');
  expect((await admin('POST', '/reload')).body).toEqual({ changed: [], needRestart: [] });
  writeFileSync(file('more.yaml'), 'get: []\n');
  await until('the log tells the mistake', () => told('reload.refused').length > 0);
  expect(JSON.stringify(told('reload.refused')[0])).toContain('more.yaml:1:');
  expect((await pets(secret)).status).toBe(200);
});

test('a ban outlives a reload', async () => {
  const { secret, id } = await gateway.key();
  await admin('PUT', `/bans/${id}`, { length: '1h', reason: 'test' });
  writeFileSync(file('plans.yaml'), plans(100));
  await admin('POST', '/reload');
  expect((await pets(secret)).status).toBe(403);
});

describe('a bad file changes nothing and every mistake is told', () => {
  test('to who asks, in the log and in a metric', async () => {
    const { secret } = await gateway.key();
    writeFileSync(
      file('plans.yaml'),
      'plans:\n  free: { windows: [{ limit: 0, per: minute }, { limit: 1, per: aeon }] }\n',
    );
    writeFileSync(file('gateway.yaml'), 'cors: { maxAge: soon }\n');
    const { status, body } = await admin('POST', '/reload');
    expect(status).toBe(422);
    for (const place of ['gateway.yaml:1:', 'plans.free.windows[0].limit', 'plans.free.windows[1].per'])
      expect(body.message).toContain(place);
    expect(body.details).toHaveLength(3);
    expect(told('reload.refused')[0]).toMatchObject({
      problems: expect.arrayContaining([expect.stringContaining('aeon')]),
    });
    expect((await gateway.admin.get('/metrics')).text).toMatch(/storegate_reloads_total\{result="refused"\} [12]/);
    expect(await remaining(secret)).toBe(4);
  });

  test('when it is noticed by itself', async () => {
    writeFileSync(file('plans.yaml'), 'plans: []\n');
    await until('the log tells it', () => told('reload.refused').length > 0);
  });

  test('when a plan is gone that keys still have', async () => {
    await gateway.key({ plan: 'busy' });
    writeFileSync(file('plans.yaml'), 'plans:\n  free: { windows: [{ limit: 5, per: minute }] }\n');
    expect((await admin('POST', '/reload')).body.message).toContain('plan busy is missing, and 1 key has it');
  });

  test('when it is the contract', async () => {
    const { secret } = await gateway.key();
    writeFileSync(file('bad.yaml'), 'openapi: 3.0.3\ninfo: { title: x }\npaths: {}\n');
    writeFileSync(file('gateway.yaml'), 'contract: { file: bad.yaml }\n');
    expect((await admin('POST', '/reload')).body.message).toMatch(/bad\.yaml.*version/);
    expect((await pets(secret)).status).toBe(200);
  });
});

test('another contract, other CORS and mounts are in force at once; what needs a restart says so and stays', async () => {
  const { secret } = await gateway.key();
  const contract = readFileSync(shippedFiles.contract, 'utf8').replace('  /pets:\n', '  /animals:\n');
  writeFileSync(file('other.yaml'), contract);
  writeFileSync(
    file('gateway.yaml'),
    'contract: { file: other.yaml }\ncors: { origins: [] }\ndoor: { maxConnections: 7 }\n',
  );
  const { body } = await admin('POST', '/reload');
  expect(body.changed).toEqual(expect.arrayContaining(['contract', 'contract.file', 'cors.origins']));
  expect(body.needRestart).toEqual(['door.maxConnections']);
  expect((await pets(secret)).status).toBe(404);
  const preflight = await gateway.client
    .options('/animals')
    .set({ Origin: 'https://a.example', 'Access-Control-Request-Method': 'GET' });
  expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
  const { settings } = (await admin('GET', '/config')).body;
  const value = (name: string) => settings.find((one: { name: string }) => one.name === name).value;
  expect([value('door.maxConnections'), value('cors.origins')]).toEqual(['10000', '[]']);
});

test('under load no request fails and every one is counted', async () => {
  const { secret, id } = await gateway.key({ plan: 'busy' });
  let sent = 0;
  let done = false;
  const statuses = new Set<number>();
  const callers = Array.from({ length: 4 }, async () => {
    while (!done) {
      sent++;
      statuses.add((await pets(secret)).status);
    }
  });
  const contract = readFileSync(shippedFiles.contract, 'utf8');
  writeFileSync(file('gateway.yaml'), 'contract: { file: own.yaml }\n');
  for (let i = 0; i < 5; i++) {
    writeFileSync(
      file('plans.yaml'),
      plans(5 + i, `accounts: { a${i}: { windows: [{ limit: ${i + 1}, per: hour }] } }\n`),
    );
    writeFileSync(file('own.yaml'), `${contract}# ${i}\n`);
    expect((await admin('POST', '/reload')).status).toBe(200);
  }
  done = true;
  await Promise.all(callers);
  expect([...statuses]).toEqual([200]);
  expect((await admin('GET', `/usage/${id}`)).body.usage[0].windows[0].used).toBe(sent);
});

test('a stop ends the reading of a contract', async () => {
  const item = { get: { responses: { 200: { description: 'Done.' } } } };
  const paths = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`/p${i}`, item]));
  writeFileSync(file('large.json'), JSON.stringify({ openapi: '3.0.3', info: { title: 'x', version: '1' }, paths }));
  writeFileSync(file('gateway.yaml'), 'contract: { file: large.json }\n');
  // A thread starts the process, so Node's list of what is active here does not have it.
  const isReading = () =>
    spawnSync(program('pgrep'), ['-P', `${process.pid}`, '-f', 'contracts/reader.ts']).status === 0;
  await until('the contract is being read', isReading);
  await gateway.close();
  await until('nothing is read any more', () => told('reload.refused').length > 0 && !isReading());
  expect(told('reload.refused').map(({ problems }) => problems)).toEqual([['the gateway is stopping']]);
});
