// Written by `npm run generate` from config/gateway.schema.json, which explains every setting.
import type { Unit } from './conversions.ts';

export type Upstream = {
  readonly url: string | null;
  readonly stores: readonly { readonly url: Unit<'baseUrl'>; readonly weight: number }[];
  readonly connections: number;
  readonly connectTimeout: Unit<'duration'>;
  readonly headersTimeout: Unit<'duration'>;
  readonly bodyTimeout: Unit<'duration'>;
  readonly minResponseRate: Unit<'size'>;
  readonly tls: {
    readonly ca: Unit<'path'> | null;
    readonly cert: Unit<'path'> | null;
    readonly key: Unit<'path'> | null;
    readonly serverName: string | null;
  };
  readonly resolve: Unit<'duration'>;
  readonly readyWhenAway: boolean;
  readonly checks: {
    readonly path: string | null;
    readonly interval: Unit<'duration'>;
    readonly timeout: Unit<'duration'>;
    readonly healthy: number;
    readonly unhealthy: number;
    readonly statuses: readonly (Unit<'statuses'>)[];
  };
  readonly ejection: {
    readonly enabled: boolean;
    readonly failures: number;
    readonly timeouts: number;
    readonly share: number;
    readonly statuses: readonly (Unit<'statuses'>)[];
    readonly probe: Unit<'duration'>;
    readonly slowReturn: Unit<'duration'>;
  };
  readonly retries: {
    readonly budget: number;
    readonly most: number;
    readonly on: readonly ('connect' | 'reset')[];
    readonly timeouts: boolean;
  };
};

export type AddressLists = {
  readonly allow: Unit<'addresses'>;
  readonly deny: Unit<'addresses'>;
};

export type WebhookEvent = 'ban.begun' | 'quota.reached' | 'key.created' | 'key.rotated' | 'key.expiring' | 'key.first_used' | 'store.away' | 'store.back' | 'state.away' | 'state.back' | 'reload.refused';

