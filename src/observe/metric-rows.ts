import type { Event, EventOf } from './events.ts';
import type { LabelNames, LabelValue } from './label-tree.ts';

/** The gauges of a process that carries requests, read when Prometheus asks. */
export interface RequestGauges {
  readonly inFlight: () => number;
  readonly subjects: () => number;
  /** Bytes that bodies under way hold. */
  readonly bodies: () => number;
  /** Bytes that they may hold. */
  readonly bodyBudget: () => number;
  /** Connections to the store that are open, those of them that are unused, and the most there may be. */
  readonly storeOpen: () => number;
  readonly storeIdle: () => number;
  readonly storeMost: () => number;
  /** Requests that wait for a connection to the store. */
  readonly storeWaiting: () => number;
  /** Seconds for which counters could not be written to disk. */
  readonly unsaved: () => number;
}

/** What a process that carries requests tells of a store. Counts are since it is known. */
export interface StoreReading {
  readonly upstream: string;
  /** Its host and port. */
  readonly store: string;
  readonly state: 'up' | 'away' | 'returning';
  readonly inFlight: number;
  readonly requests: number;
  readonly failures: number;
  readonly retries: number;
  readonly open: number;
}

/** The gauges of a process whose workers carry requests. */
export interface PrimaryGauges {
  /** The number of workers that serve. */
  readonly workers: () => number;
}

/** The gauges of a process that answers operators. */
export interface OperatingGauges {
  /** The number of operations that `contract.onUnsupported` exempts from the contract. */
  readonly exempted: () => number;
  /** When the first of the gateway's certificates ends, Unix seconds; infinite without any. */
  readonly certificateEnd: () => number;
  /** 1 if the gateway takes requests, otherwise 0. */
  readonly ready: () => number;
  /** 1 if the files were good when they were read last, 0 if they were refused. */
  readonly reloadSuccess: () => number;
  /** When that was, Unix seconds. */
  readonly reloadTime: () => number;
}

/** The gauge of the process that keeps a copy of the keys of the shared state. */
export interface KeyCacheGauges {
  /** Seconds. */
  readonly keyCacheAge: () => number;
}

/** The gauges of the process that delivers webhooks. */
export interface WebhookGauges {
  readonly webhooksWaiting: () => number;
  /** Seconds, as the next: since the oldest of them happened, and since when a receiver fails. */
  readonly webhooksOldest: () => number;
  readonly webhooksFailing: () => number;
}

export type GaugeName =
  | keyof RequestGauges
  | keyof PrimaryGauges
  | keyof OperatingGauges
  | keyof KeyCacheGauges
  | keyof WebhookGauges;

type EventType = Event['type'];

/**
 * A function of the events of these types. Method parameters are bivariant, so rows of different events fit into one list; each
 * function gets only its own events.
 */
type Counting<T extends EventType> = { count(event: EventOf<T>): void }['count'];

/** One value for each label, always from a fixed set. */
type ValuesFor<L extends LabelNames> = { -readonly [I in keyof L]: LabelValue };

interface Row {
  readonly name: string;
  readonly help: string;
}

interface RowOfEvents<T extends EventType, L extends LabelNames> extends Row {
  /** The types of the events that the metric counts. */
  readonly on: readonly T[];
  readonly labelNames: L;
  /** Only a process with this gauge has the metric; another would report 0 for what it cannot know. */
  readonly onlyWith?: GaugeName;
}

/** A counter of events of the types `T`, with the labels `L`. */
export interface CounterRow<T extends EventType = EventType, L extends LabelNames = LabelNames>
  extends RowOfEvents<T, L> {
  readonly kind: 'counter';
  /** Returns a function that calls `add` for each event that counts. Returned values would need a list for every request. */
  count(add: (...values: ValuesFor<L>) => void): Counting<T>;
}

export interface HistogramRow<T extends EventType = EventType, L extends LabelNames = LabelNames>
  extends RowOfEvents<T, L> {
  readonly kind: 'histogram';
  /** Upper bounds in seconds, rising; those of most histograms if absent. */
  readonly buckets?: readonly number[];
  count(add: (seconds: number, ...values: ValuesFor<L>) => void): Counting<T>;
}

/** A gauge whose labels are its value: the labels set last are 1, and there are no others. */
export interface InfoRow<T extends EventType = EventType, L extends LabelNames = LabelNames> extends RowOfEvents<T, L> {
  readonly kind: 'standing';
  /** The labels before the first event; there are none if absent. */
  readonly initially?: ValuesFor<L>;
  count(set: (...values: ValuesFor<L>) => void): Counting<T>;
}

/** A number that the process reads when Prometheus asks. A process without this gauge does not have the metric. */
export interface GaugeRow extends Row {
  readonly kind: 'gauge';
  readonly reads: GaugeName;
}

/** A number for each store, with the labels `upstream` and `store`, that the process reads when Prometheus asks. */
export interface StoreRow extends Row {
  readonly kind: 'store';
  readonly type: 'counter' | 'gauge';
  /** What several processes say together. */
  readonly together: 'sum' | 'average';
  readonly read: (store: StoreReading) => number;
}

export type MetricRow = CounterRow | HistogramRow | InfoRow | GaugeRow | StoreRow;

type RowOptions<R extends MetricRow> = Omit<R, 'kind'>;

/** This and the functions below check a row against the types of its events and its labels. */
export const counter = <const T extends EventType, const L extends LabelNames>(
  row: RowOptions<CounterRow<T, L>>,
): CounterRow => ({ kind: 'counter', ...row });

export const histogram = <const T extends EventType, const L extends LabelNames>(
  row: RowOptions<HistogramRow<T, L>>,
): HistogramRow => ({ kind: 'histogram', ...row });

export const info = <const T extends EventType, const L extends LabelNames>(
  row: RowOptions<InfoRow<T, L>>,
): InfoRow => ({
  kind: 'standing',
  ...row,
});

export const gauge = (row: RowOptions<GaugeRow>): GaugeRow => ({ kind: 'gauge', ...row });

export const ofStores = (row: RowOptions<StoreRow>): StoreRow => ({ kind: 'store', ...row });
