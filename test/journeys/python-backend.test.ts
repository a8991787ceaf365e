import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { json as readJson } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { copyOf } from '../../src/run/contracts/remote.ts';
import { adminOf } from '../support/admin.ts';
import { commandLine } from '../support/command-line.ts';
import { TestGateway } from '../support/gateway.ts';
import { type PythonBackend, pythonBackend } from '../support/python-backend.ts';
import { temporaryFolders } from '../support/temporary.ts';

const operation = (id: string, more = '') =>
  `{ operationId: ${id}, ${more}responses: { default: { description: Any. } } }`;
const BODY =
  'requestBody: { required: true, content: { application/json: { schema: { type: object, required: [name] } } } }, ';
const documentWith = (paths: string) => `
openapi: 3.1.0
info: { title: Pets, version: '1' }
servers: [{ url: https://pets.example/v1 }, { url: /v1/ }]
paths:
  /pets: { get: ${operation('listPets')}, post: ${operation('createPet', BODY)} }
${paths}`;

const PLANS = `plans:
  free: { windows: [{ limit: 60, per: minute }] }
  pro: { windows: [{ limit: 600, per: minute }] }
`;

const folder = temporaryFolders({ keep: true })();
const file = join(folder, 'openapi.yaml');
let backend: PythonBackend;
beforeAll(async () => {
  writeFileSync(file, documentWith(''));
  backend = await pythonBackend(folder, '/v1');
});
afterAll(() => backend?.stop());

interface Init {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}
interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}
type Ask = (path: string, init?: Init) => Promise<Reply>;

async function asker(gateway: TestGateway): Promise<Ask> {
  const { secret } = await gateway.key({ plan: 'pro' });
  return async (path, { method = 'GET', body, headers: more } = {}) => {
    const length = body === undefined ? {} : { 'Content-Length': `${Buffer.byteLength(body)}` };
    const headers = { 'X-API-Key': secret, ...length, ...more };
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    // Other clients normalize the path.
    request(gateway.url, { path, method, headers, agent: false })
      .once('response', resolve)
      .once('error', reject)
      .end(body);
    const response = await promise;
    return { status: response.statusCode!, body: (await readJson(response)) as Reply['body'] };
  };
}

const json = { method: 'POST', headers: { 'Content-Type': 'application/json' } };

async function statusText({ folder, adminUrl }: TestGateway): Promise<string> {
  return (await commandLine(folder)(['status'], { env: { STOREGATE_ADMIN_URL: adminUrl } })).out;
}

describe('a contract at a URL with the prefix /v1', () => {
  let gateway: TestGateway;
  let ask: Ask;
  beforeAll(async () => {
    gateway = await TestGateway.start({
      backendUrl: `${backend.url}/v1/`,
      plans: PLANS,
      env: { STOREGATE_CONTRACT: `${backend.url}/openapi.yaml` },
    });
    ask = await asker(gateway);
  });
  afterAll(() => gateway?.stop());

  const reload = () => adminOf(gateway.adminUrl)('POST', '/reload');
  const copyFile = () => copyOf(join(gateway.folder, 'data'), `${backend.url}/openapi.yaml`);
  const copied = () => JSON.parse(readFileSync(copyFile(), 'utf8')).text;
  const inUse = () => gateway.log.filter(({ msg }) => msg === 'contract.copy_in_use');

  test('has requests validated, which reach the backend below /v1, once', async () => {
    for (const path of ['/pets', '/v1/v1/pets', '/v1%2Fpets'])
      expect([400, 404]).toContain((await ask(path)).status);
    expect(await ask('/v1/pets')).toMatchObject({ status: 200, body: { path: '/v1/pets' } });
    expect(await ask('/v1/pets', { ...json, body: '{"name":1}' })).toMatchObject({
      status: 200,
      body: { method: 'POST', path: '/v1/pets', body: '{"name":1}' },
    });
    expect(await ask('/v1/pets', { ...json, body: '{}' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
  });

  test('has a copy, which a reload replaces', async () => {
    expect(copied()).toBe(documentWith(''));
    writeFileSync(file, documentWith(`  /toys: { get: ${operation('listToys')} }`));
    expect((await ask('/v1/toys')).status).toBe(404);
    expect((await reload()).body).toMatchObject({ changed: ['contract'] });
    expect((await ask('/v1/toys')).status).toBe(200);
    expect(copied()).toContain('listToys');
  });

  test('keeps its copy if the reload is refused, and a comparison does not write it', async () => {
    const before = copied();
    writeFileSync(
      file,
      documentWith(`  /toys: { get: ${operation('listToys', 'x-storegate-upstream: stock, ')} }`),
    );
    expect((await reload()).status).toBe(422);
    writeFileSync(file, documentWith(`  /games: { get: ${operation('listGames')} }`));
    expect((await adminOf(gateway.adminUrl)('GET', '/config/diff')).status).toBe(200);
    expect(copied()).toBe(before);
    expect((await ask('/v1/toys')).status).toBe(200);
  });

  describe('while the URL is unreachable', () => {
    const reason = 'cannot be fetched: status 404';
    const contractCopy = { fetched: expect.stringMatching(/^\d{4}-/), reason };
    const shown = async () =>
      (await adminOf(gateway.adminUrl)('GET', '/status')).body.gateways[0].configuration;
    const cli = (...args: string[]) =>
      commandLine(gateway.folder)(args, { env: { STOREGATE_ADMIN_URL: gateway.adminUrl } });

    test('its copy is in use after a reload, which reports it', async () => {
      expect((await shown()).contractCopy).toBeNull();
      renameSync(file, `${file}.old`);
      const dry = await cli('reload', '--dry-run');
      expect(dry.out).toContain(`The gateway uses a copy of the contract from `);
      expect(inUse()).toEqual([]);
      const { status, body } = await reload();
      expect([status, body]).toEqual([200, { changed: [], needRestart: [], contractCopy }]);
      expect(inUse()).toEqual([
        expect.objectContaining({
          url: `${backend.url}/openapi.yaml`,
          fetched: contractCopy.fetched,
          reason,
        }),
      ]);
      expect((await shown()).contractCopy).toEqual(contractCopy);
      expect(await statusText(gateway)).toMatch(/^Degraded since .*: The contract is a copy, /);
      expect((await cli('reload')).out).toMatch(
        /^Nothing changed\.\nThe gateway uses a copy of the contract from \S+: the URL cannot be fetched: status 404\.\n$/,
      );
      expect((await ask('/v1/toys')).status).toBe(200);
    });

    test('its copy is in use after a start', async () => {
      gateway.log.length = 0;
      await gateway.close();
      await gateway.open();
      expect((await ask('/v1/toys')).status).toBe(200);
      expect(inUse()).toEqual([expect.objectContaining({ reason })]);
      expect((await shown()).contractCopy).toEqual(contractCopy);
    });

    test('its copy is given up by the next reload that reaches the URL', async () => {
      renameSync(`${file}.old`, file);
      const { body } = await reload();
      expect(body).toMatchObject({
        changed: expect.arrayContaining(['contract']),
        contractCopy: null,
      });
      expect((await shown()).contractCopy).toBeNull();
      expect(await statusText(gateway)).not.toContain('copy');
      expect((await ask('/v1/games')).status).toBe(200);
    });
  });
});
