import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestGateway } from '../support/gateway.ts';
import { installPackages } from '../support/packages.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

const root = resolve(import.meta.dirname, '../..');
/** What a program prints, also if it fails. */
const node = (...args: string[]): Promise<string> =>
  new Promise((done) => {
    execFile(process.execPath, args, { cwd: root }, (_error, out, err) => done(out + err));
  });

/** An author who uses a client in TypeScript has a project like this. */
const TSCONFIG = {
  compilerOptions: {
    target: 'esnext',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  },
};

/** Three requests, of which one is not valid. */
const PLANS = 'plans: { three: { windows: [{ limit: 3, per: minute }] } }';

/** Below a path, which generators know from `servers`, or not at all. */
function contractBelow(path: string): string {
  const file = join(root, 'config/openapi.yaml');
  const text = readFileSync(file, 'utf8').replace(
    'servers:\n  - { url: /,',
    `servers:\n  - { url: ${path},`,
  );
  expect(text).toContain(`url: ${path}`);
  return text;
}

describe('clients that generators make from the published contracts', () => {
  let gateway: TestGateway;
  let backend: FakeBackend;
  const folder = mkdtempSync(join(tmpdir(), 'generators-'));
  beforeAll(async () => {
    installPackages(import.meta.dirname);
    const contract = join(folder, 'contract.yaml');
    writeFileSync(contract, contractBelow('/v1'));
    backend = await fakeBackend(({ method }, response) => {
      response
        .writeHead(method === 'POST' ? 201 : 200, { 'Content-Type': 'application/json' })
        .end(method === 'POST' ? '{"id":1,"name":"Rex"}' : '[]');
    });
    gateway = await TestGateway.start({
      plans: PLANS,
      backendUrl: backend.url,
      settings: JSON.stringify({ contract: { file: contract } }),
    });
    await save('api.json', gateway.url);
    await save('admin.json', gateway.adminUrl);
    cpSync(join(import.meta.dirname, 'programs'), folder, { recursive: true });
    symlinkSync(join(import.meta.dirname, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
    expect(await node(join(import.meta.dirname, 'generate.js'), folder)).toBe('');
  });
  afterAll(async () => {
    await gateway.stop();
    await backend.close();
    rmSync(folder, { recursive: true });
  });

  async function save(name: string, url: string): Promise<void> {
    const response = await fetch(`${url}/openapi.json`);
    writeFileSync(join(folder, name), await response.text());
  }

  test('have types that fit the programs, also of every refusal, and refuse a wrong body', async () => {
    expect(await node('node_modules/typescript/bin/tsc', '-p', folder)).toBe('');
  });

  test.each(['openapi-fetch', 'hey-api'])(
    '%s calls the gateway and its admin API',
    async (name) => {
      const program = join(folder, `${name}.ts`);
      const printed = await node(program, gateway.url, gateway.adminUrl, 'three');
      expect(JSON.parse(printed)).toEqual({
        created: 201,
        read: [200, expect.any(Number)],
        added: [201, 'Rex'],
        refused: [400, 'required'],
        limited: [429, 'rate_limit_exceeded'],
        usage: [200, 'three'],
        invalid: [400, 'format'],
      });
    },
  );
});
