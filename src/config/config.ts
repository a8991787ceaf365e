import type { AddressLists } from '../common/address-lists.ts';
import type { Plans } from '../limits/plans.ts';

/** The gateway's settings, checked, complete and frozen. Times are milliseconds, sizes bytes, paths absolute. */
export interface Config {
  /** Processes that carry requests; `auto` is already resolved. More than one only with Redis. */
  readonly workers: number;
  readonly listen: Address & {
    readonly tls: ServerTlsFiles & { readonly minVersion: 'TLSv1.2' | 'TLSv1.3' };
    /** CIDR blocks of balancers that begin each connection with a header of the PROXY protocol. */
    readonly proxyProtocol: { readonly from: readonly string[] };
  };
  readonly admin: Address & {
    readonly token: string | null;
    readonly tls: ServerTlsFiles & { readonly clientCa: string | null };
  };
  /** The folder of the embedded state; with Redis, of the copy of its keys. */
  readonly data: string;
  /** The Redis that several gateways share; `null` for embedded state. The URL may hold a password. */
  readonly redis: RedisSettings | null;
  /** The upstream `default`. */
  readonly upstream: Upstream;
  /** Further ones by their names. */
  readonly upstreams: Readonly<Record<string, Upstream>>;
  readonly contract: {
    readonly file: string;
    /** What to do with a query parameter that the operation does not name. */
    readonly unknownQuery: 'refuse' | 'pass';
    /** What becomes of operations in which the contract has mistakes; `none`: it is refused. */
    readonly leniency: 'none' | 'omit' | 'report' | 'pass';
    readonly serverPath: 'ignore' | 'prefix';
    readonly encodedCommas: 'data' | 'separators';
    readonly integers: 'plain' | 'any';
    /** Whether members of requests that are `readOnly` pass. */
    readonly readOnly: 'pass' | 'refuse';
    /** Deepest nesting of JSON. */
    readonly maxDepth: number;
    /** Whether to check the store's answers against the contract. */
    readonly responses: 'off' | 'report' | 'enforce';
    /** Whether to serve an operation after its sunset date, or answer 410. */
    readonly afterSunset: 'serve' | 'refuse';
  };
  readonly plans: Plans;
  readonly door: Door;
  /** Whose requests are taken at all. */
  readonly addresses: AddressLists;
  readonly mounts: readonly Mount[];
  readonly cors: {
    /** Origins that browsers may call from; `*` for any. Empty turns CORS off. */
    readonly origins: readonly string[];
    readonly maxAge: number;
  };
  readonly reference: { readonly enabled: boolean };
  /** `idle` ends a session in which nobody did anything for so long. */
  readonly console: { readonly enabled: boolean; readonly idle: number; readonly links: readonly ConsoleLink[] };
  readonly audit: AuditSettings;
  readonly webhooks: WebhookSettings;
  /** What each process keeps of the last requests: how many, and the share of the good ones. */
  readonly explain: { readonly requests: number; readonly sample: number };
  readonly tracing: Tracing;
  readonly log: {
    readonly level: LogLevel;
    readonly requests: boolean;
    /** `auto`: lines for a person on a terminal, JSON elsewhere. */
    readonly format: 'auto' | 'json' | 'pretty';
  };
  /** The files of this configuration, for reloading and for messages. */
  readonly files: { readonly gateway: string; readonly plans: string; readonly addresses: readonly string[] };
}

/** A configuration whose upstream `default` has stores. */
export type ServedConfig = Config & {
  readonly upstream: { readonly stores: readonly [StoreAddress, ...StoreAddress[]] };
};

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

export interface Address {
  readonly host: string;
  /** 0 lets the system choose (tests). */
  readonly port: number;
}

/** A set of stores that answer the same, and how to talk to them. */
export interface Upstream {
  /** No two with the same host and port. Empty, of `default` alone: the shipped store is started beside the gateway. */
  readonly stores: readonly StoreAddress[];
  /** To each store. */
  readonly connections: number;
  readonly connectTimeout: number;
  /** Longest wait for the head of an answer. */
  readonly headersTimeout: number;
  /** Longest silence in the body of an answer. */
  readonly bodyTimeout: number;
  /** Bytes a second that a client must read of a response while other requests wait for a connection to the store; 0: none. */
  readonly minResponseRate: number;
  readonly tls: ClientTlsFiles;
  /** How often the names of stores are looked up again. */
  readonly resolve: number;
  /** Whether the gateway is ready while all of its stores are away. */
  readonly readyWhenAway: boolean;
  readonly checks: ChecksSettings;
  readonly ejection: EjectionSettings;
  readonly retries: RetriesSettings;
}

