import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { done, head } from '../../../packages/openapi/test/documents.ts';
import { readCertificates } from '../../../src/config/certificates.ts';
import { withBackend } from '../../../src/config/describe.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { ContractLoader } from '../../../src/run/contracts/loader.ts';
import { packed, shareOf, unpacked } from '../../../src/run/workers/protocol.ts';
import { folderWith } from '../../config/folder.ts';

const token = randomUUID();
const env = {
  STOREGATE_ADMIN_TOKEN: token,
  REDIS_URL: 'redis://127.0.0.1',
  STOREGATE_WORKERS: '3',
};
const config = withBackend(loadConfig({ env, cwd: folderWith() }), 'http://127.0.0.1:1');
const { contract, prepared } = await new ContractLoader().loadFirst(config);
const certificates = readCertificates(config);

type Sent = Parameters<typeof packed>[0];
const arriving = (
  config: Sent['config'],
  prepared: Sent['prepared'],
  before?: Awaited<ReturnType<typeof unpacked>>,
) => unpacked(structuredClone(packed({ config, certificates, prepared })), before);

function withContract(paths: object): typeof config {
  const file = join(
    folderWith({ 'openapi.json': JSON.stringify({ ...head, paths }) }),
    'openapi.json',
  );
  return { ...config, contract: { ...config.contract, file } };
}

test('settings arrive at a worker unchanged, without the admin token', async () => {
  const sent = structuredClone(packed({ config, certificates, prepared }));
  expect(JSON.stringify(sent)).not.toContain(token);
  const arrived = await unpacked(sent);
  expect(arrived.config).toEqual({ ...config, admin: { ...config.admin, token: null } });
  expect(Object.isFrozen(arrived.config.http)).toBe(true);
  expect(arrived.contract.json).toBe(contract.json);
  expect(arrived.contract.operations.map(({ id }) => id)).toEqual(
    contract.operations.map(({ id }) => id),
  );
});

test('an unchanged contract is not compiled again, one with other options is', async () => {
  const ours = withContract({ '/': { get: { operationId: 'good', responses: done } } });
  const { prepared } = await new ContractLoader().loadFirst(ours);
  const before = await arriving(ours, prepared);
  expect((await arriving(ours, prepared, before)).contract).toBe(before.contract);
  for (const other of [{ unknownQuery: 'pass' }, { integers: 'any' }, { maxDepth: 3 }] as const) {
    const changed = { ...ours, contract: { ...ours.contract, ...other } };
    const { prepared } = await new ContractLoader().loadFirst(changed);
    const { contract } = await arriving(changed, prepared, before);
    expect(contract).not.toBe(before.contract);
  }
});

test('an unchanged contract is published as the new settings need it', async () => {
  const before = await arriving(config, prepared);
  const changed = { ...config, usage: { ...config.usage, enabled: false } };
  const { prepared: other } = await new ContractLoader().loadFirst(changed);
  const after = await arriving(changed, other, before);
  expect(after.contract).toBe(before.contract);
  expect(after.prepared.published).toEqual(other.published);
  expect(after.prepared.published.json.tag).not.toBe(before.prepared.published.json.tag);
});

test('a worker treats operations with mistakes as the primary process does', async () => {
  const wrong = { name: 'q', in: 'query', schema: { type: 'string', pattern: '(' } };
  const paths = { '/': { get: { operationId: 'bad', parameters: [wrong], responses: done } } };
  const { contract: settings } = withContract(paths);
  const lenient = { ...config, contract: { ...settings, onUnsupported: 'pass' as const } };
  const { contract, prepared } = await new ContractLoader().load(lenient);
  const arrived = await arriving(lenient, prepared);
  expect(arrived.contract.exempted).toEqual(contract.exempted);
  expect(arrived.contract.exempted).toMatchObject([{ id: 'bad', treatment: 'pass' }]);
  const { operation } = arrived.contract.match('GET', '/');
  expect([operation!.exempt, operation!.checkParameters([], 'odd', [])]).toEqual(['pass', []]);
});

test('workers share the connection limit of the gateway, with at least one each', () => {
  const share = shareOf(config, 3);
  const { maxConnections, maxConnectionsPerAddress } = share.http;
  expect([maxConnections, maxConnectionsPerAddress, share.upstream.connections]).toEqual([
    3334, 334, 43,
  ]);
  expect(
    shareOf({ ...config, upstream: { ...config.upstream, connections: 1 } }, 3).upstream
      .connections,
  ).toBe(1);
  const stock = { ...config.upstream, connections: 10 };
  expect(shareOf({ ...config, upstreams: { stock } }, 3).upstreams.stock!.connections).toBe(4);
});
