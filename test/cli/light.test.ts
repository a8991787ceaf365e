import { existsSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { importsOnLoad, placeOf } from '../support/imports.ts';

test('the command line loads only commander on start', () => {
  expect([...importsOnLoad('main.js')].filter((name) => !name.startsWith('node:'))).toEqual([]);
  const loaded = [...importsOnLoad('cli/run.ts')];
  expect(loaded).toContain('cli/commands/keys.ts');
  expect(loaded.filter((name) => !name.startsWith('node:') && !existsSync(placeOf(name)))).toEqual([
    'commander',
  ]);
  expect(
    loaded.filter((name) =>
      /^(run|state|records\/(embedded|redis|transfer)|store|admin|gateway|openapi|reference)\//.test(
        name,
      ),
    ),
  ).toEqual([]);
});

test('an import of keys loads formats of contracts without their reader', () => {
  const loaded = [...importsOnLoad('cli/importing/key-fields.ts')];
  expect(loaded.filter((name) => name.startsWith('openapi/'))).toEqual(['openapi/formats.ts']);
});

test('modules loaded on start are found through all files, without types and dynamic imports', () => {
  expect([...importsOnLoad('run/gateway.ts')]).toEqual(
    expect.arrayContaining(['admin/api.ts', 'ajv', 'yaml']),
  );
  expect([...importsOnLoad('run/process.ts')]).toContain('http1/server.ts');
  expect([...importsOnLoad('cli/commands/local.ts')]).not.toContain('cli/serve.ts');
});

test.each([
  'cli/serve.ts',
  'run/gateway.ts',
  'run/process.ts',
  'cli/check.ts',
  'cli/connect/local.ts',
])('%s loads no Redis, workers, backend or targets of APIs on start', (file) => {
  const loaded = [...importsOnLoad(file)];
  const rare =
    /^(state\/redis\/(?!error\.ts)|records\/redis\/|run\/workers\/|store\/|ioredis$|http-proxy-middleware$)/;
  expect(loaded.filter((name) => rare.test(name))).toEqual([]);
});

test.each([
  ['run/gateway.ts', ['admin/operations/webhooks.ts', 'run/webhooks.ts', 'webhooks/endpoints.ts']],
  ['run/workers/process.ts', ['webhooks/endpoints.ts']],
])('%s loads only the endpoints of webhooks on start', (file, existing) => {
  expect([...importsOnLoad(file)].filter((name) => /webhooks|outbox/.test(name)).sort()).toEqual(
    existing,
  );
});
