import { CHANNEL, keyOf } from '../../../src/state/redis/key-names.ts';
import { keyRecord, note } from '../records.ts';
import { until } from '../until.ts';
import { openShared, type SharedGateway } from './gateway.ts';
import { startProxy, type TcpProxy } from './proxy.ts';
import { type RedisServer, startRedis, startTogether, stopAll } from './server.ts';
import { startSentinel } from './topologies.ts';

export interface Return {
  readonly gateway: number;
  readonly client: 'requests' | 'messages';
  /**
   * Milliseconds from the promotion of a replica until the client worked there; `null` if it stayed
   * down.
   */
  readonly after: number | null;
}

export interface LookUps {
  found: number;
  /** Status 503. */
  outages: number;
  /** Status 401. */
  wrong: number;
}

export interface Failovers {
  readonly lookUps: Readonly<LookUps>;
  /** Waits for each client at most `patience` ms after the promotion. */
  next(patience: number): Promise<Return[]>;
  stop(): Promise<void>;
}

const LOOK = 20;
const LOOK_UP = 10;
/** Milliseconds until the set is whole again: Sentinels look at a new replica every ten seconds. */
const HEALING = 120_000;

/**
 * `distance`: extra milliseconds for the responses of the Sentinels. If it fails, nothing is left
 * running.
 */
export async function openFailovers({
  gateways: count,
  distance,
}: {
  readonly gateways: number;
  readonly distance: number;
}): Promise<Failovers> {
  const sentinels: RedisServer[] = [];
  const proxies: TcpProxy[] = [];
  const gateways: SharedGateway[] = [];
  let nodes: RedisServer[] = [];
  const lookUps: LookUps = { found: 0, outages: 0, wrong: 0 };
  const ended = new AbortController();
  const lookingUp: Promise<void>[] = [];

  async function lookUp({ keys }: SharedGateway, hash: string): Promise<void> {
    while (!ended.signal.aborted) {
      try {
        if ((await keys.find(hash)) === null) lookUps.wrong++;
        else lookUps.found++;
      } catch {
        lookUps.outages++;
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_UP));
    }
  }

  async function stop(): Promise<void> {
    ended.abort();
    await Promise.all(lookingUp);
    await Promise.all(gateways.map((gateway) => gateway.close()));
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await stopAll([...sentinels, ...nodes]);
  }

  async function start(): Promise<void> {
    nodes.push(await startRedis());
    const [master] = nodes as [RedisServer];
    for (let i = 0; i < 2; i++) nodes.push(await startRedis({ args: replicaOf(master) }));
    sentinels.push(...(await startTogether([1, 2, 3].map(() => () => startSentinel(master.port)))));
    for (const { port } of sentinels) {
      const proxy = await startProxy(port);
      proxy.replies = { delay: distance };
      proxies.push(proxy);
    }
    await untilWhole();
    const [first, ...others] = proxies.map(({ url }) => url) as [string, ...string[]];
    const settings = {
      topology: 'sentinel',
      url: first,
      nodes: others.map((url) => url.slice('redis://'.length)),
    } as const;
    // Each second one has no copy of the keys: it asks Redis for each.
    for (let i = 0; i < count; i++)
      gateways.push(await openShared(settings, { workers: (i % 2) + 1 }));
    const record = keyRecord();
    await gateways[0]!.keys.add(record, note());
    await untilCopied(record.hash);
    lookingUp.push(...gateways.map((gateway) => lookUp(gateway, record.hash)));
  }

  async function untilCopied(hash: string): Promise<void> {
    const has = async ({ admin }: RedisServer) =>
      (await admin.hexists(keyOf.records.hashes, hash)) === 1;
    await until('all have the key', async () => (await Promise.all(nodes.map(has))).every(Boolean));
  }

  /**
   * All Sentinels name one master, and the others follow it. The master may have changed again: a
   * busy machine looks like a dead one.
   */
  async function untilWhole(): Promise<void> {
    await until(
      'the set is whole',
      async () => {
        const seen = await Promise.all(sentinels.map(({ admin }) => masterSeen(admin)));
        const master = nodes.find(({ port }) => seen.every((one) => one === port));
        if (!master || !(await isMaster(master))) return false;
        nodes = [master, ...nodes.filter((node) => node !== master)];
        return (await Promise.all(nodes.slice(1).map((node) => follows(node, master)))).every(
          Boolean,
        );
      },
      HEALING,
    );
  }

  async function next(patience: number): Promise<Return[]> {
    await untilWhole();
    const [dead, ...others] = nodes as [RedisServer, ...RedisServer[]];
    await dead.kill();
    await until(
      'a replica has taken over',
      async () => (await mastersOf(others)).length > 0,
      HEALING,
    );
    const took = performance.now();
    // A supervisor would restart it too: it starts as an empty master, until the Sentinels make it
    // a replica.
    await dead.stop();
    nodes = [...others, await startRedis({ port: dead.port })];
    const untilBack = async (
      client: Return['client'],
      gateway: number,
      isBack: () => Promise<boolean>,
    ) => {
      while (performance.now() < took + patience) {
        if (await isBack()) return { gateway, client, after: performance.now() - took };
        await new Promise((resolve) => setTimeout(resolve, LOOK));
      }
      return { gateway, client, after: null };
    };
    // Redis does not show which gateway a listener belongs to.
    const allListen = async () =>
      (await listenersOf(await mastersOf(others))).some((number) => number >= count);
    return await Promise.all(
      gateways.flatMap((gateway, i) => [
        untilBack('requests', i, () => takesWrites(gateway)),
        untilBack('messages', i, allListen),
      ]),
    );
  }

  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { lookUps, next, stop };
}

const replicaOf = ({ port }: RedisServer) => ['--replicaof', `127.0.0.1 ${port}`];

async function isMaster({ admin }: RedisServer): Promise<boolean> {
  return /role:master/.test(await admin.info('replication'));
}

async function mastersOf(nodes: readonly RedisServer[]): Promise<RedisServer[]> {
  const are = await Promise.all(nodes.map(isMaster));
  return nodes.filter((_, i) => are[i]);
}

async function follows({ admin }: RedisServer, { port }: RedisServer): Promise<boolean> {
  const info = await admin.info('replication');
  return info.includes(`master_port:${port}\r`) && info.includes('master_link_status:up');
}

/** 0 if the Sentinel does not see a healthy set. */
async function masterSeen(sentinel: RedisServer['admin']): Promise<number> {
  const [, port] =
    /status=ok,address=127.0.0.1:(\d+),slaves=2,sentinels=3/.exec(
      await sentinel.info('sentinel'),
    ) ?? [];
  const replicas = (await sentinel.call('SENTINEL', 'REPLICAS', 'mymaster')) as string[][];
  const areWell = replicas.every(
    (fields) =>
      fieldOf(fields, 'flags') === 'slave' && fieldOf(fields, 'master-link-status') === 'ok',
  );
  return port !== undefined && areWell ? Number(port) : 0;
}

const fieldOf = (fields: readonly string[], name: string) => fields[fields.indexOf(name) + 1];

/** A write, so that a replica does not count as the master. */
function takesWrites({ state }: SharedGateway): Promise<boolean> {
  return Promise.resolve(state.reset('key:probe')).then(
    () => true,
    () => false,
  );
}

async function listenersOf(nodes: readonly RedisServer[]): Promise<number[]> {
  const counts = nodes.map(({ admin }) => admin.pubsub('NUMSUB', CHANNEL));
  return (await Promise.all(counts)).map((count) => Number((count as [string, number])[1]));
}
