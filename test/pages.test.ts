import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { adminOperations, adminTypes } from '../scripts/admin-types.ts';
import { cliReference } from '../scripts/docs/command-line.ts';
import { PAGES } from '../scripts/docs.ts';
import { RESPONSE_HEADERS } from '../scripts/formats.ts';
import { CATALOGUE } from '../src/common/errors/catalogue.ts';
import { environmentVariables } from '../src/config/environment.ts';
import { settingsOf } from '../src/config/settings.ts';
import { DEPENDENCIES } from './support/dependencies.ts';
import { folderRows } from './support/folder-rows.ts';
import { anchorOf } from './support/headings.ts';

const root = resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

function leads(folder: string, from: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? from : join(folder, path);
  if (!existsSync(join(root, file))) return false;
  return (
    anchor === undefined ||
    [...read(file).matchAll(/^#+ (.+)$/gm)].some(([, heading]) => anchorOf(heading!) === anchor)
  );
}

function foldersOf(folder: string): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder.replace(/\/$/, '')}/${name}/`);
}

describe('pages', () => {
  test('CHANGELOG.md has each entry once in a release', () => {
    for (const release of read('CHANGELOG.md').split(/^## /m)) {
      const entries = [...release.matchAll(/^- \*\*(.+?)\*\*/gm)].map(([, name]) => name);
      expect(entries).toEqual([...new Set(entries)]);
    }
  });

  test.each(Object.keys(PAGES))('%s is as its sources say (npm run docs writes it)', (page) => {
    const text = read(page);
    expect(text).toBe(PAGES[page]!(text));
  });

  test.each(['README.md', 'docs/performance.md'])('%s names the source of each figure', (page) => {
    const measured = /\d (?:µs|ms|s of CPU|bytes|[KMG]i?B|×)|[\d,]{5,} (?:\w+ )*per second/g;
    const bodies = /200 bytes|[\d.]+ MB (?:of JSON|each)/g;
    expect(read(page).replace(bodies, '').match(measured)).toBeNull();
  });

  test.each(['README.md', 'docs/performance.md'])('%s explains its marked figures', (page) => {
    const explanation = '\\* without a line of the log per request.';
    expect(read(page).includes(explanation)).toBe(read(page).includes(' \\*<!-- '));
  });

  test('the types of the admin API match its contract (npm run generate writes them)', () => {
    const folder = 'packages/admin-api/src/generated';
    expect(read(`${folder}/types.ts`)).toBe(adminTypes());
    expect(read(`${folder}/operations.ts`)).toBe(adminOperations());
  });

  test('how-to pages name every command of operators, and docs/clients.md every header', () => {
    const pages = [
      'deploy',
      'keys',
      'plans',
      'bans',
      'operators',
      'import-keys',
      'backup-upgrade',
      'monitoring',
      'troubleshooting',
      'usage',
    ];
    const guides = pages.map((page) => read(`docs/${page}.md`)).join('\n');
    const commands = [...cliReference().matchAll(/^## storegate (\w+ \w+)$/gm)].map(
      ([, command]) => command!,
    );
    expect(commands.length).toBeGreaterThan(20);
    expect(commands.filter((command) => !guides.includes(`storegate ${command}`))).toEqual([]);
    const clients = read('docs/clients.md');
    expect(RESPONSE_HEADERS.filter((header) => !clients.includes(`\`${header}\``))).toEqual([]);
  });

  test('README and docs name only existing commands', () => {
    const commands = new Set(
      [...cliReference().matchAll(/^## storegate (.+)$/gm)].map(([, command]) => command!),
    );
    const groups = new Set(
      [...commands]
        .filter((command) => command.includes(' '))
        .map((command) => command.split(' ')[0]!),
    );
    const pages = [
      'README.md',
      'CONTRIBUTING.md',
      ...readdirSync(join(root, 'docs')).map((file) => `docs/${file}`),
    ];
    const named = pages
      .filter((file) => file.endsWith('.md') && file !== 'docs/cli.md')
      .flatMap((file) => [
        ...read(file).matchAll(/(?:`|npx |\$ )storegate ([a-z]+) ([a-z][a-z-]*)/g),
      ]);
    expect(named.length).toBeGreaterThan(40);
    expect(
      named
        .map(([, group, command]) => `${group} ${command}`)
        .filter((one) => {
          return groups.has(one.split(' ')[0]!) && !commands.has(one);
        }),
    ).toEqual([]);
  });

  test('links between README and docs lead to existing files and headings', () => {
    const pages = [
      'README.md',
      'CONTRIBUTING.md',
      'ARCHITECTURE.md',
      'CHANGELOG.md',
      'SECURITY.md',
      'bench/RESULTS.md',
      ...readdirSync(join(root, 'docs'), { recursive: true }).map((file) => `docs/${file}`),
    ];
    const links = pages
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) =>
        [...read(file).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, to]) => ({
          file,
          to: to!,
        })),
      );
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter(({ file, to }) => !leads(join(file, '..'), file, to))).toEqual([]);
  });

  test('docs/failure-modes.md names an existing test for each promise about Redis', () => {
    const rows = read('docs/failure-modes.md').matchAll(/ `([a-z/-]+)`: ([^|]+) \|$/gm);
    const named = [...rows].map(([, file, name]) => ({ file, name: name! }));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ file, name }) => !read(`test/${file}.test.ts`).includes(name))).toEqual(
      [],
    );
  });

  test('docs/configuration.md names every environment variable and setting, and whether it needs a restart', () => {
    const page = read('docs/configuration.md');
    const named = [...page.matchAll(/`((?:STOREGATE|BACKEND|REDIS|LOG|OTEL)_[A-Z_]+[A-Z])`/g)].map(
      ([, name]) => name,
    );
    expect([...new Set(named)].sort()).toEqual([...environmentVariables().keys()].sort());
    const rows = [
      ...page.matchAll(/^\| `([^`]+?)(?:\[\]|\.<name>)?` \| [^|]+ \|[^|]+\|( yes)? +\|/gm),
    ];
    const restart = new Map(rows.map(([, name, yes]) => [name, yes !== undefined]));
    const settings = [...settingsOf('gateway')];
    expect(settings.length).toBeGreaterThan(100);
    const missing = settings.filter(
      ([name, schema]) => restart.get(name) !== Boolean(schema['x-restart']),
    );
    expect(missing).toEqual([]);
  });

  test('ARCHITECTURE.md gives a reason for every dependency, and for no other', () => {
    const [, table = ''] = read('ARCHITECTURE.md').split('## Dependencies');
    const named = [...table.matchAll(/^\| ([a-z@/-]+) \|/gm)]
      .map(([, name]) => name)
      .filter((name) => name !== 'package');
    expect(named.sort()).toEqual([...DEPENDENCIES].sort());
  });

  test('docs/errors.md has only codes that the gateway returns', () => {
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && file !== join('common', 'errors', 'refusals.ts'))
      .map((file) => read(join('src', file)))
      .join('\n');
    expect(Object.keys(CATALOGUE).filter((code) => !sources.includes(`'${code}'`))).toEqual([]);
  });

  test('ARCHITECTURE.md shows an exit for every error code of a request', () => {
    const architecture = read('ARCHITECTURE.md');
    expect(Object.keys(CATALOGUE).filter((code) => !architecture.includes(code))).toEqual([]);
  });

  test('ARCHITECTURE.md has a row for each folder and package, which names its folders', () => {
    const folders = ['src', 'packages'].flatMap((folder) => foldersOf(folder));
    expect(
      folderRows()
        .map(({ folder }) => folder)
        .sort(),
    ).toEqual(folders.sort());
    const unnamed = folderRows().flatMap(({ folder, text }) =>
      foldersOf(folder.startsWith('packages') ? `${folder}src` : folder)
        .map((inner) => basename(inner))
        .filter((inner) => !text.includes(`\`${inner}/\``)),
    );
    expect(unnamed).toEqual([]);
  });

  test('docs/README.md links every page of docs', () => {
    const pages = readdirSync(join(root, 'docs')).filter(
      (file) => file.endsWith('.md') && file !== 'README.md',
    );
    const index = read('docs/README.md');
    expect(pages.filter((page) => !index.includes(`](${page})`))).toEqual([]);
  });

  test('the README runs the tests as CI does', () => {
    expect(read('README.md')).toContain('npm ci && npm test');
    expect(read('.ci/run')).toContain('npm ci && npm test');
  });

  test('npm prints only errors', () => {
    const settings = read('.npmrc').split('\n');
    expect(settings).toEqual(
      expect.arrayContaining([
        'loglevel=error',
        'fund=false',
        'audit=false',
        'update-notifier=false',
      ]),
    );
  });

  test('the image has plans and settings where its user may write, and the compose file keeps them', () => {
    const [, asRoot, asUser] = /FROM node:\S+\nLABEL ([\s\S]*?)\nUSER 1000:1000\n([\s\S]*)$/.exec(
      read('Dockerfile'),
    )!;
    expect(asRoot).toContain('STOREGATE_CONFIG=/config/gateway.yaml');
    expect(asRoot).toContain('STOREGATE_PLANS=/config/plans.yaml');
    expect(asRoot).toContain(
      'cp plans.yaml config/gateway.yaml /config/ && chown -R 1000:1000 /data /config',
    );
    expect(asUser).not.toContain('COPY');
    const compose = parse(read('docker-compose.yml'), { merge: true });
    for (const name of ['gateway-1', 'gateway-2'])
      expect(compose.services[name].volumes).toContain('config:/config');
    expect(compose.volumes).toHaveProperty('config');
  });

  test('the compose file starts gateway, store, Redis and Prometheus', () => {
    const { services } = parse(read('docker-compose.yml')) as { services: Record<string, unknown> };
    expect(Object.keys(services)).toEqual(
      expect.arrayContaining(['gateway-1', 'gateway-2', 'store', 'redis', 'prometheus']),
    );
  });
});
