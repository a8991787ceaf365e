import { afterAll, beforeAll, describe } from '@jest/globals';
import { type RecordsConnections, twoConnections } from '../support/redis/records.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { type ClusterSet, startCluster } from '../support/redis/topologies.ts';
import { keepsThePromisesOfRecords } from './records-contract.ts';

describe('in a Redis Cluster', () => {
  let set: ClusterSet;
  let connections: RecordsConnections;
  beforeAll(async () => {
    set = await startCluster();
    connections = await twoConnections(
      { ...DEFAULTS, url: set.url, topology: 'cluster', nodes: set.nodes },
      set.masters,
    );
  });
  afterAll(async () => {
    await connections.close();
    await set.stop();
  });

  keepsThePromisesOfRecords((audit) => connections.openEmpty(audit));
});
