import type { Plans } from '../limits/plans.ts';
import type { GatewaySettings } from './config.generated.ts';

export type { StatusRange } from './conversions.ts';

/**
 * The gateway's settings, checked, complete and frozen: those of config/gateway.schema.json, which explains each. Times are
 * milliseconds, sizes bytes, paths absolute. Only what differs from the schema is written here.
 */
export interface Config extends Omit<GatewaySettings, 'redis' | 'upstream' | 'upstreams' | 'plans'> {
  /** `auto` is already resolved. More than one only with Redis. */
  readonly workers: number;
  /** `null` for embedded state. */
  readonly redis: RedisSettings | null;
  /** The upstream `default`. */
  readonly upstream: Upstream;
  /** Further ones by their names. */
  readonly upstreams: Readonly<Record<string, Upstream>>;
  readonly contract: GatewaySettings['contract'] & { readonly file: string };
  readonly plans: Plans;
  readonly http: HttpLimits;
  /** The files of this configuration, for reloading and for messages. */
  readonly files: { readonly gateway: string; readonly plans: string; readonly addresses: readonly string[] };
}

/** A configuration whose upstream `default` has stores. */
export type ServedConfig = Config & {
  readonly upstream: { readonly stores: readonly [StoreAddress, ...StoreAddress[]] };
};

/** The URL may hold a password. */
export type RedisSettings = GatewaySettings['redis'] & { readonly url: string };

/**
 * A set of stores that answer the same, and how to talk to them. No two stores have the same host and port. There is none, of
 * `default` alone, if the shipped store is started beside the gateway.
 */
export type Upstream = Omit<GatewaySettings['upstream'], 'url'>;
export type StoreAddress = Upstream['stores'][number];
export type ChecksSettings = Upstream['healthChecks'];
export type EjectionSettings = Upstream['ejection'];
export type RetriesSettings = Upstream['retries'];

/** `auto` of the budget is already resolved. */
export type HttpLimits = GatewaySettings['http'] & { readonly bodyBudget: number };

/** The budget of bodies holds so many of the largest: one key may have a quarter, and a body twice its size while it grows. */
export const MIN_BODY_BUDGET = 8;

export type Address = Pick<Config['listen'], 'host' | 'port'>;
export type Mount = Config['mounts'][number];
export type Tracing = Config['tracing'];
export type AuditSettings = Config['audit'];
export type WebhookSettings = Config['webhooks'];
