import { afterAll, beforeAll, describe } from '@jest/globals';
import { KEPT } from '../support/audit.ts';
import { openRecords } from '../support/redis/records.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { type ClusterSet, startCluster } from '../support/redis/topologies.ts';
import { keepsThePromisesOfKeyStore } from './keystore-contract.ts';
import { keepsThePromisesOfRecords } from './records-contract.ts';

describe('in a Redis Cluster', () => {
  let set: ClusterSet;
  let gateways: Awaited<ReturnType<typeof openRecords>>[];

  beforeAll(async () => {
    set = await startCluster();
    const settings = { ...DEFAULTS, url: set.url, topology: 'cluster', nodes: set.nodes } as const;
    gateways = await Promise.all([openRecords(settings), openRecords(settings)]);
  });
  afterAll(async () => {
    for (const { close } of gateways) close();
    await set.stop();
  });

  async function open(audit = KEPT) {
    await Promise.all(set.masters.map(({ admin }) => admin.flushall()));
    return { one: gateways[0]!.records(audit), other: gateways[1]!.records(audit) };
  }

  keepsThePromisesOfRecords(open);

  describe('with lists of keys', () => {
    keepsThePromisesOfKeyStore(async (audit) => {
      const records = await open(audit);
      await gateways[0]!.index();
      return records;
    });
  });
});
