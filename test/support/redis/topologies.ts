import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../until.ts';
import { orStop, type RedisServer, startRedis, startTogether, stopAll } from './server.ts';

/** Milliseconds of silence after which Sentinels and Cluster nodes consider a killed node dead. */
const DEAD_AFTER = 500;
/** While no test has killed one: a busy machine is not a failure. */
const NEVER_DEAD = 20_000;

export interface SentinelSet {
  readonly url: string;
  /** `host:port` of the other Sentinels. */
  readonly nodes: readonly string[];
  readonly master: RedisServer;
  readonly replica: RedisServer;
  /** The replica soon takes over. */
  killMaster(): Promise<void>;
  stop(): Promise<void>;
}

/** The quorum is two. If it fails, nothing is left running. */
export async function startSentinelSet(): Promise<SentinelSet> {
  const servers: RedisServer[] = [];
  return await orStop(servers, async () => {
    const master = await startRedis();
    servers.push(master);
    const replica = await startRedis({ args: ['--replicaof', `127.0.0.1 ${master.port}`] });
    servers.push(replica);
    await until('the replica follows', async () =>
      /master_link_status:up/.test(await replica.admin.info('replication')),
    );
    const sentinels = await startTogether(
      [1, 2, 3].map(() => () => startSentinel(master.port, NEVER_DEAD)),
    );
    servers.push(...sentinels);
    await until('the Sentinels know each other and the replica', async () => {
      const seen = await Promise.all(sentinels.map((sentinel) => sentinel.admin.info('sentinel')));
      return seen.every((info) => /slaves=1,sentinels=3/.test(info));
    });
    return {
      url: sentinels[0]!.url,
      nodes: sentinels.slice(1).map(({ port }) => `127.0.0.1:${port}`),
      master,
      replica,
      async killMaster() {
        const soon = ['down-after-milliseconds', DEAD_AFTER];
        for (const { admin } of sentinels) await admin.call('SENTINEL', 'SET', 'mymaster', ...soon);
        await master.kill();
      },
      stop: () => stopAll(servers),
    };
  });
}

/** The Sentinel watches this master as `mymaster`; the quorum is two. */
export async function startSentinel(
  masterPort: number,
  deadAfter = DEAD_AFTER,
): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'sentinel-'));
  // A Sentinel writes its findings into its configuration file.
  const file = join(folder, 'sentinel.conf');
  await writeFile(
    file,
    [
      `sentinel monitor mymaster 127.0.0.1 ${masterPort} 2`,
      `sentinel down-after-milliseconds mymaster ${deadAfter}`,
      'sentinel failover-timeout mymaster 3000',
    ].join('\n'),
  );
  const server = await startRedis({ sentinel: file });
  return {
    ...server,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface ClusterSet {
  readonly url: string;
  readonly nodes: readonly string[];
  readonly masters: readonly RedisServer[];
  readonly replicas: readonly RedisServer[];
  /** Its replica, if it has one, soon takes over. */
  killMaster(master: RedisServer): Promise<void>;
  stop(): Promise<void>;
}

const SLOTS = 16_384;

/** With `replicas`, one replica each. If it fails, nothing is left running. */
export async function startCluster({ replicas = false } = {}): Promise<ClusterSet> {
  const args = [
    '--cluster-enabled',
    'yes',
    '--cluster-node-timeout',
    `${NEVER_DEAD}`,
    '--cluster-replica-validity-factor',
    '0',
  ];
  const start = () => startRedis({ args });
  const servers = await startTogether(Array.from({ length: replicas ? 6 : 3 }, () => start));
  const masters = servers.slice(0, 3);
  const followers = servers.slice(3);
  return await orStop(servers, async () => {
    await joinMasters(masters, servers);
    await follow(masters, followers);
    return {
      url: masters[0]!.url,
      nodes: masters.slice(1).map(({ port }) => `127.0.0.1:${port}`),
      masters,
      replicas: followers,
      async killMaster(master) {
        for (const { admin } of servers)
          await admin.config('SET', 'cluster-node-timeout', DEAD_AFTER);
        await master.kill();
      },
      stop: () => stopAll(servers),
    };
  });
}

async function joinMasters(
  masters: readonly RedisServer[],
  servers: readonly RedisServer[],
): Promise<void> {
  for (const [i, { admin }] of masters.entries()) {
    await admin.cluster(
      'ADDSLOTSRANGE',
      Math.round((SLOTS / 3) * i),
      Math.round((SLOTS / 3) * (i + 1)) - 1,
    );
    await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', `${i + 1}`);
  }
  // Each node meets each: by gossip a node would learn of others only after half of the timeout.
  for (const [i, { admin }] of servers.entries())
    for (const { port } of servers.slice(i + 1)) await admin.cluster('MEET', '127.0.0.1', port);
  await until('all nodes have met', async () => {
    const infos = await Promise.all(
      servers.map(({ admin }) => admin.cluster('INFO') as Promise<string>),
    );
    return infos.every(
      (info) =>
        info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${servers.length}`),
    );
  });
}

async function follow(
  masters: readonly RedisServer[],
  followers: readonly RedisServer[],
): Promise<void> {
  for (const [i, { admin }] of followers.entries()) {
    await admin.cluster('REPLICATE', (await masters[i]!.admin.cluster('MYID')) as string);
  }
  for (const { admin } of followers) {
    await until('the replica follows', async () =>
      /master_link_status:up/.test(await admin.info('replication')),
    );
  }
}

/**
 * Waits until the replica has all writes of its master. WAIT is not enough: it covers only the
 * writes of its own connection.
 */
export async function untilReplicated(master: RedisServer, replica: RedisServer): Promise<void> {
  const offset = async ({ admin }: RedisServer, field: string) =>
    Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(await admin.info('replication'))?.[1]);
  const written = await offset(master, 'master_repl_offset');
  await until(
    'the replica has it all',
    async () => (await offset(replica, 'slave_repl_offset')) >= written,
  );
}
