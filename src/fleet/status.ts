import type { Readiness } from './readiness.ts';

/** How one process stands that carries requests. */
export interface ProcessStatus {
  /** From 1; `null`: the gateway is this one process. */
  readonly worker: number | null;
  readonly pid: number;
  /** Requests that are being answered now. */
  readonly inFlight: number;
  /** Bytes of memory that the process has. */
  readonly memory: number;
  /** Since when it decides without the shared state, Unix milliseconds; `null`: the state is there, or is its own. */
  readonly aloneSince: number | null;
  /** Mean time of the state's last answers, milliseconds, recent ones count most; `null`: none yet, or the state is its own. */
  readonly stateTime: number | null;
  readonly store: StoreStatus;
}

/** The connections to the store. */
export interface StoreStatus {
  readonly open: number;
  readonly idle: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
  /** The most that there may be open. */
  readonly most: number;
}

/** The result of the last time that the configuration was read again. */
export interface LastReload {
  /** Unix milliseconds. */
  readonly at: number;
  readonly reason: string;
  /** Why it was refused; empty: it was done. */
  readonly problems: readonly string[];
}

/** Digests of what decides about requests; gateways that do the same have the same. */
export interface ConfigurationStatus {
  readonly settings: string;
  readonly plans: string;
  readonly contract: string;
  /** Settings that are different in the files and wait for a restart. */
  readonly waiting: readonly string[];
  /** `null`: it was not read again since the start. */
  readonly lastReload: LastReload | null;
}

/** How one gateway stands. */
export interface GatewayStatus {
  readonly version: string;
  /** Of Node.js. */
  readonly node: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Where it listens for clients and for operators. */
  readonly url: string | null;
  readonly adminUrl: string | null;
  readonly readiness: Readiness;
  /** The kind of its state, in words for people. */
  readonly state: string;
  /** How many workers there should be; 0: it is one process. */
  readonly workers: number;
  /** Those that answered in time. */
  readonly processes: readonly ProcessStatus[];
  readonly configuration: ConfigurationStatus;
}