/** Files for TLS of a listener, absolute paths; it speaks TLS if there is any. */
export interface ServerTlsFiles {
  readonly cert: string | null;
  readonly key: string | null;
  readonly certificates: readonly { readonly cert: string; readonly key: string }[];
}

/** Files for TLS to another side, absolute paths, and the name that its certificate must have; `null`: what is usual. */
export interface ClientTlsFiles {
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
  readonly serverName: string | null;
}

export interface StoreAddress {
  /** Origin and optional base path, no trailing slash. */
  readonly url: string;
  readonly weight: number;
}

/** Both are part of it. */
export interface StatusRange {
  readonly from: number;
  readonly to: number;
}

/** Requests of the gateway's own to a store. */
export interface ChecksSettings {
  /** `null`: only stores that are away are asked. */
  readonly path: string | null;
  readonly interval: number;
  readonly timeout: number;
  /** Checks in a row. */
  readonly healthy: number;
  readonly unhealthy: number;
  readonly statuses: readonly StatusRange[];
}

/** When failed requests take a store away, and how it returns. */
export interface EjectionSettings {
  readonly enabled: boolean;
  /** Requests in a row without a connection or a usable answer, and such as took too long. */
  readonly failures: number;
  readonly timeouts: number;
  /** Of the requests in the last ten seconds. */
  readonly share: number;
  readonly statuses: readonly StatusRange[];
  /** Longest time between two probes of a store that is away. */
  readonly probe: number;
  readonly slowReturn: number;
}

export interface RetriesSettings {
  /** As a share of the requests. */
  readonly budget: number;
  /** Of one request. */
  readonly most: number;
  readonly on: readonly ('connect' | 'reset')[];
  readonly timeouts: boolean;
}

/** The budget of bodies holds so many of the largest: one key may have a quarter, and a body twice its size while it grows. */
export const BODIES_AT_LEAST = 8;

/** Limits that hold for every request before the gateway knows anything about it. */
export interface Door {
  /** CIDR blocks whose X-Forwarded-For the gateway believes. */
  readonly trustedProxies: readonly string[];
  /** Names in lower case, `-` for `_`, of headers that stop here; a `*` at the end stands for any ending. */
  readonly stripHeaders: readonly string[];
  readonly maxConnections: number;
  /** Of each caller address; `auto` is a part of maxConnections. */
  readonly maxConnectionsPerAddress: number | 'auto';
  readonly maxHeaderBytes: number;
  readonly maxHeaders: number;
  readonly maxUrlBytes: number;
  readonly maxBodyBytes: number;
  /** Bytes that all bodies under way may hold together; `auto` is a number by now. */
  readonly bodyBudget: number;
  /** Bytes a second that a body must bring; 0: none. */
  readonly minBodyRate: number;
  readonly headersTimeout: number;
  /** Longest time from the first byte of a request to its last. */
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  readonly maxRequestsPerConnection: number;
  /** Longest time in which a caller may read nothing of a waiting answer. */
  readonly stallTimeout: number;
  /** On a stop: the time in which the gateway still answers everything, and balancers notice that it is not ready. */
  readonly drainDelay: number;
  /** On a stop, after the delay: the time that requests in flight may take to finish. */
  readonly drainTimeout: number;
  /** Limit of requests without a valid key, per caller address: `failures` per `span`, then 429. */
  readonly guard: { readonly failures: number; readonly span: number };
}

/** A path prefix whose requests go to a target as they are: authenticated and limited, not validated. */
export interface Mount {
  /** Plain and canonical: starts with a slash, ends with none, needs no percent-encoding. */
  readonly path: string;
  /** Origin and optional base path, no trailing slash; `null`: it leads to an upstream. */
  readonly target: string | null;
  /** The name of an upstream. */
  readonly upstream: string | null;
  readonly websocket: boolean;
  /** What stands in place of `path` at the target, in the same form, or empty; `null`: the path stays as it is. */
  readonly rewrite: string | null;
  /** Whose requests it takes, of those that the gateway takes. */
  readonly addresses: AddressLists;
}

/** A page of another system that operators look at too. The URL is of http or https. */
export interface ConsoleLink {
  readonly title: string;
  readonly url: string;
}

