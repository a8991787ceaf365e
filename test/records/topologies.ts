import type { RedisSettings } from '../../src/config/config.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { startCluster, startSentinelSet } from '../support/redis/topologies.ts';

export interface RedisSet {
  readonly settings: RedisSettings;
  readonly masters: readonly RedisServer[];
  /** In the order of their masters. */
  readonly replicas: readonly RedisServer[];
  killMaster(master: RedisServer): Promise<void>;
  stop(): Promise<void>;
}

/** `replicas`: those of a Cluster, too. */
type Start = (replicas: boolean) => Promise<RedisSet>;

export const TOPOLOGIES: [name: string, start: Start][] = [
  [
    'a single Redis',
    async () => {
      const server = await startRedis();
      const settings = { ...DEFAULTS, url: server.url };
      const { kill: killMaster, stop } = server;
      return { settings, masters: [server], replicas: [], killMaster, stop };
    },
  ],
  [
    'Sentinels',
    async () => {
      const { url, nodes, master, replica, ...ends } = await startSentinelSet();
      const settings = { ...DEFAULTS, topology: 'sentinel', url, nodes } as const;
      return { settings, masters: [master], replicas: [replica], ...ends };
    },
  ],
  [
    'a Cluster',
    async (replicas) => {
      const { url, nodes, ...set } = await startCluster({ replicas });
      const settings = { ...DEFAULTS, topology: 'cluster', url, nodes } as const;
      return { settings, ...set };
    },
  ],
];
