import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestGateway } from '../support/gateway.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { get } from '../support/workers.ts';
import {
  type Deployment,
  EXAMPLE,
  kubernetes,
  type Monitor,
  specOf,
} from './kubernetes/manifests.ts';

const folder = temporaryFolders({ keep: true });
let mount: string;
let gateway: TestGateway;
let versions = 0;

/**
 * Writes a ConfigMap as kubelet does: links to `..data`, which is itself a link to the folder of a
 * version. A change makes a new folder and replaces that one link.
 */
function write(files: Readonly<Record<string, string>>): void {
  const version = `..version_${++versions}`;
  const before = readdirSync(mount).find((name) => name.startsWith('..version_'));
  mkdirSync(join(mount, version));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(mount, version, name), text);
  symlinkSync(version, join(mount, '..data_tmp'));
  renameSync(join(mount, '..data_tmp'), join(mount, '..data'));
  if (before === undefined)
    for (const name of Object.keys(files)) symlinkSync(`..data/${name}`, join(mount, name));
  else rmSync(join(mount, before), { recursive: true });
}

const example = (name: string) =>
  readFileSync(join(kubernetes, EXAMPLE, name), 'utf8').replaceAll('/config/', `${mount}/`);
const files = () =>
  Object.fromEntries(
    ['gateway.yaml', 'plans.yaml', 'openapi.yaml'].map((name) => [name, example(name)]),
  );

beforeAll(async () => {
  mount = folder();
  write(files());
  const env = {
    STOREGATE_CONFIG: join(mount, 'gateway.yaml'),
    STOREGATE_PLANS: join(mount, 'plans.yaml'),
  };
  gateway = await TestGateway.start({ env, backendUrl: 'http://127.0.0.1:9' });
});
afterAll(() => gateway?.stop());

const orders = (secret: string, path = '/orders') =>
  get(`${gateway.url}${path}`, { 'X-API-Key': secret });
const reloads = () => gateway.log.filter(({ msg }) => String(msg).startsWith('reload'));

test('a change of the ConfigMap is one reload of all its files', async () => {
  const { secret } = await gateway.key();
  expect((await orders(secret, '/invoices')).status).toBe(404);
  const { 'plans.yaml': plans, 'openapi.yaml': contract, ...others } = files();
  // The sizes stay.
  write({
    ...others,
    'plans.yaml': plans!.replace('limit: 60,', 'limit: 61,'),
    'openapi.yaml': contract!.replace('/orders', '/trades'),
  });
  await until('the plans have changed', () => reloads().length > 0);
  expect((await orders(secret)).headers['x-ratelimit-limit']).toBe('61');
  expect((await orders(secret, '/orders')).status).toBe(404);
  expect((await orders(secret, '/trades')).status).toBe(502);
  expect(reloads()).toHaveLength(1);
});

test('a mistake in the ConfigMap changes nothing', async () => {
  const { secret } = await gateway.key();
  write({ ...files(), 'plans.yaml': 'plans: {}\n' });
  await until('the gateway has refused it', async () =>
    reloads().some(({ msg }) => msg === 'reload.failed'),
  );
  expect((await orders(secret)).headers['x-ratelimit-limit']).toBe('61');
});

test('the gateway has the paths of the probes and of the scrape', async () => {
  const { template } = specOf<Deployment>('Deployment');
  const { endpoints } = specOf<Monitor>('ServiceMonitor');
  const { startupProbe, livenessProbe, readinessProbe } = template.spec.containers[0];
  const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path);
  for (const path of [...paths, endpoints[0].path])
    expect([path, (await get(gateway.adminUrl + path)).status]).toEqual([path, 200]);
});
