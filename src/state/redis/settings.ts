/** Where Redis is and what happens when it is not. Times are milliseconds. */
export interface RedisSettings {
  /** `redis[s]://[[user]:password@]host[:port][/database]`: for Sentinel and Cluster one of the nodes to ask first. */
  readonly url: string;
  /** `single`: the URL is the Redis. `sentinel`: it is a Sentinel. `cluster`: it is a node of a Cluster. */
  readonly topology: 'single' | 'sentinel' | 'cluster';
  /** More Sentinels or Cluster nodes to ask, `host:port`, in case the one of the URL is away. */
  readonly nodes: readonly string[];
  /** What the Sentinels call the master. */
  readonly master: string;
  /** What the Sentinels themselves ask for; the URL's user and password are for the Redis they name. */
  readonly sentinelPassword: string | null;
  /** Longest wait for one answer; then the request goes on as `whenAway` says. */
  readonly deadline: number;
  /** Misses in a row after which requests stop waiting for Redis until it is well again. */
  readonly misses: number;
  /** `local`: count in this process; `deny`: answer 503; `allow`: admit without counting. */
  readonly whenAway: 'local' | 'deny' | 'allow';
  /** Under `local`: take a share of what is left, by the number of gateways, instead of all of it. */
  readonly divide: boolean;
  /** Whether this gateway calls itself ready while Redis is away. */
  readonly readyWhenAway: boolean;
  /** Longest time a refusal is repeated from memory before Redis is asked again. */
  readonly refusedFor: number;
  /** Longest time a key is trusted, and an unknown one refused, before Redis is asked again. */
  readonly keysFor: number;
}

export const DEFAULTS = {
  topology: 'single',
  nodes: [],
  master: 'mymaster',
  sentinelPassword: null,
  deadline: 50,
  misses: 3,
  whenAway: 'local',
  divide: false,
  readyWhenAway: true,
  refusedFor: 5_000,
  keysFor: 30_000,
} as const satisfies Omit<RedisSettings, 'url'>;
