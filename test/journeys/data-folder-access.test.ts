import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startStore } from '../../src/cli/store.ts';
import { adminOf } from '../support/admin.ts';
import { TestGateway } from '../support/gateway.ts';
import { Receiver } from '../support/receiver.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';

const CONTRACT = JSON.stringify({
  openapi: '3.0.3',
  info: { title: 'Pets', version: '1' },
  paths: {
    '/pets': { get: { operationId: 'listPets', responses: { default: { description: 'ok' } } } },
  },
});

/** Files that a gateway has while it runs. */
const EMBEDDED = ['state.db', 'state.db-wal', 'state.db-shm', 'state.last-change', 'gateway.lock'];
const REDIS = ['records.db', 'records.db-wal', 'records.lock'];
const BOTH = ['contract-copy.json', 'usage.1.lock'];

const contract = createServer((_request, response) => response.end(CONTRACT));
let receiver: Receiver;
let redis: RedisServer;
let gateway: TestGateway;
let umask: number;
beforeAll(async () => {
  redis = await startRedis();
  receiver = await Receiver.start();
  await new Promise<void>((resolve) => contract.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  contract.close();
  await receiver.stop();
  await redis.stop();
});
beforeEach(() => {
  umask = process.umask(0);
});
afterEach(async () => {
  process.umask(umask);
  await gateway.stop();
});

const data = () => gateway.config.data;
const modes = () =>
  Object.fromEntries(
    readdirSync(data()).map((name) => [name, statSync(join(data(), name)).mode & 0o777]),
  );
const shared = () => Object.entries(modes()).filter(([, mode]) => mode !== 0o600);

async function start(env: Readonly<Record<string, string>>): Promise<void> {
  const { port } = contract.address() as AddressInfo;
  const settings = `contract: { file: 'http://127.0.0.1:${port}/openapi.json' }`;
  gateway = await TestGateway.start({ settings, env: { ...receiver.env, ...env } });
}

describe('a data folder that a gateway makes under an open umask', () => {
  test.each<[string, readonly string[], () => Record<string, string>]>([
    ['embedded state', [...EMBEDDED, ...BOTH, 'counters.db', 'counters.db-wal'], () => ({})],
    ['Redis', [...REDIS, ...BOTH], () => ({ REDIS_URL: redis.url })],
  ])('is accessible to its owner only, with %s', async (_, files, env) => {
    await start(env());
    const { secret, id } = await gateway.key();
    await gateway.client.get('/pets').set('X-API-Key', secret);
    await adminOf(gateway.adminUrl)('PUT', `/bans/${id}`, { duration: '1h' });
    // The copy of a contract is named after its URL.
    const existing = () =>
      Object.keys(modes()).map((name) => name.replace(/^(contract-copy)-[^.]+/, '$1'));
    await until('all files exist', () => files.every((name) => existing().includes(name)));
    expect(statSync(data()).mode & 0o777).toBe(0o700);
    expect(shared()).toEqual([]);
  });

  test('has the database of the demo store for its owner only', async () => {
    await start({});
    const { store: backend } = await startStore(join(data(), 'store.db'), {
      host: '127.0.0.1',
      port: 0,
    });
    expect(Object.keys(modes())).toEqual(expect.arrayContaining(['store.db', 'store.db-wal']));
    expect(shared()).toEqual([]);
    await backend.close();
  });
});

test('a start takes the files of its data folder from other users, and leaves other files and the folder', async () => {
  await start({});
  await gateway.key();
  await gateway.close();
  writeFileSync(join(data(), 'notes.txt'), 'by an operator');
  writeFileSync(join(data(), 'contract-copy-0123456789ab.json'), CONTRACT);
  mkdirSync(join(data(), 'backups'));
  chmodSync(data(), 0o755);
  for (const name of Object.keys(modes())) chmodSync(join(data(), name), 0o755);
  await gateway.open();
  expect(shared()).toEqual([
    ['backups', 0o755],
    ['notes.txt', 0o755],
  ]);
  expect(statSync(data()).mode & 0o777).toBe(0o755);
});