/** Spans, where they go and which requests have them; what answers say of times. Times are milliseconds. */
export interface Tracing {
  /** The OTLP receiver, and the whole URL for spans, which beats it; both `null`: no spans. */
  readonly endpoint: string | null;
  readonly tracesEndpoint: string | null;
  /** `none`: no spans, whatever the endpoint is. */
  readonly exporter: 'otlp' | 'none';
  readonly protocol: 'http/protobuf' | 'http/json';
  /** Secret. */
  readonly headers: Readonly<Record<string, string>> | null;
  readonly compression: 'none' | 'gzip';
  readonly timeout: number;
  /** Files. */
  readonly certificate: string | null;
  readonly clientCertificate: string | null;
  readonly clientKey: string | null;
  readonly sampler: Sampler;
  readonly ratio: number;
  /** Whose traceparent is continued. */
  readonly parents: 'any' | 'proxies' | 'none';
  readonly service: string | null;
  readonly resource: Readonly<Record<string, string>> | null;
  readonly batch: {
    readonly queue: number;
    readonly size: number;
    readonly delay: number;
    readonly timeout: number;
  };
  /** Whether spans have the caller's address. */
  readonly clientAddress: boolean;
  /** Whether answers have Server-Timing. */
  readonly serverTiming: boolean;
}

/** As OpenTelemetry names them. */
export type Sampler =
  | 'always_on'
  | 'always_off'
  | 'traceidratio'
  | 'parentbased_always_on'
  | 'parentbased_always_off'
  | 'parentbased_traceidratio';

/** How long the audit log and the log of bans grow. */
export interface AuditSettings {
  /** Entries that are kept; of more, the oldest go. */
  readonly keep: number;
  readonly bans: {
    readonly keep: number;
    /** Milliseconds for which an entry is kept. */
    readonly for: number;
  };
}

/** The address of Redis and the policy for outages. Times are milliseconds. */
export interface RedisSettings {
  /** `redis[s]://[[user]:password@]host[:port][/database]`; for Sentinel and Cluster one of the nodes to ask first. */
  readonly url: string;
  /** The URL names the Redis (`single`), a Sentinel (`sentinel`) or a node of a Cluster (`cluster`). */
  readonly topology: 'single' | 'sentinel' | 'cluster';
  /** More Sentinels or Cluster nodes to ask, `host:port`, in case the one of the URL is away. */
  readonly nodes: readonly string[];
  /** The Sentinels' name for the master. */
  readonly master: string;
  /** The password of the Sentinels; the URL's user and password are for the Redis that they name. */
  readonly sentinelPassword: string | null;
  /** Longest wait for one answer; then `whenAway` decides about the request. */
  readonly deadline: number;
  /** After this many missed answers in a row, requests stop waiting until Redis is well again. */
  readonly misses: number;
  /** `local`: count in this process; `deny`: answer 503; `allow`: admit without counting. */
  readonly whenAway: 'local' | 'deny' | 'allow';
  /** Under `local`: give out a share of the units left, by the number of gateways, instead of all of them. */
  readonly divide: boolean;
  /** Whether the gateway reports itself ready while Redis is away. */
  readonly readyWhenAway: boolean;
  /** Longest time that the gateway repeats a refusal from memory before it asks Redis again. */
  readonly refusedFor: number;
  /** Longest time that the gateway trusts a key, or refuses an unknown one, before it asks Redis again. */
  readonly keysFor: number;
  readonly keyCopy: KeyCopySettings;
}

/** The copy of the keys in the data folder. Times are milliseconds. */
export interface KeyCopySettings {
  readonly enabled: boolean;
  /** From the begin of one comparison of all keys with Redis to that of the next. */
  readonly sweep: number;
  /** A copy that is older is not used. */
  readonly maxAge: number;
}

/** Who is told of events, and how. Times are milliseconds. */
export interface WebhookSettings {
  /** Secret, as those of `endpoints`; `null`: none. */
  readonly url: string | null;
  /** `whsec_` and base64; there is one where there is any receiver. */
  readonly secret: string | null;
  readonly previousSecret: string | null;
  /** The events that are sent to `url`; empty: all. */
  readonly events: readonly string[];
  /** More receivers; `events` as above. */
  readonly endpoints: readonly { readonly url: string; readonly events: readonly string[] }[];
  readonly timeout: number;
  /** How long an event is tried again. */
  readonly keep: number;
  /** The most events that wait for one receiver. */
  readonly waiting: number;
  readonly expiring: number;
  /** The shortest window whose use is told. */
  readonly quota: number;
}
