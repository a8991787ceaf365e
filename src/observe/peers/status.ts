import type { StoreReason } from '../events.ts';
import { peerQuery } from './query.ts';
import { READINESS } from './readiness.ts';
import {
  has,
  isCount,
  isLength,
  isMoment,
  isText,
  isWord,
  listOf,
  type Of,
  oneOf,
  orAbsent,
  orNull,
} from './shapes.ts';

const CONNECTIONS = {
  open: isCount,
  idle: isCount,
  /** Requests that wait for a connection. */
  waiting: isCount,
  /** The most that there may be open. */
  most: isCount,
};
const isConnections = has(CONNECTIONS);

/** Connections to stores. */
export interface StoreConnections extends Of<typeof isConnections> {}

/**
 * `up`: it takes requests. `away`: it takes none, and the gateway asks it by itself whether it is back. `returning`: it takes few at
 * first, and more with each good answer.
 */
export type StoreState = Of<typeof isState>;
const isState = oneOf('up', 'away', 'returning');

const isStore = has({
  ...CONNECTIONS,
  upstream: isText,
  /** Its host and port, which name it. */
  store: isText,
  weight: isCount,
  state: isState,
  /** Since when it is in this state, Unix milliseconds. */
  since: isMoment,
  /** `null`: it is up. */
  reason: orNull(isWord<StoreReason>()),
  /** Requests that it has to answer now. */
  inFlight: isCount,
  /** Since it is known: requests that were given to it, those of them that failed, and those that were then sent again. */
  requests: isCount,
  failures: isCount,
  retries: isCount,
});

/** One store of an upstream, as one process sees it. */
export interface StoreStatus extends Of<typeof isStore> {}

export const isProcess = has({
  /** From 1; `null`: the gateway is this one process. */
  worker: orNull(isCount),
  pid: isCount,
  /** Requests that are being answered now. */
  inFlight: isCount,
  /** Bytes of memory that the process has. */
  memory: isCount,
  /** Since when it decides without the shared state, Unix milliseconds; `null`: the state is there, or is its own. */
  aloneSince: orNull(isMoment),
  /** Mean time of the state's last answers, milliseconds, recent ones count most; `null`: none yet, or the state is its own. */
  stateTime: orNull(isLength),
  /** The connections to all stores together. */
  store: isConnections,
  /** Every store of every upstream, in the order of the settings. */
  stores: orAbsent(listOf(isStore)),
});

/** How one process stands that carries requests. */
export interface ProcessStatus extends Of<typeof isProcess> {}

const isReload = has({
  /** Unix milliseconds. */
  at: isMoment,
  reason: isText,
  /** Why it was refused; empty: it was done. */
  problems: listOf(isText),
});

/** The result of the last time that the configuration was read again. */
export interface LastReload extends Of<typeof isReload> {}

const isConfiguration = has({
  settings: isText,
  plans: isText,
  contract: isText,
  /** Settings that are different in the files and wait for a restart. */
  waiting: listOf(isText),
  /** `null`: it was not read again since the start. */
  lastReload: orNull(isReload),
});

/** Digests of what decides about requests; gateways that do the same have the same. */
export interface ConfigurationStatus extends Of<typeof isConfiguration> {}

const isStatus = has({
  version: isText,
  /** Of Node.js. */
  node: isText,
  /** Unix milliseconds. */
  startedAt: isMoment,
  /** Where it listens for clients and for operators. */
  url: orNull(isText),
  adminUrl: orNull(isText),
  readiness: oneOf(...READINESS),
  /** The kind of its state, in words for people. */
  state: isText,
  /** How many workers there should be; 0: it is one process. */
  workers: isCount,
  /** Those that answered in time. */
  processes: listOf(isProcess),
  configuration: isConfiguration,
});

/** How one gateway stands. */
export interface GatewayStatus extends Of<typeof isStatus> {}

export const status = peerQuery({
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