export interface GatewaySettings {
  readonly workers: number | 'auto';
  readonly listen: {
    readonly host: string;
    readonly port: number;
    readonly tls: {
      readonly cert: Unit<'path'> | null;
      readonly key: Unit<'path'> | null;
      readonly certificates: readonly { readonly cert: Unit<'path'>; readonly key: Unit<'path'> }[];
      readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
    };
    readonly proxyProtocol: { readonly from: readonly string[] };
  };
  readonly admin: {
    readonly host: string;
    readonly port: number;
    readonly token: string | null;
    readonly tls: {
      readonly cert: Unit<'path'> | null;
      readonly key: Unit<'path'> | null;
      readonly certificates: readonly { readonly cert: Unit<'path'>; readonly key: Unit<'path'> }[];
      readonly clientCa: Unit<'path'> | null;
    };
  };
  readonly data: Unit<'path'>;
  readonly redis: {
    readonly url: string | null;
    readonly topology: 'single' | 'sentinel' | 'cluster';
    readonly nodes: readonly string[];
    readonly master: string;
    readonly sentinelPassword: string | null;
    readonly deadline: Unit<'duration'>;
    readonly misses: number;
    readonly whenAway: 'local' | 'deny' | 'allow';
    readonly divide: boolean;
    readonly readyWhenAway: boolean;
    readonly refusedFor: Unit<'duration'>;
    readonly keysFor: Unit<'duration'>;
    readonly keyCopy: {
      readonly enabled: boolean;
      readonly sweep: Unit<'duration'>;
      readonly maxAge: Unit<'duration'>;
    };
  };
  readonly upstream: Upstream;
  readonly upstreams: Readonly<Record<string, Upstream>>;
  readonly contract: {
    readonly file: Unit<'path'> | null;
    readonly unknownQuery: 'refuse' | 'pass';
    readonly leniency: 'none' | 'omit' | 'report' | 'pass';
    readonly serverPath: 'ignore' | 'prefix';
    readonly encodedCommas: 'data' | 'separators';
    readonly integers: 'plain' | 'any';
    readonly readOnly: 'pass' | 'refuse';
    readonly maxDepth: number;
    readonly responses: 'off' | 'report' | 'enforce';
    readonly afterSunset: 'serve' | 'refuse';
  };
  readonly plans: { readonly file: Unit<'path'> | null };
  readonly door: {
    readonly trustedProxies: readonly string[];
    readonly stripHeaders: readonly string[];
    readonly maxConnections: number;
    readonly maxConnectionsPerAddress: number | 'auto';
    readonly maxHeaderBytes: Unit<'size'>;
    readonly maxHeaders: number;
    readonly maxUrlBytes: Unit<'size'>;
    readonly maxBodyBytes: Unit<'size'>;
    readonly bodyBudget: string | number;
    readonly minBodyRate: Unit<'size'>;
    readonly headersTimeout: Unit<'duration'>;
    readonly requestTimeout: Unit<'duration'>;
    readonly keepAliveTimeout: Unit<'duration'>;
    readonly maxRequestsPerConnection: number;
    readonly stallTimeout: Unit<'duration'>;
    readonly drainDelay: Unit<'duration'>;
    readonly drainTimeout: Unit<'duration'>;
    readonly guard: { readonly failures: number; readonly span: Unit<'duration'> };
  };
  readonly addresses: AddressLists;
  readonly mounts: readonly {
    readonly path: string;
    readonly target: Unit<'baseUrl'> | null;
    readonly upstream: string | null;
    readonly websocket: boolean;
    readonly stripPrefix: boolean;
    readonly rewrite: string | null;
    readonly addresses: AddressLists;
  }[];
  readonly cors: { readonly origins: readonly string[]; readonly maxAge: Unit<'duration'> };
  readonly reference: { readonly enabled: boolean };
  readonly console: {
    readonly enabled: boolean;
    readonly idle: Unit<'duration'>;
    readonly links: readonly { readonly title: string; readonly url: Unit<'url'> }[];
  };
  readonly audit: {
    readonly keep: number;
    readonly bans: { readonly keep: number; readonly for: Unit<'duration'> };
  };
  readonly webhooks: {
    readonly url: string | null;
    readonly secret: string | null;
    readonly previousSecret: string | null;
    readonly events: readonly WebhookEvent[];
    readonly endpoints: readonly { readonly url: string; readonly events: readonly WebhookEvent[] | null }[];
    readonly timeout: Unit<'duration'>;
    readonly keep: Unit<'duration'>;
    readonly waiting: number;
    readonly expiring: Unit<'duration'>;
    readonly quota: Unit<'duration'>;
  };
  readonly explain: { readonly requests: number; readonly sample: number };
  readonly tracing: {
    readonly endpoint: Unit<'url'> | null;
    readonly tracesEndpoint: Unit<'url'> | null;
    readonly exporter: 'otlp' | 'none';
    readonly protocol: 'http/protobuf' | 'http/json';
    readonly headers: Unit<'pairs'> | null;
    readonly compression: 'none' | 'gzip';
    readonly timeout: Unit<'duration'>;
    readonly certificate: Unit<'path'> | null;
    readonly clientCertificate: Unit<'path'> | null;
    readonly clientKey: Unit<'path'> | null;
    readonly sampler: 'always_on' | 'always_off' | 'traceidratio' | 'parentbased_always_on' | 'parentbased_always_off' | 'parentbased_traceidratio';
    readonly ratio: number;
    readonly parents: 'any' | 'proxies' | 'none';
    readonly service: string | null;
    readonly resource: Unit<'pairs'> | null;
    readonly batch: {
      readonly queue: number;
      readonly size: number;
      readonly delay: Unit<'duration'>;
      readonly timeout: Unit<'duration'>;
    };
    readonly clientAddress: boolean;
    readonly serverTiming: boolean;
  };
  readonly log: {
    readonly level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
    readonly requests: boolean;
    readonly format: 'auto' | 'json' | 'pretty';
  };
}
