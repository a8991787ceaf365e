import type { OfFleet } from './of-fleet.ts';

// The contract of the admin API, config/admin.openapi.yaml, says what the fields mean. Times are RFC 3339.

export interface Status extends OfFleet {
  readonly gateways: readonly Gateway[];
  readonly lost: readonly { readonly gateway: string; readonly at: string }[];
}

export interface Gateway {
  readonly gateway: string;
  readonly version: string;
  readonly node: string;
  readonly started: string;
  readonly uptime: number;
  readonly url: string | null;
  readonly adminUrl: string | null;
  readonly readiness: 'ready' | 'stopping' | 'state_away' | 'stores_away' | 'no_worker';
  readonly state: string;
  readonly workers: number;
  readonly inFlight: number;
  readonly processes: readonly Process[];
  readonly configuration: Configuration;
}

export interface Process {
  readonly worker: number | null;
  readonly pid: number;
  readonly inFlight: number;
  readonly memory: number;
  readonly aloneSince: string | null;
  readonly stateMs: number | null;
  readonly store: { readonly open: number; readonly idle: number; readonly waiting: number; readonly most: number };
}

export interface Configuration {
  readonly settings: string;
  readonly plans: string;
  readonly contract: string;
  readonly differs: readonly ('settings' | 'plans' | 'contract')[];
  readonly waiting: readonly string[];
  readonly lastReload: { readonly at: string; readonly reason: string; readonly problems: readonly string[] } | null;
}
