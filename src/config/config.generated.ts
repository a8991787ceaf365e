// Written by `npm run generate` from config/gateway.schema.json, which explains every setting.
import type { Unit } from './conversions.ts';

type Upstream = {
  readonly url: string | null;
  readonly backends: readonly { readonly url: Unit<'baseUrl'>; readonly weight: number }[];
  readonly connections: number;
  readonly connectTimeout: Unit<'duration'>;
  readonly headersTimeout: Unit<'duration'>;
  readonly bodyTimeout: Unit<'duration'>;
  readonly keepAliveTimeout: Unit<'duration'>;
  readonly minResponseRate: Unit<'size'>;
  readonly tls: {
    readonly ca: Unit<'path'> | null;
    readonly cert: Unit<'path'> | null;
    readonly key: Unit<'path'> | null;
    readonly serverName: string | null;
  };
  readonly dnsRefresh: Unit<'duration'>;
  readonly readyDuringOutage: boolean;
  readonly healthChecks: {
    readonly path: string | null;
    readonly interval: Unit<'duration'>;
    readonly timeout: Unit<'duration'>;
    readonly healthyThreshold: number;
    readonly unhealthyThreshold: number;
    readonly statuses: readonly (Unit<'statuses'>)[];
  };
  readonly ejection: {
    readonly enabled: boolean;
    readonly failures: number;
    readonly timeouts: number;
    readonly failureRate: number;
    readonly statuses: readonly (Unit<'statuses'>)[];
    readonly probeInterval: Unit<'duration'>;
    readonly slowStart: Unit<'duration'>;
  };
  readonly retries: {
    readonly budget: number;
    readonly maxRetries: number;
    readonly on: readonly ('connect' | 'reset')[];
    readonly timeouts: boolean;
  };
};

type Contract = {
  readonly file: Unit<'contract'> | null;
  readonly unknownQuery: 'refuse' | 'pass';
  readonly onUnsupported: 'refuse' | 'omit' | 'report' | 'pass';
  readonly serverPath: 'auto' | 'ignore' | 'prefix';
  readonly encodedCommas: 'data' | 'separators';
  readonly encodedSlash: 'refuse' | 'pass';
  readonly semicolon: 'refuse' | 'pass';
  readonly integers: 'plain' | 'any';
  readonly readOnly: 'pass' | 'refuse';
  readonly maxDepth: number;
  readonly requests: 'report' | 'enforce';
  readonly responses: 'off' | 'report' | 'enforce';
  readonly afterSunset: 'serve' | 'refuse';
};

type Keys = {
  readonly headers: Unit<'keyHeaders'> | null;
  readonly hide: boolean;
  readonly identity: {
    readonly keyId: string | null;
    readonly account: string | null;
    readonly plan: string | null;
    readonly scopes: string | null;
  };
};

type AddressLists = {
  readonly allow: Unit<'addresses'>;
  readonly deny: Unit<'addresses'>;
};

type Cors = {
  readonly origins: readonly string[];
  readonly maxAge: Unit<'duration'>;
};

type Headers = {
  readonly request: {
    readonly set: Readonly<Record<string, Unit<'fieldValue'>>>;
    readonly remove: readonly string[];
  };
  readonly response: {
    readonly set: Readonly<Record<string, Unit<'fieldValue'>>>;
    readonly remove: readonly string[];
  };
};

type Cost = {
  readonly header: string | null;
  readonly refund: readonly (Unit<'statuses'>)[];
};

type Reference = {
  readonly enabled: boolean;
  readonly title: string | null;
  readonly logo: Unit<'path'> | null;
  readonly introduction: Unit<'path'> | null;
};

type WebhookEvent = 'ban.started' | 'quota.reached' | 'key.created' | 'key.rotated' | 'key.expiring' | 'key.first_used' | 'upstream.down' | 'upstream.up' | 'state.down' | 'state.up' | 'reload.failed' | 'health.changed';

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
    readonly proxyProtocol: { readonly trustedBalancers: readonly string[] };
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
    readonly failureThreshold: number;
    readonly onOutage: 'local' | 'deny' | 'allow';
    readonly shareRemaining: boolean;
    readonly readyDuringOutage: boolean;
    readonly refusalCacheTtl: Unit<'duration'>;
    readonly keyCache: { readonly enabled: boolean; readonly maxAge: Unit<'duration'> };
  };
  readonly upstream: Upstream;
  readonly upstreams: Readonly<Record<string, Upstream>>;
  readonly contract: Contract;
  readonly plans: { readonly file: Unit<'path'> | null };
  readonly keys: Keys;
  readonly http: {
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
    readonly responseWriteTimeout: Unit<'duration'>;
    readonly drainDelay: Unit<'duration'>;
    readonly drainTimeout: Unit<'duration'>;
    readonly authFailureLimit: { readonly failures: number; readonly window: Unit<'duration'> };
  };
  readonly addresses: AddressLists;
  readonly apis: readonly unknown[];
  readonly cors: Cors;
  readonly headers: Headers;
  readonly operations: Readonly<Record<string, {
    readonly timeout: Unit<'duration'> | null;
    readonly maxBodyBytes: Unit<'size'> | null;
    readonly cost: number | null;
  }>>;
  readonly cost: Cost;
  readonly usage: {
    readonly enabled: boolean;
    readonly hours: Unit<'duration'>;
    readonly days: Unit<'duration'>;
    readonly maxBytes: Unit<'size'>;
    readonly export: { readonly url: string | null; readonly token: string | null };
  };
  readonly reference: Reference;
  readonly console: {
    readonly enabled: boolean;
    readonly idleTimeout: Unit<'duration'>;
    readonly links: readonly { readonly title: string; readonly url: Unit<'url'> }[];
  };
  readonly audit: {
    readonly maxEntries: number;
    readonly bans: { readonly maxEntries: number; readonly maxAge: Unit<'duration'> };
  };
  readonly webhooks: {
    readonly url: string | null;
    readonly secret: string | null;
    readonly previousSecret: string | null;
    readonly events: readonly WebhookEvent[];
    readonly endpoints: readonly { readonly url: string; readonly events: readonly WebhookEvent[] | null }[];
    readonly timeout: Unit<'duration'>;
    readonly retryFor: Unit<'duration'>;
    readonly maxPending: number;
    readonly keyExpiryNotice: Unit<'duration'>;
    readonly minQuotaWindow: Unit<'duration'>;
  };
  readonly explain: { readonly bufferSize: number; readonly sampleRate: number };
  readonly tracing: {
    readonly endpoint: Unit<'url'> | null;
    readonly tracesEndpoint: Unit<'url'> | null;
    readonly exporter: 'otlp' | 'none';
    readonly headers: Unit<'pairs'> | null;
    readonly compression: 'none' | 'gzip';
    readonly timeout: Unit<'duration'>;
    readonly certificate: Unit<'path'> | null;
    readonly clientCertificate: Unit<'path'> | null;
    readonly clientKey: Unit<'path'> | null;
    readonly sampler: 'always_on' | 'always_off' | 'traceidratio' | 'parentbased_always_on' | 'parentbased_always_off' | 'parentbased_traceidratio';
    readonly ratio: number;
    readonly parents: 'any' | 'proxies' | 'none';
    readonly serviceName: string | null;
    readonly resourceAttributes: Unit<'pairs'> | null;
    readonly batch: {
      readonly maxQueueSize: number;
      readonly maxExportBatchSize: number;
      readonly scheduleDelay: Unit<'duration'>;
      readonly exportTimeout: Unit<'duration'>;
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
