import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { readVersion } from '../../src/common/version.ts';
import { isDeep } from '../runner/fast-check.ts';
import { Collector } from '../support/collector.ts';
import { DEPENDENCIES } from '../support/dependencies.ts';
import { freePort } from '../support/free-port.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

const project = resolve(import.meta.dirname, '../..');
const temporary = temporaryFolders({ keep: true });
const builds = temporary();
const tarball = join(builds, `storegate-${readVersion()}.tgz`);

let redis: RedisServer;
let backend: FakeBackend;
let collector: Collector;
beforeAll(async () => {
  execFileSync(process.execPath, [join(project, 'scripts/pack.ts'), builds], { stdio: 'pipe' });
  redis = await startRedis();
  backend = await fakeBackend((request, response) =>
    response.end(`from the backend: ${request.url}`),
  );
  collector = await Collector.start();
});
afterAll(async () => {
  await collector.close();
  await backend.close();
  await redis.stop();
});

test('every link and picture of its pages leads to a file of the package', () => {
  const folder = join(builds, 'package');
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.md') && !file.startsWith('node_modules'),
  );
  expect(pages).toEqual(
    expect.arrayContaining(['README.md', 'CHANGELOG.md', join('docs', 'configuration.md')]),
  );
  const LINK = /\]\((?!https?:|#)([^)\s#]+)|(?:src|srcset)="(?!https?:)([^"]+)"/g;
  const dead = pages.flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(LINK)]
      .map(([, link, source]) => link ?? source!)
      .filter((to) => !existsSync(join(folder, dirname(file), to)))
      .map((to) => `${file}: ${to}`),
  );
  expect(dead).toEqual([]);
});

test('its program can be started without npm, as the image does', () => {
  expect(statSync(join(builds, 'package/dist/main.js')).mode & 0o111).toBe(0o111);
});

test('every file that it copies is in the context of the image, which packs it too', () => {
  const rules = readFileSync(join(project, '.dockerignore'), 'utf8').trim().split('\n');
  const isIn = (file: string) => {
    const last = rules.findLast((rule) => {
      const pattern = rule.replace('!', '').split('*').map(RegExp.escape).join('[^/]*');
      return new RegExp(`^${pattern}(?:/|$)`).test(file);
    });
    return last?.startsWith('!') ?? true;
  };
  const files = readdirSync(join(builds, 'package'), { recursive: true, encoding: 'utf8' });
  const copied = files.filter(
    (file) => !/^(?:node_modules|dist)\b/.test(file) && existsSync(join(project, file)),
  );
  expect(copied).toEqual(expect.arrayContaining(['README.md', 'docs/README.md', 'plans.yaml']));
  const folders = new Set(copied.map((file) => dirname(file)));
  expect(copied.filter((file) => !folders.has(file) && !isIn(file))).toEqual([]);
});

/** The oldest supported version comes from the registry. */
const versions = isDeep ? ['this version', '22.18'] : ['this version'];

