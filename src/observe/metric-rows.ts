import type { MaybePromise } from '../common/maybe-promise.ts';
import type { Event, EventOf } from './events.ts';
import type { BackendStatus } from './peers/status.ts';

export type LabelValue = string | number;

export type LabelNames =
  | readonly []
  | readonly [string]
  | readonly [string, string]
  | readonly [string, string, string]
  | readonly [string, string, string, string];

type Reads<Name extends string> = Readonly<Record<Name, () => number>>;

/**
 * `bodies`, `bodyBudget`, `usageBytes`, `usageWaiting`: bytes. `exportDelay`: seconds. `unsaved`: seconds since counters could not be written to disk.
 */
export type RequestGauges = Reads<
  | 'inFlight'
  | 'subjects'
  | 'bodies'
  | 'bodyBudget'
  | 'backendOpen'
  | 'backendIdle'
  | 'backendMost'
  | 'backendWaiting'
  | 'unsaved'
  | 'usageBytes'
  | 'usageWaiting'
  | 'exportDelay'
>;

/** Counts since the backend is known. */
export type BackendReading = Pick<
  BackendStatus,
  | 'upstream'
  | 'backend'
  | 'state'
  | 'inFlight'
  | 'requests'
  | 'failures'
  | 'retries'
  | 'open'
>;

type PrimaryGauges = Reads<'workers'>;

/**
 * `certificateEnd` (infinite without certificates), `reloadTime`: Unix seconds. `ready`,
 * `reloadSuccess`: 1 or 0. `health`: 0 to 2, see `severityOf`.
 */
export type OperatingGauges = Reads<
  'exempted' | 'certificateEnd' | 'ready' | 'reloadSuccess' | 'reloadTime'
> &
  Readonly<Record<'health', () => Promise<number>>>;

/** Lines since the start of the process. */
type LogGauges = Reads<'droppedLines'>;

/** Seconds. */
export type KeyCacheGauges = Reads<'keyCacheAge'>;

/** `webhooksOldest`, `webhooksFailing`: seconds. */
export type WebhookGauges = Reads<
  'webhooksWaiting' | 'webhooksOldest' | 'webhooksFailing'
>;

type OptionalGauges = OperatingGauges &
  LogGauges &
  KeyCacheGauges &
  WebhookGauges;

export type ReadGauge = () => MaybePromise<number>;

/** From a process that handles requests, or of the primary of several. */
export type Gauges = (RequestGauges | PrimaryGauges) & Partial<OptionalGauges>;

export type GaugeName = keyof (RequestGauges & PrimaryGauges & OptionalGauges);

type EventType = Event['type'];

/** Values are always from a fixed set. */
type ValuesFor<L extends LabelNames> = { -readonly [I in keyof L]: LabelValue };

export interface Row {
  readonly name: string;
  readonly help: string;
}

type Kind = 'counter' | 'histogram' | 'info';

/**
 * `info`: a gauge whose labels are its value: only the labels set last exist, with the value 1.
 * `histogram`: values begin with the seconds.
 */
export interface EventRow<
  T extends EventType = EventType,
  L extends LabelNames = LabelNames,
  V extends readonly LabelValue[] = readonly LabelValue[],
> extends Row {
  readonly kind: Kind;
  readonly on: readonly T[];
  readonly labelNames: L;
  /** Only a process with this gauge has the metric. */
  readonly onlyWith?: GaugeName;
  /** For a histogram: upper bounds in seconds, rising. */
  readonly buckets?: readonly number[];
  /** For an info. */
  readonly initially?: ValuesFor<L>;
  /**
   * Calls `add` if the event counts: returned values would need a list per request. `names`: a
   * memory of an info between the events of one process. A method, whose parameters are bivariant,
   * so that rows of different events fit into one list.
   */
  count(
    add: (...values: V) => void,
    event: EventOf<T>,
    names: Set<string>,
  ): void;
}

export interface GaugeRow extends Row {
  readonly kind: 'gauge';
  readonly type: 'counter' | 'gauge';
  readonly reads: GaugeName;
}

export interface BackendRow extends Row {
  readonly kind: 'backend';
  readonly type: 'counter' | 'gauge';
  /** For several processes; default: the sum. */
  readonly aggregator?: 'average';
  readonly read: (backend: BackendReading) => number;
}

export type MetricRow = EventRow | GaugeRow | BackendRow;

/**
 * Checks rows against the types of their events and labels. `First`: values before those of the
 * labels.
 */
const rowsOf =
  <First extends readonly number[] = []>(kind: Kind) =>
  <const T extends EventType, const L extends LabelNames>(
    name: string,
    on: readonly T[],
    row: Omit<
      EventRow<T, L, [...First, ...ValuesFor<L>]>,
      'kind' | 'name' | 'on'
    >,
  ): EventRow => ({ kind, name, on, ...row });

export const counter = rowsOf('counter');
/** Counts every event of a type. */
export const everyEvent = (
  name: string,
  type: EventType,
  help: string,
  options: Pick<EventRow, 'onlyWith'> = {},
): EventRow =>
  counter(name, [type], {
    help,
    labelNames: [],
    count: (add) => add(),
    ...options,
  });

export const histogram = rowsOf<[seconds: number]>('histogram');
export const info = rowsOf('info');

const readRowsOf =
  (type: GaugeRow['type']) =>
  (name: string, reads: GaugeName, help: string): GaugeRow => ({
    kind: 'gauge',
    type,
    name,
    reads,
    help,
  });

export const gauge = readRowsOf('gauge');
/** A count that something else keeps. */
export const readCounter = readRowsOf('counter');

export const ofBackends = (
  name: string,
  type: BackendRow['type'],
  row: Omit<BackendRow, 'kind' | 'name' | 'type'>,
): BackendRow => ({ kind: 'backend', name, type, ...row });
