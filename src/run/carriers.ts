import type { Contract } from '@storegate/openapi';
import type { AdminContext } from '../admin/context.ts';
import type { MaybePromise } from '../common/maybe-promise.ts';
import type { Config, ServedConfig } from '../config/config.ts';
import type { Observe } from '../observe/events.ts';
import type { KeyCacheGauges, OperatingGauges, WebhookGauges } from '../observe/metric-rows.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Parts } from '../observe/peers/query.ts';
import type { Readiness } from '../observe/peers/readiness.ts';
import type { State } from '../state/state.ts';
import type { Storage } from '../state/storage.ts';
import type { Detection } from '../webhooks/detector.ts';
import type { ListenerParts } from './carrier.ts';
import type { ActiveConfig } from './reload.ts';

export interface CarriersParts extends Pick<ListenerParts, 'clock' | 'log' | 'minute' | 'others'> {
  readonly settings: ActiveConfig<ServedConfig>;
  /** The gauges of the operator side. */
  readonly gauges: OperatingGauges & Partial<WebhookGauges>;
  /** Receives what a worker detected for webhooks. */
  readonly onDetection: (heard: Detection, worker: number) => void;
}

/** What carries the requests of a gateway, as the operator side sees it: this process, or workers. */
export interface Carriers {
  readonly observe: Observe;
  readonly storage: Pick<
    Storage,
    'keys' | 'auditLog' | 'banLog' | 'tokens' | 'kind' | 'join' | 'outbox' | 'lastKnown' | 'announce'
  > & { readonly state: State };
  readonly uses: AdminContext['uses'];
  /** Of all processes of the gateway. */
  readonly metrics: Pick<Metrics, 'contentType' | 'text' | 'openMetrics'>;
  /** Configured number of workers; 0: this process. */
  readonly workers: number;
  readonly readiness: Exclude<Readiness, 'stopping'>;
  /** As in ProcessReadiness. */
  readonly away: readonly string[];
  /** Resolves with the URL for clients. */
  listen(): Promise<string>;
  /** Asks each process a valid question. */
  ask(question: string, argument: unknown): Promise<Parts<unknown>>;
  /** Prepares a contract before it is in force. */
  prepare(contract: Contract): Promise<void>;
  /** Applies these settings to the next request; done once every process has them. */
  use(settings: ActiveConfig<ServedConfig>): MaybePromise<void>;
  inFlight(): MaybePromise<number>;
  /** Stops accepting requests and lets those in flight finish; resolves with the number aborted. */
  drain(): Promise<number>;
  /** Ends the parts that requests and their events use; the last minutes are handed on. */
  end(): Promise<unknown>;
  /** Closes the rest, including the state. Call after `end`. */
  close(): Promise<void>;
}

/** The gauge of the process that keeps the key cache. */
export function copyGauges(
  { redis }: Pick<Config, 'redis'>,
  storage: () => Pick<Storage, 'keyCacheAge'>,
): Partial<KeyCacheGauges> {
  return redis?.keyCache.enabled ? { keyCacheAge: () => (storage().keyCacheAge?.() ?? 0) / 1_000 } : {};
}
