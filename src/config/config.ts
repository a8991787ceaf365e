import type { Ladder, Window } from '../limits/limits.ts';

/** The gateway's settings, checked, complete and frozen. Times are milliseconds, sizes bytes, paths absolute. */
export interface Config {
  /** Processes that carry requests; `auto` is a number by now. More than one only where there is a Redis. */
  readonly workers: number;
  readonly listen: Address;
  readonly admin: Address & { readonly token: string | null };
  /** Folder of everything the embedded default remembers. */
  readonly data: string;
  /** State shared by several gateways; `null`: kept in this one. The URL may hold a password. */
  readonly redis: RedisSettings | null;
  readonly upstream: Upstream;
  readonly contract: {
    readonly file: string;
    /** What happens to a query parameter the operation does not name. */
    readonly unknownQuery: 'refuse' | 'pass';
    /** Whether answers of the store are held against the contract. */
    readonly responses: 'off' | 'report' | 'enforce';
    /** After an operation's sunset date: keep serving it, or answer 410. */
    readonly afterSunset: 'serve' | 'refuse';
  };
  readonly plans: Plans;
  readonly door: Door;
  readonly mounts: readonly Mount[];
  readonly cors: {
    /** Origins that browsers may call from; `*` for any. Empty: CORS is off. */
    readonly origins: readonly string[];
    readonly maxAge: number;
  };
  readonly reference: { readonly enabled: boolean };
  readonly log: { readonly level: LogLevel; readonly requests: boolean };
  /** The files this was read from, for reloading and for messages. */
  readonly files: { readonly gateway: string; readonly plans: string };
}

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

export interface Address {
  readonly host: string;
  /** 0 lets the system choose (tests). */
  readonly port: number;
}

/** The store and how to talk to it. */
export interface Upstream {
  /**
   * Origin and optional base path of the store, no trailing slash; `null`: the shipped store is started beside the
   * gateway.
   */
  readonly url: string | null;
  readonly connections: number;
  readonly connectTimeout: number;
  /** Longest wait for the head of an answer. */
  readonly headersTimeout: number;
  /** Longest silence in the body of an answer. */
  readonly bodyTimeout: number;
}

/** Limits that hold for every request before anything is known about it. */
export interface Door {
  /** CIDR blocks whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  readonly maxConnections: number;
  readonly maxHeaderBytes: number;
  readonly maxHeaders: number;
  readonly maxUrlBytes: number;
  readonly maxBodyBytes: number;
  readonly headersTimeout: number;
  /** Longest time from the first byte of a request to its last. */
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  /** Longest time in which a caller may take nothing of an answer that is there for it. */
  readonly stallTimeout: number;
  /** On a stop: how long requests in flight may take to finish. */
  readonly drainTimeout: number;
  /** Requests without a valid key, per caller address: so many `failures` per `span`, then 429. */
  readonly guard: { readonly failures: number; readonly span: number };
}

/** A path prefix passed to a target as it is: authenticated and limited, not validated. */
export interface Mount {
  /** Plain and canonical: starts with a slash, ends with none, needs no percent-encoding. */
  readonly path: string;
  /** Origin and optional base path, no trailing slash. */
  readonly target: string;
  readonly websocket: boolean;
}

export interface Plans {
  readonly plans: ReadonlyMap<string, Plan>;
  readonly ladder: Ladder | null;
  /** Own limits of an account, by account name; they take the place of the plan's windows. */
  readonly accounts: ReadonlyMap<string, readonly Window[]>;
}

export interface Plan {
  readonly name: string;
  /** Who is counted: each key by itself, or all keys of an account together. */
  readonly count: 'key' | 'account';
  /** `null`: a custom plan. Its limits are set per key or account; without them a key of it is not usable. */
  readonly windows: readonly Window[] | null;
}

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
