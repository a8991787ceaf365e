import { execFileSync } from 'node:child_process';
import { chownSync, cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { type Container, Network } from './containers.ts';
import { buildImage, type Image } from './image.ts';

const project = resolve(import.meta.dirname, '../..');
const temporary = temporaryFolders({ keep: true });
const data = join(temporary(), 'data');
const config = join(temporary(), 'config');

let image: Image;
let network: Network;
beforeAll(() => {
  image = buildImage();
  network = new Network(temporary());
  mkdirSync(data);
  cpSync(join(image.tree, 'config'), config, { recursive: true });
  for (const folder of [data, config]) chownSync(folder, image.user, image.user);
}, 900_000);
afterAll(async () => {
  await network?.close();
  image?.remove();
});

/** With the volumes of README's `docker run`. */
const start = (name: string, env: Readonly<Record<string, string>> = {}): Promise<Container> =>
  network.start({
    name,
    tree: image.tree,
    env: { ...image.env, ...env },
    command: [...image.entrypoint, ...image.command],
    user: image.user,
    folder: image.folder,
    mounts: { '/data': data, '/config': config },
  });

const untilHealthy = (container: Container) =>
  until('the health check passes', () => container.run(image.healthcheck).status === 0);

const newKey = (container: Container) =>
  container
    .run(['storegate', 'keys', 'create', '--plan', 'free', '--account', 'acme', '--key-only'])
    .out.trim();

const get = (container: Container, key: string) =>
  fetch(`http://${container.address}:8080/pets`, { headers: { 'X-API-Key': key } });

test('names its version and license', () => {
  const { version, license } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  expect(image.labels).toMatchObject({
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.licenses': license,
  });
  const files = JSON.parse(readFileSync(join(image.tree, 'app/sbom.cdx.json'), 'utf8'));
  expect(files.metadata.component).toMatchObject({ name: 'storegate', version });
});

test('has nothing that its user could change but data and settings', () => {
  const writable = [
    '-xdev',
    '(',
    '-user',
    `${image.user}`,
    '-o',
    '-perm',
    '-o+w',
    ')',
    '-not',
    '-type',
    'l',
  ];
  const found = execFileSync('find', [image.tree, ...writable], { encoding: 'utf8' })
    .trim()
    .split('\n');
  const places = found.map((path) => path.slice(image.tree.length));
  const allowed = /^\/(?:data|config|tmp|var\/tmp|run\/lock|home\/node|dev)(?:\/|$)/;
  expect(places.filter((place) => !allowed.test(place))).toEqual([]);
});

test('serves on a read-only root, keeps its data over a restart', async () => {
  const first = await start('first');
  await untilHealthy(first);
  expect(first.run(['touch', '/app/file'], 0)).toMatchObject({
    status: 1,
    out: expect.stringContaining('Read-only'),
  });
  const key = newKey(first);
  const response = await get(first, key);
  expect([response.status, response.headers.get('x-ratelimit-remaining')]).toEqual([200, '59']);
  first.signal('SIGTERM');
  expect(await first.exit).toBe(0);

  const second = await start('second');
  await untilHealthy(second);
  expect((await get(second, key)).status).toBe(200);
  second.signal('SIGTERM');
  expect(await second.exit).toBe(0);
});

test('a stop finishes the request in flight', async () => {
  const backend = await network.backend();
  const container = await start('third', { BACKEND_URL: backend.url, STOREGATE_CONTRACT: 'none' });
  await untilHealthy(container);
  const key = newKey(container);
  const response = get(container, key);
  await until('the request arrives', () => backend.held.length === 1);
  container.signal('SIGTERM');
  await until('the port closes', () => container.run(image.healthcheck).status !== 0);
  backend.held[0]!.end('late');
  expect(await (await response).text()).toBe('late');
  expect(await container.exit).toBe(0);
  await backend.close();
});
