import type { Contract } from '@storegate/openapi';
import type { AdminContext } from '../admin/context.ts';
import type { MaybePromise } from '../common/maybe-promise.ts';
import type { Config, ServedConfig } from '../config/config.ts';
import type { Observe } from '../observe/events.ts';
import type { CopyGauges, OperatingGauges, WebhookGauges } from '../observe/metric-rows.ts';
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
  /** The gauges of the operators' half. */
  readonly gauges: OperatingGauges & Partial<WebhookGauges>;
  /** Takes what receivers of webhooks are to hear of a worker. */
  readonly onDetection: (heard: Detection, worker: number) => void;
}

/** What carries the requests of a gateway, as its operators' half sees it: this process, or workers. */
export interface Carriers {
  readonly observe: Observe;
  readonly storage: Pick<
    Storage,
    'keys' | 'auditLog' | 'banLog' | 'tokens' | 'kind' | 'join' | 'outbox' | 'lastKnown' | 'announce'
  > & { readonly state: State };
  readonly uses: AdminContext['uses'];
  /** Those of all processes of the gateway. */
  readonly metrics: Pick<Metrics, 'contentType' | 'text' | 'openMetrics'>;
  /** How many workers there should be; 0: this process carries. */
  readonly workers: number;
  /** Whether requests could be answered. */
  readonly readiness: Exclude<Readiness, 'stopping'>;
  /** As in Ability. */
  readonly away: readonly string[];
  /** Resolves with the URL for clients. */
  listen(): Promise<string>;
  /** Asks each process a question that is known to be valid. */
  ask(question: string, argument: unknown): Promise<Parts<unknown>>;
  /** Does what can be done before a contract is in force. */
  prepare(contract: Contract): Promise<void>;
  /** Puts these settings in force from the next request on; done once every process has them. */
  use(settings: ActiveConfig<ServedConfig>): MaybePromise<void>;
  inFlight(): MaybePromise<number>;
  /** Stops taking requests, lets those in flight finish; resolves with the number cut off. */
  drain(): Promise<number>;
  /** Ends what requests and their events go through; the last minutes are handed on. */
  end(): Promise<unknown>;
  /** Closes the rest, the state with it. To be called after `end`. */
  close(): Promise<void>;
}

/** The gauge of the process that keeps a copy of the keys. */
export function copyGauges(
  { redis }: Pick<Config, 'redis'>,
  storage: () => Pick<Storage, 'keyCopyAge'>,
): Partial<CopyGauges> {
  return redis?.keyCache.enabled ? { keyCopyAge: () => (storage().keyCopyAge?.() ?? 0) / 1_000 } : {};
}
