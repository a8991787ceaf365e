import type { Event, EventOf } from './events.ts';

export type LabelValue = string | number;

export type LabelNames =
  | readonly []
  | readonly [string]
  | readonly [string, string]
  | readonly [string, string, string];

export interface RequestGauges {
  readonly inFlight: () => number;
  readonly subjects: () => number;
  /** Bytes. */
  readonly bodies: () => number;
  /** Bytes. */
  readonly bodyBudget: () => number;
  readonly storeOpen: () => number;
  readonly storeIdle: () => number;
  readonly storeMost: () => number;
  readonly storeWaiting: () => number;
  /** Seconds since counters could not be written to disk. */
  readonly unsaved: () => number;
}

/** Counts since the backend is known. */
export interface StoreReading {
  readonly upstream: string;
  /** Host and port. */
  readonly store: string;
  readonly state: 'up' | 'away' | 'returning';
  readonly inFlight: number;
  readonly requests: number;
  readonly failures: number;
  readonly retries: number;
  readonly open: number;
}

export interface PrimaryGauges {
  readonly workers: () => number;
}

export interface OperatingGauges {
  readonly exempted: () => number;
  /** Unix seconds of the first expiry; infinite without certificates. */
  readonly certificateEnd: () => number;
  /** 1 or 0. */
  readonly ready: () => number;
  /** 1: the last reload succeeded. */
  readonly reloadSuccess: () => number;
  /** Unix seconds. */
  readonly reloadTime: () => number;
}

export interface KeyCacheGauges {
  /** Seconds. */
  readonly keyCacheAge: () => number;
}

export interface WebhookGauges {
  readonly webhooksWaiting: () => number;
  /** Seconds, as the next. */
  readonly webhooksOldest: () => number;
  readonly webhooksFailing: () => number;
}

type OptionalGauges = OperatingGauges & KeyCacheGauges & WebhookGauges;

/** Of a process that handles requests, or of the primary of several. */
export type Gauges = (RequestGauges | PrimaryGauges) & Partial<OptionalGauges>;

export type GaugeName = keyof (RequestGauges & PrimaryGauges & OptionalGauges);

type EventType = Event['type'];

/** Values are always from a fixed set. */
type ValuesFor<L extends LabelNames> = { -readonly [I in keyof L]: LabelValue };

interface Row {
  readonly name: string;
  readonly help: string;
}

interface RowOfEvents<T extends EventType, L extends LabelNames> extends Row {
  readonly on: readonly T[];
  readonly labelNames: L;
  /** Only a process with this gauge has the metric. */
  readonly onlyWith?: GaugeName;
}

export interface CounterRow<T extends EventType = EventType, L extends LabelNames = LabelNames>
  extends RowOfEvents<T, L> {
  readonly kind: 'counter';
  /**
   * Calls `add` if the event counts: returned values would need a list per request. A method, whose parameters are
   * bivariant, so that rows of different events fit into one list.
   */
  count(add: (...values: ValuesFor<L>) => void, event: EventOf<T>): void;
}

export interface HistogramRow<T extends EventType = EventType, L extends LabelNames = LabelNames>
  extends RowOfEvents<T, L> {
  readonly kind: 'histogram';
  /** Upper bounds in seconds, rising. */
  readonly buckets?: readonly number[];
  count(add: (seconds: number, ...values: ValuesFor<L>) => void, event: EventOf<T>): void;
}

/** A gauge whose labels are its value: only the labels set last exist, with the value 1. */
export interface InfoRow<T extends EventType = EventType, L extends LabelNames = LabelNames> extends RowOfEvents<T, L> {
  readonly kind: 'info';
  readonly initially?: ValuesFor<L>;
  /** `names`: a memory between the events of one process. */
  count(set: (...values: ValuesFor<L>) => void, event: EventOf<T>, names: Set<string>): void;
}

export interface GaugeRow extends Row {
  readonly kind: 'gauge';
  readonly reads: GaugeName;
}

export interface StoreRow extends Row {
  readonly kind: 'store';
  readonly type: 'counter' | 'gauge';
  /** Of several processes; default: the sum. */
  readonly aggregator?: 'average';
  readonly read: (store: StoreReading) => number;
}

export type MetricRow = CounterRow | HistogramRow | InfoRow | GaugeRow | StoreRow;

/** What a row has besides its kind, name and events. */
type RowOptions<R extends MetricRow> = Omit<R, 'kind' | 'name' | 'on'>;

/** These functions check a row against the types of its events and labels. */
export const counter = <const T extends EventType, const L extends LabelNames>(
  name: string,
  on: readonly T[],
  row: RowOptions<CounterRow<T, L>>,
): CounterRow => ({ kind: 'counter', name, on, ...row });

export const histogram = <const T extends EventType, const L extends LabelNames>(
  name: string,
  on: readonly T[],
  row: RowOptions<HistogramRow<T, L>>,
): HistogramRow => ({ kind: 'histogram', name, on, ...row });

export const info = <const T extends EventType, const L extends LabelNames>(
  name: string,
  on: readonly T[],
  row: RowOptions<InfoRow<T, L>>,
): InfoRow => ({ kind: 'info', name, on, ...row });

export const gauge = (name: string, reads: GaugeName, help: string): GaugeRow => ({ kind: 'gauge', name, reads, help });

export const ofStores = (
  name: string,
  type: StoreRow['type'],
  row: Omit<StoreRow, 'kind' | 'name' | 'type'>,
): StoreRow => ({ kind: 'store', name, type, ...row });