describe.each(versions)('installed with Node.js: %s', (version) => {
  let folder: string;
  let path: string;
  let adminUrl: string;
  let stop: () => Promise<void> = async () => {};
  beforeAll(() => {
    path = `${dirname(version === 'this version' ? process.execPath : nodeOf(version))}${delimiter}${process.env.PATH}`;
    folder = temporary();
    writeFileSync(join(folder, 'package.json'), '{}');
    const options = ['--offline', '--no-audit', '--no-fund', '--silent'];
    execFileSync('npm', ['install', ...options, tarball], {
      cwd: folder,
      env: { ...process.env, PATH: path },
    });
  });
  afterEach(() => stop());

  const command = (...args: string[]) => {
    const bin = join(folder, 'node_modules/.bin/storegate');
    return spawnSync(bin, args, { cwd: folder, env: { PATH: path }, encoding: 'utf8' });
  };

  /** Returns the address. Settings are those of the folder. */
  async function start(env: Readonly<Record<string, string>> = {}): Promise<string> {
    const bin = join(folder, 'node_modules/.bin/storegate');
    const ports = {
      STOREGATE_PORT: `${await freePort()}`,
      STOREGATE_ADMIN_PORT: `${await freePort()}`,
    };
    const child = spawn(bin, [], {
      cwd: folder,
      env: { PATH: path, STOREGATE_HOST: '127.0.0.1', ...ports, ...env },
    });
    const exit = once(child, 'close');
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => (output += data));
    stop = async () => {
      child.kill('SIGTERM');
      expect(await exit).toEqual([0, null]);
      stop = async () => {};
    };
    await until(
      'the gateway starts',
      () => output.includes('"msg":"started"') || child.exitCode !== null,
    );
    expect(output).toContain('"msg":"started"');
    adminUrl = `http://127.0.0.1:${ports.STOREGATE_ADMIN_PORT}`;
    return `http://127.0.0.1:${ports.STOREGATE_PORT}`;
  }

  const key = () =>
    command('keys', 'create', '--plan', 'free', '--account', 'acme', '--key-only').stdout.trim();

  const get = (url: string, secret: string) => fetch(url, { headers: { 'X-API-Key': secret } });

  test('brings no other package', () => {
    expect(
      readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.')),
    ).toEqual(['storegate']);
  });

  test('without a command it serves the demo store, the reference and the console, with data in the folder', async () => {
    const url = await start();
    const response = await get(`${url}/pets`, key());
    expect([response.status, await response.json()]).toEqual([200, expect.anything()]);
    expect(response.headers.get('x-ratelimit-remaining')).toBe('59');
    expect(existsSync(join(folder, 'data'))).toBe(true);
    for (const page of [`${url}/docs/`, `${adminUrl}/console/`]) {
      const html = await (await fetch(page)).text();
      const files = [...html.matchAll(/(?:href|src)="(\/[^"]+\.(?:css|ts|js|mjs|svg))"/g)].map(
        ([, file]) => file!,
      );
      expect(files.length).toBeGreaterThan(5);
      for (const file of files) {
        const response = await fetch(new URL(file, page));
        // An unread body keeps its connection open.
        expect([file, response.status, (await response.bytes()).length > 0]).toEqual([
          file,
          200,
          true,
        ]);
      }
    }
  });

  test('starts workers, reads another contract in a process, sends spans, proxies to a target', async () => {
    const contract = join(folder, 'openapi.yaml');
    cpSync(join(project, 'config/openapi.yaml'), contract);
    const settings = {
      workers: 2,
      redis: { url: redis.url },
      contract: { file: contract },
      apis: [
        { name: 'files', path: '/files', contract: 'none', stripPath: false, target: backend.url },
      ],
    };
    writeFileSync(join(folder, 'gateway.yaml'), JSON.stringify(settings));
    const url = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const secret = key();
    expect(await (await get(`${url}/files/a`, secret)).text()).toBe('from the backend: /files/a');
    await until('spans come', () => collector.spans.length > 0);

    writeFileSync(
      contract,
      readFileSync(contract, 'utf8').replace(/^ {2}title: .*$/m, '  title: Another backend'),
    );
    // The watcher may be first.
    const { stderr, status } = command('--url', adminUrl, 'reload');
    expect([stderr, status]).toEqual(['', 0]);
    expect(await (await fetch(`${url}/openapi.json`)).json()).toMatchObject({
      info: { title: 'Another backend' },
    });
  });
});

test('lists each bundled package with its license', () => {
  const installed = join(builds, 'package');
  const { components } = JSON.parse(readFileSync(join(installed, 'sbom.cdx.json'), 'utf8'));
  const texts = readFileSync(join(installed, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
  const names = components.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining([...DEPENDENCIES]));
  for (const { name, version } of components) expect(texts).toContain(`## ${name} ${version}\n`);
});

function nodeOf(version: string): string {
  const folder = temporary();
  writeFileSync(join(folder, 'package.json'), '{}');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', `node@${version}`], {
    cwd: folder,
  });
  return join(folder, 'node_modules/node/bin/node');
}
