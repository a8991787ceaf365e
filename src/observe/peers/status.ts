import type { FindingType } from '@storegate/admin-api/text';
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
  orNull,
} from '../../common/shapes.ts';
import type { BackendReason } from '../events.ts';
import { isRowText } from '../traffic/packing.ts';
import { peerQuery } from './query.ts';

const READINESS = [
  'ready',
  'stopping',
  'state_down',
  'upstreams_down',
  'no_workers',
] as const;
export type Readiness = (typeof READINESS)[number];

export interface ProcessReadiness {
  readonly readiness: Extract<
    Readiness,
    'ready' | 'state_down' | 'upstreams_down'
  >;
  /** Regardless of the settings: `state`, `upstream <name>`. */
  readonly down: readonly string[];
}

const CONNECTIONS = {
  open: isCount,
  idle: isCount,
  waiting: isCount,
  most: isCount,
};
const isConnections = has(CONNECTIONS);

export interface BackendConnections extends Of<typeof isConnections> {}

/**
 * `down`: down, and probed. `recovering`: gets few requests at first, and more with each good
 * response.
 */
export type BackendState = Of<typeof isState>;
const isState = oneOf('up', 'down', 'recovering');

const isBackend = has({
  ...CONNECTIONS,
  upstream: isText,
  /** Host and port. */
  backend: isText,
  weight: isCount,
  state: isState,
  since: isMoment,
  /** `null`: up. */
  reason: orNull(isWord<BackendReason>()),
  inFlight: isCount,
  /** Counts since the backend is known. */
  requests: isCount,
  failures: isCount,
  retries: isCount,
});

export interface BackendStatus extends Of<typeof isBackend> {}

/** `since`: when it began, or the last time of an earlier state; `null`: unknown. */
const isCondition = has({
  type: isWord<FindingType>(),
  since: orNull(isMoment),
  /** Completes the sentence of the finding. */
  detail: isText,
});

/** One fact of a process or gateway that `judgeHealth` judges. */
export interface Condition extends Of<typeof isCondition> {}

const isConditions = listOf(isCondition);

/** Requests of the last minute: all, with 5xx, and refused by limits. */
const isTraffic = has({ requests: isCount, failed: isCount, refused: isCount });

const isProcess = has({
  /** From 1; `null`: a gateway of one process. */
  worker: orNull(isCount),
  pid: isCount,
  inFlight: isCount,
  /** Bytes. */
  memory: isCount,
  /** `null`: the shared state is up, or not used. */
  localSince: orNull(isMoment),
  /** Moving average in milliseconds; `null`: no response yet, or the state is local. */
  stateTime: orNull(isLength),
  backend: isConnections,
  /** In the order of the settings. */
  backends: listOf(isBackend),
  conditions: isConditions,
  traffic: isTraffic,
  /** All requests since the start, a packed row in Base64. */
  counted: isRowText,
});

export interface ProcessStatus extends Of<typeof isProcess> {}

/** Without `problems` it succeeded. */
const isReload = has({
  at: isMoment,
  reason: isText,
  problems: listOf(isText),
});

export interface LastReload extends Of<typeof isReload> {}

const isConfiguration = has({
  settings: isText,
  plans: isText,
  contract: isText,
  /** The copy in force of a contract whose URL was unreachable. */
  copy: orNull(has({ at: isMoment, reason: isText })),
  /** Settings that take effect after a restart. */
  waiting: listOf(isText),
  /** `null`: no reload since the start. */
  lastReload: orNull(isReload),
});

/** Equal digests mean equal decisions about requests. */
export interface ConfigurationStatus extends Of<typeof isConfiguration> {}

const isStatus = has({
  version: isText,
  /** The version of Node.js. */
  node: isText,
  startedAt: isMoment,
  url: orNull(isText),
  adminUrl: orNull(isText),
  readiness: oneOf(...READINESS),
  state: isText,
  /** Configured workers; 0: one process. */
  workers: isCount,
  processes: listOf(isProcess),
  configuration: isConfiguration,
  conditions: isConditions,
});

export interface GatewayStatus extends Of<typeof isStatus> {}

export const status = peerQuery({
  name: 'status',
  isArgument: (_value): _value is null => true,
  otherwise: null,
  part: (process: { readonly status: () => ProcessStatus }) => process.status(),
  respond(
    { parts },
    _nothing,
    gateway: { readonly status: () => Omit<GatewayStatus, 'processes'> },
  ) {
    const { configuration, ...rest } = gateway.status();
    return { ...rest, processes: parts, configuration };
  },
  isResponse: isStatus,
});
