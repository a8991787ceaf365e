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
    'redis' | 'upstream' | 'upstreams' | 'plans' | 'reference' | 'apis'
  > {
  /** `auto` is already resolved. More than one only with Redis. */
  readonly workers: number;
  /** `null` for embedded state. */
  readonly redis: RedisSettings | null;
  readonly upstream: Upstream;
  /** Also of APIs that have their own, by the name of the API. */
  readonly upstreams: Readonly<Record<string, Upstream>>;
  readonly contract: GatewaySettings['contract'] & { readonly file: string };
  readonly plans: Plans;
  /** The first has every path that no other one has. */
  readonly apis: readonly Api[];
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

/** In bytes, of any operation of an API. */
export const largestBody = ({
  http,
  operations,
}: Pick<GatewaySettings, 'operations'> & {
  readonly http: Pick<GatewaySettings['http'], 'maxBodyBytes'>;
}): number =>
  Math.max(
    http.maxBodyBytes,
    ...Object.values(operations).map(({ maxBodyBytes }) => maxBodyBytes ?? 0),
  );

export type Address = Pick<Config['listen'], 'host' | 'port'>;
export type Tracing = Config['tracing'];
export type AuditSettings = Config['audit'];
export type WebhookSettings = Config['webhooks'];

/** Where the requests of an API are, and where they go. */
export interface ApiPlace {
  readonly name: string;
  /** In lower case and ASCII, without a port; `*.` begins a wildcard. `null`: any. */
  readonly host: string | null;
  readonly path: string;
  /** `null`: unless the paths of the contract begin with `path`. */
  readonly stripPath: boolean | null;
  readonly websocket: boolean;
  readonly target: string | null;
  /** The name of its upstream; `null`: `target`, or nothing. */
  readonly backends: string | null;
  /** Whether it has address lists of its own. */
  readonly ownAddresses: boolean;
  /** Whether a cost that `target` reports is charged, though no upstream has its host. */
  readonly trustsCost: boolean;
}

/** Complete: what an entry leaves out is inherited. */
export interface Api
  extends ApiPlace,
    Pick<
      Config,
      | 'headers'
      | 'operations'
      | 'contract'
      | 'keys'
      | 'addresses'
      | 'cors'
      | 'cost'
      | 'reference'
      | 'plans'
    > {
  readonly http: Pick<Config['http'], 'maxBodyBytes' | 'stripHeaders'>;
  readonly usage: Pick<Config['usage'], 'enabled'>;
  /** Whether the gateway has no other. */
  readonly isAlone: boolean;
  /** The setting or variable that names its contract. */
  readonly namedBy: string;
}
