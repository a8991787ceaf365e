import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { isDeep } from '../runner/fast-check.ts';
import { temporaryFolders } from '../support/temporary.ts';

const project = resolve(import.meta.dirname, '../..');
const temporary = temporaryFolders({ keep: true });
const builds = temporary();

beforeAll(() => {
  execFileSync(process.execPath, [join(project, 'scripts/pack-openapi.ts'), builds], {
    stdio: 'pipe',
  });
  packDependencies(join(builds, 'openapi'));
});

const FIVE_LINES = `import { loadContract } from '@storegate/openapi';
const contract = loadContract('openapi.json');
const request = { method: 'POST', url: '/pets/7', headers: { 'content-type': 'application/json' } };
for (const body of ['{"name":"Rex"}', '{"name":1}'])
  console.log(JSON.stringify(contract.validateRequest({ ...request, body })));
`;

const SERVERS = `import { loadContract } from '@storegate/openapi';
import { expressMiddleware } from '@storegate/openapi/express';
import { fetchHandler } from '@storegate/openapi/fetch';
const contract = loadContract('openapi.json');
const handler = fetchHandler(contract, (_request, { values }) => Response.json(values.path));
const headers = { 'content-type': 'application/json' };
const send = (body) => handler(new Request('http://a/pets/7', { method: 'post', headers, body }));
const statuses = [(await send('{"name":1}')).status, (await send('{"name":"Rex"}')).status];
console.log(typeof expressMiddleware(contract), ...statuses);
`;

const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  paths: {
    '/pets/{id}': {
      post: {
        operationId: 'rename',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
        requestBody: {
          content: {
            'application/json': {
              schema: { type: 'object', properties: { name: { type: 'string' } } },
            },
          },
        },
        responses: { 200: { description: 'Done.' } },
      },
    },
  },
};

const TYPED = `import { ContractError, type Fault, loadContract, RULES } from '@storegate/openapi';
import { isDate } from '@storegate/openapi/formats';
const { status, faults, values } = loadContract({}).validateRequest({ method: 'GET', url: '/', headers: [] });
export const all: [200 | 400 | 404 | 405 | 413 | 415, readonly Fault[], unknown] = [status, faults, values?.path.id];
export const others: unknown[] = [ContractError, RULES, isDate('2027-01-31')];
// @ts-expect-error: the option does not exist.
loadContract('openapi.json', { unknownQuerry: 'pass' });
`;

/** The oldest supported version comes from the registry. */
const versions = isDeep ? ['this version', '22.18'] : ['this version'];

describe.each(versions)(
  'the library, installed alone in an empty folder with Node.js: %s',
  (version) => {
    let folder: string;
    let node: string;
    beforeAll(() => {
      node = version === 'this version' ? process.execPath : nodeOf(version);
      folder = temporary();
      writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
      const tarballs = readdirSync(builds).filter((name) => name.endsWith('.tgz'));
      npm(folder, 'install', '--offline', ...tarballs.map((name) => join(builds, name)));
      writeFileSync(join(folder, 'openapi.json'), JSON.stringify(DOCUMENT));
    });

    test('validates a good and a bad request in five lines', () => {
      writeFileSync(join(folder, 'five.js'), FIVE_LINES);
      const output = execFileSync(node, ['five.js'], { cwd: folder, encoding: 'utf8' });
      const [good, bad] = output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      const values = { path: { id: 7 }, query: {}, header: {}, cookie: {}, body: { name: 'Rex' } };
      expect(good).toMatchObject({ status: 200, faults: [], operation: { id: 'rename' }, values });
      const fault = {
        in: 'body',
        pointer: '/name',
        message: 'must be a string',
        rule: 'type',
        limit: 'string',
      };
      expect(bad).toMatchObject({ status: 400, faults: [fault], values: null });
    });

    test('has the middleware for Express and the wrapper for Fetch', () => {
      writeFileSync(join(folder, 'servers.js'), SERVERS);
      const output = execFileSync(node, ['servers.js'], { cwd: folder, encoding: 'utf8' });
      expect(output.trim()).toBe('function 400 200');
    });

    test('has declarations that a strict project compiles', () => {
      writeFileSync(join(folder, 'typed.ts'), TYPED);
      const tsc = join(project, 'node_modules/typescript/bin/tsc');
      const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'esnext'];
      execFileSync(process.execPath, [tsc, ...options, 'typed.ts'], {
        cwd: folder,
        stdio: 'inherit',
      });
    });
  },
);

test('the library has a license, and its texts name no gateway', () => {
  const root = join(builds, 'openapi');
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  expect(paths).toContain(join(root, 'LICENSE'));
  const naming = paths.filter((path) => /gateway|x-storegate/i.test(readFileSync(path, 'utf8')));
  expect(naming).toEqual([]);
});

/** What an installation would download, from the packages that are installed here. */
function packDependencies(packed: string): void {
  const folders = new Set([packed]);
  for (const folder of folders) {
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const { resolve } = createRequire(
      join(folder === packed ? join(project, 'packages/openapi') : folder, 'a.js'),
    );
    for (const name of Object.keys(dependencies))
      folders.add(dirname(resolve(`${name}/package.json`)));
  }
  folders.delete(packed);
  npm(builds, 'pack', '--ignore-scripts', ...folders);
}

function npm(cwd: string, ...args: string[]): void {
  const env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
  };
  execFileSync('npm', [...args, '--no-audit', '--no-fund', '--silent'], {
    cwd,
    env,
    stdio: 'pipe',
  });
}

function nodeOf(version: string): string {
  const folder = temporary();
  writeFileSync(join(folder, 'package.json'), '{}');
  npm(folder, 'install', `node@${version}`);
  return join(folder, 'node_modules/node/bin/node');
}
