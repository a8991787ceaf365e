import type { StoreReason } from '../events.ts';
import { question } from './question.ts';
import { READINESS, type Readiness } from './readiness.ts';
import { has, type Is, isCount, isLength, isMoment, isText, listOf, oneOf, orNull } from './shapes.ts';

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
  /** The connections to all stores together. */
  readonly store: StoreConnections;
  /** Every store of every upstream, in the order of the settings. */
  readonly stores: readonly StoreStatus[];
}

/**
 * `up`: it takes requests. `away`: it takes none, and the gateway asks it by itself whether it is back. `returning`: it takes few at
 * first, and more with each good answer.
 */
export type StoreState = 'up' | 'away' | 'returning';

/** One store of an upstream, as one process sees it. */
export interface StoreStatus extends StoreConnections {
  readonly upstream: string;
  /** Its host and port, which name it. */
  readonly store: string;
  readonly weight: number;
  readonly state: StoreState;
  /** Since when it is in this state, Unix milliseconds. */
  readonly since: number;
  /** `null`: it is up. */
  readonly reason: StoreReason | null;
  /** Requests that it has to answer now. */
  readonly inFlight: number;
  /** Since it is known: requests that were given to it, those of them that failed, and those that were then sent again. */
  readonly requests: number;
  readonly failures: number;
  readonly retries: number;
}

/** Connections to stores. */
export interface StoreConnections {
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

const CONNECTIONS = { open: isCount, idle: isCount, waiting: isCount, most: isCount };

const isStore = has<StoreStatus>({
  ...CONNECTIONS,
  upstream: isText,
  store: isText,
  weight: isCount,
  state: oneOf('up', 'away', 'returning'),
  since: isMoment,
  reason: orNull(isText),
  inFlight: isCount,
  requests: isCount,
  failures: isCount,
  retries: isCount,
});
const areStores = listOf(isStore);

const isKnownProcess = has<Omit<ProcessStatus, 'stores'>>({
  worker: orNull(isCount),
  pid: isCount,
  inFlight: isCount,
  memory: isCount,
  aloneSince: orNull(isMoment),
  stateTime: orNull(isLength),
  store: has<StoreConnections>(CONNECTIONS),
});

/** Gateways of older versions tell of no stores. */
export const isProcess: Is = (value) => isKnownProcess(value) && areStores((value as ProcessStatus).stores ?? []);

const isConfiguration = has<ConfigurationStatus>({
  settings: isText,
  plans: isText,
  contract: isText,
  waiting: listOf(isText),
  lastReload: orNull(has<LastReload>({ at: isMoment, reason: isText, problems: listOf(isText) })),
});

const isStatus = has<GatewayStatus>({
  version: isText,
  node: isText,
  startedAt: isMoment,
  url: orNull(isText),
  adminUrl: orNull(isText),
  readiness: oneOf(...READINESS),
  state: isText,
  workers: isCount,
  processes: listOf(isProcess),
  configuration: isConfiguration,
});

export const status = question({
  name: 'status',
  isArgument: (_value): _value is null => true,
  otherwise: null,
  part: (process: { readonly status: () => ProcessStatus }) => process.status(),
  answer({ parts }, _nothing, gateway: { readonly status: () => Omit<GatewayStatus, 'processes'> }) {
    const { configuration, ...rest } = gateway.status();
    return { ...rest, processes: parts, configuration };
  },
  isAnswer: isStatus,
});
