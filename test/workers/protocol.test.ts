import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { withStore } from '../../src/config/describe.ts';
import { loadConfig } from '../../src/config/load.ts';
import { loadContract } from '../../src/contract/contract.ts';
import { packed, unpacked } from '../../src/workers/protocol.ts';
import { shareOf } from '../../src/workers/share.ts';
import { folderWith } from '../config/folder.ts';

const token = randomUUID();
const env = { STOREGATE_ADMIN_TOKEN: token, REDIS_URL: 'redis://127.0.0.1', STOREGATE_WORKERS: '3' };
const config = withStore(loadConfig({ env, cwd: folderWith() }), 'http://127.0.0.1:1');
const contract = loadContract(config.contract.file);

test('settings arrive at a worker as they were sent, but for the admin token', () => {
  const sent = structuredClone(packed({ config, contract }));
  expect(JSON.stringify(sent)).not.toContain(token);
  const arrived = unpacked(sent);
  expect(arrived.config).toEqual({ ...config, admin: { ...config.admin, token: null } });
  expect(Object.isFrozen(arrived.config.door)).toBe(true);
  expect(arrived.contract.json).toBe(contract.json);
  expect(arrived.contract.operations.map(({ id }) => id)).toEqual(contract.operations.map(({ id }) => id));
});

test('a contract that is the same is not compiled again, one that is read in another way is', () => {
  const before = unpacked(structuredClone(packed({ config, contract })));
  expect(unpacked(structuredClone(packed({ config, contract })), before).contract).toBe(before.contract);
  const passing = { ...config, contract: { ...config.contract, unknownQuery: 'pass' as const } };
  expect(unpacked(structuredClone(packed({ config: passing, contract })), before).contract).not.toBe(before.contract);
});

test('workers share the connections of the gateway, never to less than one', () => {
  const share = shareOf(config, 3);
  const { maxConnections, maxConnectionsPerAddress } = share.door;
  expect([maxConnections, maxConnectionsPerAddress, share.upstream.connections]).toEqual([3334, 334, 43]);
  expect(shareOf({ ...config, upstream: { ...config.upstream, connections: 1 } }, 3).upstream.connections).toBe(1);
});
