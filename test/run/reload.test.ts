import { expect, test } from '@jest/globals';
import { readCertificates } from '../../src/config/certificates.ts';
import { withBackend } from '../../src/config/describe.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Event } from '../../src/observe/events.ts';
import { contractsOf, loadAll } from '../../src/run/apis.ts';
import { ContractLoader, type Loaded } from '../../src/run/contracts/loader.ts';
import { createReloader, FILE_CHANGED, ReloadRefused } from '../../src/run/reload.ts';
import { folderWith } from '../config/folder.ts';

const config = withBackend(loadConfig({ env: {}, cwd: folderWith() }), 'http://127.0.0.1:1');
const { apis } = await loadAll(config.apis, (api) =>
  new ContractLoader().loadFirst({ ...api, data: config.data }),
);
const initial = {
  config,
  certificates: readCertificates(config),
  apis,
  contract: contractsOf(apis),
};
const [loaded] = apis;
/** Differs only in how the contract is read, so every reload reads it again. */
const other = loadConfig({
  env: { STOREGATE_CONFIG: 'gateway.yaml' },
  cwd: folderWith({ 'gateway.yaml': 'contract: { unknownQuery: pass }\n' }),
});

function reloaderWith(load: () => Promise<Loaded>) {
  const events: Event[] = [];
  const swapped: unknown[] = [];
  const reloader = createReloader({
    initial,
    load: () => other,
    contracts: { load },
    keys: { list: async () => [] } as never,
    swap: async (settings) => void swapped.push(settings),
    observe: (event) => void events.push(event),
  });
  return { reloader, events, swapped };
}

test('a second reload waits until the first has read its contract and put it in force', async () => {
  const waiting: ((loaded: Loaded) => void)[] = [];
  const { reloader, swapped } = reloaderWith(() => new Promise((resolve) => waiting.push(resolve)));
  const reloads = [reloader.reload('one'), reloader.reload('two')];
  while (waiting.length === 0) await new Promise(setImmediate);
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  expect([waiting.length, swapped.length]).toEqual([1, 0]);
  waiting[0]!(loaded!);
  // The second finds the contract of the first in use and need not read it.
  await Promise.all(reloads);
  expect([waiting.length, swapped.length]).toEqual([1, 2]);
});

test('a crash of the reading process is reported as a bug, and nothing changes', async () => {
  const { reloader, events, swapped } = reloaderWith(async () => {
    throw new Error('the process that reads the contract ended with code 3');
  });
  await expect(reloader.reload('test')).rejects.toThrow(ReloadRefused);
  expect(events.map(({ type }) => type)).toEqual(['bug', 'reload.failed']);
  expect(swapped).toEqual([]);
  expect(reloader.current).toBe(initial);
});

test('a comparison reads and checks like a reload, and neither changes, prepares nor reports anything', async () => {
  const { reloader, events, swapped } = reloaderWith(async () => loaded!);
  const { inForce, inFiles, reloaded } = await reloader.compare();
  expect([inForce, inFiles.config]).toEqual([initial, other]);
  expect(reloaded).toEqual({ changed: ['contract.unknownQuery'], needRestart: [], copy: null });
  expect([reloader.current, reloader.waiting, events, swapped]).toEqual([initial, [], [], []]);
  expect(await reloader.reload('test')).toEqual(reloaded);
});

test('a comparison that fails because of a bug is reported as such, and is not a refused reload', async () => {
  const { reloader, events } = reloaderWith(async () => {
    throw new Error('the process that reads the contract ended with code 3');
  });
  await expect(reloader.compare()).rejects.toThrow(ReloadRefused);
  expect(events.map(({ type }) => type)).toEqual(['bug']);
});

test('files that are restored after a refusal are reported as a successful reload, once', async () => {
  let text = 'plans: 1\n';
  const events: Event[] = [];
  const reloader = createReloader({
    initial,
    load: () =>
      text === ''
        ? config
        : loadConfig({
            env: { STOREGATE_PLANS: 'plans.yaml' },
            cwd: folderWith({ 'plans.yaml': text }),
          }),
    contracts: { load: async () => loaded! },
    keys: { list: async () => [] } as never,
    swap: async () => {},
    observe: (event) => void events.push(event),
  });
  await expect(reloader.reload(FILE_CHANGED)).rejects.toThrow(ReloadRefused);
  text = '';
  await reloader.reload(FILE_CHANGED);
  await reloader.reload(FILE_CHANGED);
  expect(events.map(({ type }) => type)).toEqual(['reload.failed', 'reload.done']);
});
