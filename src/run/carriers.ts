import type { Contract } from '@storegate/openapi';
import type { AdminContext } from '../admin/context.ts';
import type { MaybePromise } from '../common/maybe-promise.ts';
import type { Config, ServedConfig } from '../config/config.ts';
import type { Observe } from '../observe/events.ts';
import type { KeyCacheGauges, OperatingGauges, WebhookGauges } from '../observe/metric-rows.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Parts } from '../observe/peers/query.ts';
import type { ProcessReadiness, Readiness } from '../observe/peers/status.ts';
import type { State } from '../state/state.ts';
import type { Storage } from '../state/storage.ts';
import type { Detection } from '../webhooks/detector.ts';
import type { ListenerParts } from './carrier.ts';
import type { ActiveConfig } from './reload.ts';

export interface CarriersParts extends Pick<ListenerParts, 'clock' | 'log' | 'minute' | 'others'> {
  readonly settings: ActiveConfig<ServedConfig>;
  readonly gauges: OperatingGauges & Partial<WebhookGauges>;
  readonly onDetection: (heard: Detection, worker: number) => void;
}

export interface Carriers {
  readonly observe: Observe;
  readonly storage: Pick<
    Storage,
    | 'keys'
    | 'auditLog'
    | 'banLog'
    | 'tokens'
    | 'kind'
    | 'join'
    | 'outbox'
    | 'lastKnown'
    | 'announce'
  > & { readonly state: State };
  readonly uses: AdminContext['uses'];
  readonly metrics: Pick<Metrics, 'contentType' | 'text' | 'openMetrics'>;
  /** 0: this process. */
  readonly workers: number;
  readonly readiness: Pick<ProcessReadiness, 'down'> & {
    readonly readiness: Exclude<Readiness, 'stopping'>;
  };
  listen(fd?: number): Promise<string>;
  ask(question: string, argument: unknown): Promise<Parts<unknown>>;
  prepare(contract: Contract): Promise<void>;
  /** Done once every process has the settings. */
  use(settings: ActiveConfig<ServedConfig>): MaybePromise<void>;
  inFlight(): MaybePromise<number>;
  drain(): Promise<number>;
  end(): Promise<unknown>;
  /** Call after `end`. */
  close(): Promise<void>;
}

export function copyGauges(
  { redis }: Config,
  storage: () => Pick<Storage, 'keyCacheAge'>,
): Partial<KeyCacheGauges> {
  return redis?.keyCache.enabled
    ? { keyCacheAge: () => (storage().keyCacheAge?.() ?? 0) / 1_000 }
    : {};
}
