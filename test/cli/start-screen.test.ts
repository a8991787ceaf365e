import { expect, test } from '@jest/globals';
import { done, head } from '../../packages/openapi/test/documents.ts';
import { type StartScreen, startScreen } from '../../src/cli/start-screen.ts';
import type { Config } from '../../src/config/config.ts';
import type { Contract } from '../../src/config/contract/contract.ts';
import { loadContract } from '../../src/config/contract/contract.ts';
import type { Plans } from '../../src/limits/plans.ts';
import { MINUTE, window } from '../support/limits.ts';

function contractOf(paths: object, title = 'Books') {
  const text = JSON.stringify({ ...head, info: { title, version: '2' }, paths });
  return loadContract(`${import.meta.dirname}/none.json`, { text });
}

const BOOKS = contractOf({ '/books': { get: { summary: 'List books', responses: done } } });

const PLANS: Plans['plans'] = new Map([
  ['custom', { name: 'custom', count: 'key', windows: null }],
  ['basic', { name: 'basic', count: 'key', windows: [window(5, MINUTE)] }],
]);

/** What the screen reads of a configuration. */
const configWith = (changes: object = {}) =>
  ({
    plans: { plans: PLANS },
    usage: { enabled: true },
    reference: { enabled: true },
    console: { enabled: true },
    contract: { file: '/openapi.yaml' },
    keys: { headers: null },
    ...changes,
  }) as unknown as Config;

/** One API with these settings. */
const apisOf = (contract: Contract, config = configWith()) =>
  [
    { api: { ...config, name: 'default', path: '/', host: null }, contract },
  ] as unknown as StartScreen['apis'];

const SCREEN: StartScreen = {
  url: 'http://localhost:8080',
  adminUrl: 'http://127.0.0.1:9901',
  config: configWith(),
  apis: apisOf(BOOKS),
  place: 'Keys and data are in ./data.',
  unmigratedKeys: null,
  keys: null,
};

test('names the API, its reference, the console and the command for a key, with requests of the contract', () => {
  expect(startScreen(SCREEN)).toBe(`Books 2 is available at http://localhost:8080
  Reference  http://localhost:8080/docs/
  Console    http://127.0.0.1:9901/console/
  New key    KEY=$(npx storegate keys create --plan basic --account acme --key-only)

Keys and data are in ./data.

Requests to try:
  # List books
  curl -i http://localhost:8080/books -H "X-API-Key: $KEY"

Press Ctrl-C to stop.
`);
});

test('uses the first demo key, and exceeds its limit if that takes few requests', () => {
  const keys = [
    { plan: 'basic', limits: '5/minute', secret: 'sg_demo_1' },
    { plan: 'custom', limits: '5000/minute', secret: 'sg_demo_2' },
  ];
  const shown = startScreen({ ...SCREEN, keys });
  expect(shown).toContain(
    'Demo keys, shown only once:\n  basic        5 per minute                         sg_demo_1\n',
  );
  expect(shown).toContain('curl -i http://localhost:8080/books -H "X-API-Key: sg_demo_1"\n');
  expect(shown).toContain('  for i in $(seq 7); do curl ');
  expect(startScreen({ ...SCREEN, keys: keys.slice(1) })).not.toContain('seq');
});

test('shows neither a disabled page nor requests that the contract does not have', () => {
  const config = configWith({ reference: { enabled: false }, console: { enabled: false } });
  const shown = startScreen({
    ...SCREEN,
    config,
    apis: apisOf(contractOf({ '/books': { post: { responses: done } } }), config),
  });
  expect(shown).not.toMatch(/docs|console|Requests/);
  expect(shown).toContain('  Admin API  http://127.0.0.1:9901\n');
});

test('warns of keys that the Redis in use does not have', () => {
  const leftBehind = { folder: './data', keys: 3, unknown: 2 };
  expect(startScreen({ ...SCREEN, unmigratedKeys: leftBehind })).toMatch(
    /\n\n\.\/data has 3 keys[\s\S]+\n\nKeys and data/,
  );
});

test('shows text of the contract on one line, and paths so that a shell reads one word', () => {
  const paths = { "/it's/$HOME": { get: { summary: 'List\n\u001b[2Jbooks', responses: done } } };
  const shown = startScreen({ ...SCREEN, apis: apisOf(contractOf(paths, 'Books\u0007\nrm')) });
  expect(shown).toMatch(/^Books\ufffd rm 2 is available/);
  expect(shown).toContain('# List \ufffd[2Jbooks\n');
  expect(shown).toContain("curl -i 'http://localhost:8080/it%27s/$HOME' -H");
});

test('names the prefix of paths, public operations, and where clients send their key', () => {
  const text = JSON.stringify({
    ...head,
    servers: [{ url: 'https://books.example/v1' }],
    paths: { '/books': { get: { operationId: 'listBooks', responses: done, security: [] } } },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Book-Key' } } },
  });
  const contract = loadContract(`${import.meta.dirname}/none.json`, { text });
  const plans = {
    plans: PLANS,
    publicPlan: { name: 'public', count: 'key', windows: [] },
  } as const;
  const shown = startScreen({
    ...SCREEN,
    config: configWith({ plans }),
    apis: apisOf(contract, configWith({ plans })),
  });
  expect(shown).toContain('Note: request paths begin with /v1, the path of servers.\n');
  expect(shown).toContain('Note: without a key: listBooks (security of the contract).\n');
  expect(shown).toContain('curl -i http://localhost:8080/v1/books -H "X-Book-Key: $KEY"\n');
  expect(startScreen({ ...SCREEN, apis: apisOf(contract) })).not.toContain('without a key');
});

test('says that requests are not validated without a contract', () => {
  const config = configWith({ contract: { file: 'none' } });
  const shown = startScreen({ ...SCREEN, config, apis: apisOf(loadContract('none'), config) });
  expect(shown).toMatch(/^Every path of the backend is available at http:\/\/localhost:8080\n/);
  expect(shown).toContain(
    'Note: requests are not validated, and every path but /usage (usage.enabled) is forwarded (contract.file: none).\n',
  );
  expect(shown).toContain('curl -i http://localhost:8080/ -H "X-API-Key: $KEY"\n');
  expect(shown).not.toContain('/docs/');
});
