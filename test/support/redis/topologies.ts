import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../until.ts';
import { freePort, type RedisServer, startRedis } from './server.ts';

/** Milliseconds of silence after which Sentinels and Cluster nodes take a node for dead. */
const DEAD_AFTER = 500;

export interface SentinelSet {
  /** The URL of one of the Sentinels. */
  readonly url: string;
  /** `host:port` of the other Sentinels. */
  readonly nodes: readonly string[];
  readonly master: RedisServer;
  readonly replica: RedisServer;
  stop(): Promise<void>;
}

/** One master, one replica, three Sentinels that agree by two. */
export async function startSentinelSet(): Promise<SentinelSet> {
  const master = await startRedis();
  const replica = await startRedis({ args: ['--replicaof', `127.0.0.1 ${master.port}`] });
  await until('the replica follows', async () => /master_link_status:up/.test(await replica.admin.info('replication')));
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(master.port)));
  const first = sentinels[0]!;
  await until('the Sentinels know each other and the replica', async () => {
    const seen = await Promise.all(sentinels.map((sentinel) => sentinel.admin.info('sentinel')));
    return seen.every((info) => /slaves=1,sentinels=3/.test(info));
  });
  return {
    url: first.url,
    nodes: sentinels.slice(1).map(({ port }) => `127.0.0.1:${port}`),
    master,
    replica,
    stop: async () => void (await Promise.all([...sentinels, master, replica].map((server) => server.stop()))),
  };
}

async function startSentinel(masterPort: number): Promise<RedisServer> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'sentinel-'));
  // A Sentinel writes its findings into its configuration file.
  const file = join(folder, 'sentinel.conf');
  await writeFile(
    file,
    [
      `sentinel monitor mymaster 127.0.0.1 ${masterPort} 2`,
      `sentinel down-after-milliseconds mymaster ${DEAD_AFTER}`,
      'sentinel failover-timeout mymaster 3000',
    ].join('\n'),
  );
  const server = await startRedis({ sentinel: file, port });
  return {
    ...server,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface ClusterSet {
  /** The URL of one of the masters. */
  readonly url: string;
  readonly nodes: readonly string[];
  readonly masters: readonly RedisServer[];
  readonly replicas: readonly RedisServer[];
  stop(): Promise<void>;
}

const SLOTS = 16_384;

/** Three masters that share the slots; with `replicas`, one for each. */
export async function startCluster({ replicas = false } = {}): Promise<ClusterSet> {
  const args = [
    '--cluster-enabled',
    'yes',
    '--cluster-node-timeout',
    `${DEAD_AFTER}`,
    '--cluster-replica-validity-factor',
    '0',
  ];
  const servers = await Promise.all(
    Array.from({ length: replicas ? 6 : 3 }, async () => startRedis({ args, port: await clusterPort() })),
  );
  const masters = servers.slice(0, 3);
  const followers = servers.slice(3);
  for (const [i, { admin }] of masters.entries()) {
    await admin.cluster('ADDSLOTSRANGE', Math.round((SLOTS / 3) * i), Math.round((SLOTS / 3) * (i + 1)) - 1);
    await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', `${i + 1}`);
  }
  for (const { port } of servers.slice(1)) await servers[0]!.admin.cluster('MEET', '127.0.0.1', port);
  await until('all nodes have met', async () => {
    const infos = await Promise.all(servers.map(({ admin }) => admin.cluster('INFO') as Promise<string>));
    return infos.every(
      (info) => info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${servers.length}`),
    );
  });
  for (const [i, { admin }] of followers.entries()) {
    await admin.cluster('REPLICATE', (await masters[i]!.admin.cluster('MYID')) as string);
  }
  for (const { admin } of followers) {
    await until('the replica follows', async () => /master_link_status:up/.test(await admin.info('replication')));
  }
  return {
    url: masters[0]!.url,
    nodes: masters.slice(1).map(({ port }) => `127.0.0.1:${port}`),
    masters,
    replicas: followers,
    stop: async () => void (await Promise.all(servers.map((server) => server.stop()))),
  };
}

/** A free port low enough for the Cluster bus, whose port is 10000 above. */
export async function clusterPort(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port < 55_000) return port;
  }
}
