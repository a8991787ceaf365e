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
const read = (of: typeof config) =>
  new ContractLoader().loadFirst({ ...of.apis[0]!, data: of.data });
const { contract, prepared } = await read(config);

/** As it arrives at a worker. */
const sentOf = (of: typeof config, one = prepared) =>
  structuredClone(packed({ config: of, certificates, prepared: [one] }));

/** With other settings of its API. */
const changedTo = (
  of: typeof config,
  changes: Partial<Pick<typeof config, 'contract' | 'usage'>>,
): typeof config => ({
  ...of,
  ...changes,
  apis: [{ ...of.apis[0]!, ...changes }],
});
const certificates = readCertificates(config);

function withContract(paths: object): typeof config {
  const file = join(
    folderWith({ 'openapi.json': JSON.stringify({ ...head, paths }) }),
    'openapi.json',
  );
  return changedTo(config, { contract: { ...config.contract, file } });
}

test('settings arrive at a worker unchanged, without the admin token', async () => {
  const sent = sentOf(config, prepared);
  expect(JSON.stringify(sent)).not.toContain(token);
  const arrived = await unpacked(sent);
  expect(arrived.config).toEqual({ ...config, admin: { ...config.admin, token: null } });
  expect(Object.isFrozen(arrived.config.http)).toBe(true);
  expect(arrived.apis[0]!.contract.json).toBe(contract.json);
  expect(arrived.contract.operations.map(({ id }) => id)).toEqual(
    contract.operations.map(({ id }) => id),
  );
});

test.each([
  ['http://127.0.0.1:1/', 'new', 'old'],
  [null, null, null],
])('a worker that exports usage to %s has the secrets %s and %s', (url, ...secrets) => {
  const webhooks = { ...config.webhooks, url: 'http://127.0.0.1:2/' };
  const usage = { ...config.usage, export: { url, token: null } };
  const signed = { ...webhooks, secret: 'new', previousSecret: 'old' };
  const { secret, previousSecret } = sentOf({ ...config, usage, webhooks: signed }).config.webhooks;
  expect([secret, previousSecret]).toEqual(secrets);
});

test('an unchanged contract is not compiled again, one with other options is', async () => {
  const ours = withContract({ '/': { get: { operationId: 'good', responses: done } } });
  const { prepared } = await read(ours);
  const before = await unpacked(sentOf(ours, prepared));
  expect((await unpacked(sentOf(ours, prepared), before)).contract).toBe(before.contract);
  for (const other of [{ unknownQuery: 'pass' }, { integers: 'any' }, { maxDepth: 3 }] as const) {
    const changed = changedTo(ours, { contract: { ...ours.contract, ...other } });
    const { prepared } = await read(changed);
    expect((await unpacked(sentOf(changed, prepared), before)).contract).not.toBe(before.contract);
  }
});

test('an unchanged contract is published as the new settings need it', async () => {
  const before = await unpacked(sentOf(config, prepared));
  const changed = changedTo(config, { usage: { ...config.usage, enabled: false } });
  const { prepared: other } = await read(changed);
  const after = await unpacked(sentOf(changed, other), before);
  expect(after.contract).toBe(before.contract);
  expect(after.apis[0]!.prepared.published).toEqual(other.published);
  expect(after.apis[0]!.prepared.published.json.tag).not.toBe(
    before.apis[0]!.prepared.published.json.tag,
  );
});

test('a worker treats operations with mistakes as the primary process does', async () => {
  const wrong = { name: 'q', in: 'query', schema: { type: 'string', pattern: '(' } };
  const paths = { '/': { get: { operationId: 'bad', parameters: [wrong], responses: done } } };
  const { contract: settings } = withContract(paths);
  const lenient = changedTo(config, { contract: { ...settings, onUnsupported: 'pass' } });
  const { contract, prepared } = await new ContractLoader().load({
    ...lenient.apis[0]!,
    data: lenient.data,
  });
  const arrived = await unpacked(sentOf(lenient, prepared));
  expect(arrived.contract.exempted).toEqual(contract.exempted);
  expect(arrived.contract.exempted).toMatchObject([{ id: 'bad', treatment: 'pass' }]);
  const { operation } = arrived.apis[0]!.contract.match('GET', '/');
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
