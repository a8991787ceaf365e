import type { Cluster } from 'ioredis';
import { CountersError } from '../state.ts';
import { type DataCheck, type DataCheckOptions, isPermissionError, LOST_AFTER } from './data-mark.ts';
import { lookedUp } from './shapes.ts';

/**
 * Like DataMark, for each master: a missing key is unknown only if the master has the data of a known master. Redis
 * identifies data by `master_replid`. A promoted replica reports its former master's id in `master_replid2`, as does a
 * master that loaded its data after a restart. A master that starts empty reports none.
 */
export class ClusterData implements DataCheck {
  readonly #redis: Cluster;
  readonly #lost: () => void;
  readonly #clock: () => number;
  readonly #known = new Set<string>();
  readonly #unknownSince = new Map<string, number>();

  constructor(redis: Cluster, { lost, clock = () => performance.now() }: DataCheckOptions) {
    this.#redis = redis;
    this.#lost = lost;
    this.#clock = clock;
  }

  async learn(): Promise<void> {
    for (const { id } of await this.#masters()) this.#known.add(id);
  }

  readonly lookUp = async (name: string): Promise<string | null> => {
    const text = await lookedUp(this.#redis, this.#redis.get(name));
    if (text !== null) return text;
    // One connection, so that the same master replies to both.
    const [again, replication] = (await this.#redis.pipeline().get(name).info('replication').exec()) ?? [];
    const failure = isMigrating(again?.[0]) ? null : (again?.[0] ?? null);
    if (failure !== null) throw failure;
    const found = await lookedUp(this.#redis, again?.[1] ?? null);
    if (found === null && !isPermissionError(replication?.[0])) {
      if (replication?.[0]) throw replication[0];
      await this.#confirm(dataOf(replication?.[1]));
    }
    return found;
  };

  async confirm(): Promise<void> {
    for (const data of await this.#masters()) await this.#confirm(data);
  }

  async #masters(): Promise<ShardData[]> {
    const asked = this.#redis.nodes('master').map(async (node) => dataOf(await node.info('replication')));
    return await Promise.all(asked).catch((error: unknown) => {
      if (isPermissionError(error)) return [];
      throw error;
    });
  }

  async #confirm({ isMaster, id, before }: ShardData): Promise<void> {
    if (!isMaster) throw new CountersError('Redis is a replica: it may not have the newest keys');
    if (this.#known.size === 0) await this.learn();
    if (!this.#known.has(id) && !this.#known.has(before)) this.#await(id);
    this.#known.add(id);
    this.#unknownSince.delete(id);
  }

  /** Throws CountersError until this id was unknown for `LOST_AFTER`. */
  #await(id: string): void {
    const since = this.#unknownSince.get(id) ?? this.#clock();
    this.#unknownSince.set(id, since);
    if (this.#clock() - since < LOST_AFTER)
      throw new CountersError('Redis may have come up without its data: keys that it does not have are answered 503');
    this.#lost();
  }
}

interface ShardData {
  readonly isMaster: boolean;
  readonly id: string;
  readonly before: string;
}

function dataOf(info: unknown): ShardData {
  const field = (name: string) => new RegExp(`^${name}:(\\w+)`, 'm').exec(String(info))?.[1] ?? '';
  return { isMaster: field('role') === 'master', id: field('master_replid'), before: field('master_replid2') };
}

/** The slot is migrating, and the first look-up was redirected to the new master. */
function isMigrating(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('ASK ');
}
