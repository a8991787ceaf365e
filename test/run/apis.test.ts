import { expect, test } from '@jest/globals';
import type { ContractError } from '@storegate/openapi';
import { done, head } from '../../packages/openapi/test/documents.ts';
import { loadConfig } from '../../src/config/load.ts';
import { contractsOf, loadAll, refuseMistakes } from '../../src/run/apis.ts';
import { ContractLoader } from '../../src/run/contracts/loader.ts';
import { folderWith } from '../config/folder.ts';

const schemes = {
  token: { type: 'apiKey', in: 'header', name: 'X-Token' },
  // Not a header.
  page: { type: 'apiKey', in: 'query', name: 'X-Page' },
};

const contractWith = (paths: readonly string[], servers: readonly string[]) =>
  JSON.stringify({
    ...head,
    servers: servers.map((url) => ({ url })),
    components: { securitySchemes: schemes },
    paths: Object.fromEntries(
      paths.map((path) => {
        const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
        const parameters = names.map((name) => ({ name, in: 'path', required: true, schema: {} }));
        return [path, { parameters, get: { operationId: path.slice(1), responses: done } }];
      }),
    ),
  });

const upstream = { url: 'http://127.0.0.1:1' };

/** What is wrong with the API `a` beside others without a contract, each at a place. */
function mistakesOf(
  settings: object,
  { paths = ['/list'], servers = ['/'] },
  others: readonly object[] = [],
): Promise<string[]> {
  const apis = [
    { name: 'a', contract: './a.json', upstream, ...settings },
    ...others.map((place, i) => ({ name: `b${i}`, contract: 'none', upstream, ...place })),
  ];
  return mistakesIn({ apis }, contractWith(paths, servers));
}

async function loadedFrom(settings: object, contract: string) {
  const cwd = folderWith({ 'gateway.yaml': JSON.stringify(settings), 'a.json': contract });
  const config = loadConfig({ env: {}, cwd });
  const loaded = await loadAll(config.apis, (api) =>
    new ContractLoader().loadFirst({ ...api, data: config.data }),
  );
  return { config, ...loaded };
}

async function mistakesIn(settings: object, contract: string): Promise<string[]> {
  const { apis, config } = await loadedFrom(settings, contract);
  try {
    refuseMistakes(apis, config);
    return [];
  } catch (error) {
    return (error as ContractError).problems.map(({ message }) => message);
  }
}

type Row = [
  what: string,
  settings: object,
  contract: { paths?: string[]; servers?: string[] },
  others: object[],
  ...mistakes: string[],
];

const never = (path: string, reason: string) =>
  `a/${path.split('/').at(-1)} (GET ${path}) is never reached: ${reason}`;
const PREFIXED = {
  path: '/a',
  stripPath: false,
  contract: { file: './a.json', serverPath: 'prefix' },
};
const KEPT = 'the API a has /a, and stripPath is false';

test.each<Row>([
  ['its path is removed', { path: '/a' }, {}, []],
  ['its path is in the contract', { path: '/a', stripPath: false }, { servers: ['/a/v1'] }, []],
  ['its path stays', { path: '/a', stripPath: false }, {}, [], never('/list', KEPT)],
  ['one server has it', PREFIXED, { servers: ['/a', '/v1'] }, []],
  ['encoded, it is the same', PREFIXED, { servers: ['/%61'] }, []],
  ['a template may be it', { path: '/a', stripPath: false }, { paths: ['/{x}/list'] }, []],
  [
    'another API has it',
    { path: '/a' },
    { paths: ['/list', '/b'] },
    [{ path: '/a/b' }],
    never('/a/b', 'the API b0 has /a/b'),
  ],
  [
    'another API at its host has it',
    { host: 'a.example' },
    {},
    [{ host: 'a.example', path: '/list' }],
    never('/list', 'the API b0 has /list'),
  ],
  ['a longer path without a host', { host: 'a.example' }, {}, [{ path: '/list' }]],
  ['a longer path at another host', { path: '/a' }, {}, [{ host: 'b.example', path: '/a/list' }]],
  [
    'a template that another API has in part',
    { path: '/a' },
    { paths: ['/{x}'] },
    [{ path: '/a/b' }],
  ],
])('operations: %s', async (_what, settings, contract, others, ...mistakes) => {
  expect(await mistakesOf(settings, contract, others)).toEqual(mistakes);
});

const ruled = (name: string, side: string) =>
  `${name} has a rule in headers.${side}, but may carry the key of a client: name the headers of keys in keys.headers, or remove the rule`;

test.each<[what: string, settings: object, ...mistakes: string[]]>([
  ['of the request', { request: { set: { 'x-token': 'a' } } }, ruled('x-token', 'request')],
  ['in another spelling', { request: { remove: ['X_Token'] } }, ruled('x_token', 'request')],
  ['of the response', { response: { remove: ['X-Token'] } }, ruled('x-token', 'response')],
  ['that is not a header of keys', { request: { remove: ['X-Page'] } }],
])(
  'a rule for a header that the contract names for keys, %s',
  async (_what, headers, ...mistakes) => {
    expect(await mistakesOf({ path: '/a', headers }, {})).toEqual(mistakes);
    const keys = { headers: ['X-API-Key'] };
    expect(await mistakesOf({ path: '/a', headers, keys }, {})).toEqual([]);
  },
);

test.each<[id: string, ...mistakes: string[]]>([
  ['b/list', 'b/list (GET /b/list) is named like operations of the API b: rename one of them'],
  ['b'],
  ['b2/list'],
  ['default/list'],
])('the operation %s outside apis, beside an API b', async (id, ...mistakes) => {
  const apis = [{ name: 'b', path: '/other', contract: 'none' }];
  const settings = { contract: { file: './a.json' }, upstream, apis };
  expect(await mistakesIn(settings, contractWith([`/${id}`], ['/']))).toEqual(mistakes);
});

test('operations with a mistake are named with their API', async () => {
  const parameters = [{ name: 'a', in: 'query', schema: { type: 'nonsense' } }];
  const paths = { '/list': { get: { operationId: 'list', parameters, responses: done } } };
  const contract = { file: './a.json', onUnsupported: 'pass' };
  const api = { name: 'a', path: '/a', contract, upstream };
  const settings = { contract, upstream, apis: [api] };
  const { apis } = await loadedFrom(settings, JSON.stringify({ ...head, paths }));
  expect(contractsOf(apis).exempted.map(({ id }) => id)).toEqual(['list', 'a/list']);
});
