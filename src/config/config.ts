import type { Plans } from '../limits/plans.ts';
import type { GatewaySettings } from './config.generated.ts';
import type { PageFiles } from './page-files.ts';

export type { StatusRange } from './conversions.ts';

/**
 * Checked, complete and frozen; config/gateway.schema.json explains each setting. Times are
 * milliseconds, sizes bytes, paths absolute.
 */
export interface Config
  extends Omit<
    GatewaySettings,
    'redis' | 'upstream' | 'upstreams' | 'plans' | 'reference'
  > {
  /** `auto` is already resolved. More than one only with Redis. */
  readonly workers: number;
  /** `null` for embedded state. */
  readonly redis: RedisSettings | null;
  readonly upstream: Upstream;
  readonly upstreams: Readonly<Record<string, Upstream>>;
  readonly contract: GatewaySettings['contract'] & { readonly file: string };
  readonly plans: Plans;
  readonly reference: Omit<GatewaySettings['reference'], keyof PageFiles> &
    PageFiles;
  readonly http: HttpLimits;
  /** For reloading and for messages. */
  readonly files: {
    readonly gateway: string;
    readonly plans: string;
    /** Lists of addresses, values of header rules, and files of the reference. */
    readonly others: readonly string[];
  };
}

export type ServedConfig = Config & {
  readonly upstream: {
    readonly backends: readonly [BackendAddress, ...BackendAddress[]];
  };
};

/** The URL may hold a password. */
export type RedisSettings = GatewaySettings['redis'] & { readonly url: string };

/**
 * No two backends have the same host and port. Only `default` may have none: the shipped store then
 * runs beside the gateway.
 */
export type Upstream = Omit<GatewaySettings['upstream'], 'url'>;
export type BackendAddress = Upstream['backends'][number];
export type EjectionSettings = Upstream['ejection'];
export type RetriesSettings = Upstream['retries'];

/** `auto` of the budget is already resolved. */
export type HttpLimits = GatewaySettings['http'] & {
  readonly bodyBudget: number;
};

/** In largest bodies: so many that several plans can hold one at once, see `SharedBudget`. */
export const MIN_BODY_BUDGET = 8;

export type HeaderRules = GatewaySettings['headers']['request'];

/** By operationId. */
export type OperationSettings = GatewaySettings['operations'];

/** In bytes, of any operation. */
export const largestBody = ({
  http,
  operations,
}: Pick<GatewaySettings, 'http' | 'operations'>): number =>
  Math.max(
    http.maxBodyBytes,
    ...Object.values(operations).map(({ maxBodyBytes }) => maxBodyBytes ?? 0),
  );

export type Address = Pick<Config['listen'], 'host' | 'port'>;
export type Mount = Config['mounts'][number];
export type Tracing = Config['tracing'];
export type AuditSettings = Config['audit'];
export type WebhookSettings = Config['webhooks'];
