import { describe, expect, test } from '@jest/globals';
import { loadContract } from '../../src/config/contract/contract.ts';
import { loadConfig, shippedFiles } from '../../src/config/load.ts';
import { displacedUsage, hiddenOperations, usagePaths } from '../../src/config/own-paths.ts';
import { folderWith } from './folder.ts';

const configWith = (settings: string) =>
  loadConfig({
    env: { STOREGATE_CONFIG: 'gateway.yaml' },
    cwd: folderWith({ 'gateway.yaml': settings }),
  });

const apiWith = (settings: string) => configWith(settings).apis[0]!;

function contractWith(paths: readonly string[], server = '/') {
  const get = { responses: { default: { description: 'Done.' } } };
  const items = paths.map((path) => {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const parameters = names.map((name) => {
      return { name, in: 'path', required: true, schema: { type: 'string' } };
    });
    return [path, { parameters, get, post: get }];
  });
  const text = JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Test', version: '1' },
    servers: [{ url: server }],
    paths: Object.fromEntries(items),
  });
  return loadContract('openapi.json', { text });
}

/** The templates and settings of the operations that are named, each with both methods. */
function hiddenIn(paths: readonly string[], settings = '{}', server = '/'): string[] {
  const sentences = hiddenOperations(apiWith(settings), contractWith(paths, server));
  const pattern =
    /^\w+ (\/.*?) \((GET|POST) .+?\): the gateway serves (.+) itself; set (\S+): false to/;
  const found = sentences.map((sentence) => pattern.exec(sentence)!.slice(1));
  const [gets, posts] = ['GET', 'POST'].map((name) =>
    found.filter(([, method]) => method === name),
  );
  const shown = gets!.map(([path, , own, setting]) => `${path} by ${own}, ${setting}`);
  expect(posts!.map(([path, , own, setting]) => `${path} by ${own}, ${setting}`)).toEqual(shown);
  return shown;
}

describe('operations that a path of the gateway hides', () => {
  test.each([
    ['/usage', ['/usage by /usage, usage.enabled']],
    ['/openapi.json', ['/openapi.json by /openapi.json, reference.enabled']],
    ['/docs', ['/docs by /docs, reference.enabled']],
    ['/docs/', ['/docs/ by paths below /docs/, reference.enabled']],
    ['/docs/ä b/{id}.json', ['/docs/ä b/{id}.json by paths below /docs/, reference.enabled']],
    ['/{name}.json', ['/{name}.json by /openapi.json, reference.enabled']],
    ['/{group}/{id}', ['/{group}/{id} by paths below /docs/, reference.enabled']],
    ['/usage/{id}', []],
    ['/Usage', []],
    ['/', []],
  ])('%s', (path, expected) => {
    expect(hiddenIn([path])).toEqual(expected);
  });

  test('are those that the contract itself matches: a literal comes before a template', () => {
    expect(hiddenIn(['/usage', '/{id}'])).toEqual([
      '/{id} by /openapi.json, reference.enabled',
      '/{id} by /openapi.yaml, reference.enabled',
      '/{id} by /docs, reference.enabled',
      '/usage by /usage, usage.enabled',
    ]);
  });

  test('depend on the path of servers', () => {
    const own = ['/usage', '/docs/{id}', '/openapi.json'];
    expect(hiddenIn(own, 'contract: { serverPath: prefix }', '/v1')).toEqual([]);
  });

  test.each([
    ['usage: { enabled: false }', ['/docs/{id} by paths below /docs/, reference.enabled']],
    ['reference: { enabled: false }', ['/usage by /usage, usage.enabled']],
    ['contract: { file: none }', ['/usage by /usage, usage.enabled']],
  ])('depend on the settings: %s', (settings, expected) => {
    expect(hiddenIn(['/usage', '/docs/{id}'], settings)).toEqual(expected);
  });

  test('are not pages below the path of an API', () => {
    const apis = 'apis: [{ name: a, path: /a, contract: none, target: "http://127.0.0.1:9" }]';
    const api = { ...configWith(apis).apis[1]!, contract: { ...apiWith('{}').contract } };
    const hidden = hiddenOperations(api, contractWith(['/usage', '/docs/{id}']));
    expect(hidden.map((text) => /\((GET \S+)\)/.exec(text)?.[1] ?? 'POST')).toEqual([
      'GET /usage',
      'POST',
    ]);
  });

  test('do not exist in the shipped contract', () => {
    expect(hiddenOperations(apiWith('{}'), loadContract(shippedFiles.contract))).toEqual([]);
  });
});

describe('the usage of a key', () => {
  test.each<[readonly string[], string, readonly string[]]>([
    [['/pets', '/usage/{id}', '/{id}/x'], '/v1', ['/usage', '/v1/usage']],
    [['/{id}'], '/v1', ['/usage']],
    [['/us{x}ge'], '/v1', ['/usage']],
    [['/us{x}.json'], '/v1', ['/usage', '/v1/usage']],
  ])('beside %j below %s is at %j', (paths, server, expected) => {
    const contract = contractWith(paths, server);
    expect(usagePaths(contract)).toEqual(expected);
    const isDisplaced = server !== '/' && expected.length === 1;
    const notes = displacedUsage(apiWith('{}'), contract);
    expect(notes).toEqual(
      isDisplaced
        ? ['/v1/usage belongs to an operation of the contract: keys get their usage at /usage only']
        : [],
    );
    expect(displacedUsage(apiWith('usage: { enabled: false }'), contract)).toEqual([]);
  });
});

describe('an API', () => {
  test.each([
    ['/docs', 'reference: { enabled: false }'],
    ['/docs', 'contract: { file: none }'],
    ['/usage', 'usage: { enabled: false }'],
  ])('may take %s if the gateway leaves it: %s', (path, setting) => {
    const apis = `apis: [{ name: other, path: ${path}, contract: none, target: "http://127.0.0.1:9" }]`;
    expect(configWith(`${apis}\n${setting}\n`).apis[1]).toMatchObject({ path });
  });
});
