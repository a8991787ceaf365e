import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type AdminCall, adminOf } from '../support/admin.ts';
import { commandLine } from '../support/command-line.ts';
import { TestGateway } from '../support/gateway.ts';
import { temporaryFolders } from '../support/temporary.ts';

const MAIN = `openapi: 3.0.3
info: { title: Pets, version: '1' }
paths:
  /ok: { get: { operationId: ok, responses: { default: { description: Any. } } } }
  /pets:
    $ref: paths/other.yaml
`;
const OTHER = 'get: { operationId: pets, responses: { default: { description: Any. } } }\n';

const folders = temporaryFolders({ keep: true });
let file: string;
let other: string;
let settings: string;
let gateway: TestGateway;
let admin: AdminCall;
let secret: string;

beforeAll(async () => {
  const folder = folders();
  mkdirSync(join(folder, 'paths'));
  file = join(folder, 'openapi.yaml');
  other = join(folder, 'paths/other.yaml');
  settings = `contract: { file: "${file}" }\n`;
  writeFileSync(file, MAIN);
  writeFileSync(other, OTHER);
  gateway = await TestGateway.start({ settings });
  admin = adminOf(gateway.adminUrl);
  ({ secret } = await gateway.key());
});
afterAll(() => gateway?.stop());
beforeEach(() => writeFileSync(other, OTHER));

const statusOf = async (path: string) =>
  (await gateway.client.get(path).set('X-API-Key', secret)).status;

test.each<[what: string, change: () => void, message: RegExp]>([
  ['is missing', () => rmSync(other), /cannot be read \(ENOENT\)/],
  ['is empty', () => writeFileSync(other, ''), /paths\/other\.yaml is empty/],
  ['ends early', () => writeFileSync(other, OTHER.slice(0, 30)), /Flow map/],
])(
  'a contract whose file of a path %s is refused by a start, by a reload and by check',
  async (_what, change, message) => {
    expect(await statusOf('/pets')).toBe(200);
    change();
    const reload = await admin('POST', '/reload');
    expect(reload.status).toBe(422);
    expect(JSON.stringify(reload.body)).toMatch(message);
    expect(await statusOf('/pets')).toBe(200);
    const check = await commandLine(gateway.folder)(['check'], {
      env: { STOREGATE_CONFIG: 'gateway.yaml' },
    });
    expect(check.code).toBe(1);
    expect(check.err).toMatch(message);
    expect(check.err).toMatch(/(?:openapi|other)\.yaml:\d+:\d+/);
    await expect(TestGateway.start({ settings, backendUrl: 'http://127.0.0.1:9' })).rejects.toThrow(
      message,
    );
  },
);
