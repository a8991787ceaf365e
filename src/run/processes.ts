import { makeTicketSecret } from '@storegate/http1/tls';
import type { AdminContext } from '../admin/context.ts';
import type { Config, ServedConfig } from '../config/config.ts';
import type { LedgerAccess } from '../ledger/ledger.ts';
import type { Observe } from '../observe/events.ts';
import type {
  KeyCacheGauges,
  OperatingGauges,
  WebhookGauges,
} from '../observe/metric-rows.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Parts } from '../observe/peers/query.ts';
import type { ProcessReadiness, Readiness } from '../observe/peers/status.ts';
import type { Storage } from '../records/storage.ts';
import type { State } from '../state/state.ts';
import type { Detection } from '../webhooks/detector.ts';
import type { ProcessParts } from './process.ts';
import type { ActiveConfig } from './reload.ts';

export interface ProcessesParts
  extends Pick<
    ProcessParts,
    'settings' | 'clock' | 'log' | 'others' | 'gateway'
  > {
  readonly gauges: OperatingGauges & Partial<WebhookGauges>;
  readonly onDetection: (received: Detection, worker: number) => void;
}

/** The processes of a gateway that handle requests: this process, or its workers. */
export interface Processes {
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
    | 'outageText'
    | 'keyCacheAge'
  > & { readonly state: State };
  readonly ledger: LedgerAccess;
  readonly uses: AdminContext['uses'];
  readonly metrics: Pick<Metrics, 'exemplars' | 'figures'>;
  readonly readiness: () => Pick<ProcessReadiness, 'down'> & {
    readonly readiness: Exclude<Readiness, 'stopping'>;
  };
  listen(fd?: number): Promise<string>;
  /** `part` of the question in each process. */
  ask(question: string, argument: unknown): Promise<Parts<unknown>>;
  /** Done once every process has the settings. */
  use(settings: ActiveConfig<ServedConfig>): Promise<void>;
  drain(): Promise<number>;
  end(): Promise<unknown>;
  /** Call after `end`. */
  close(): Promise<void>;
}

/** Rejects if the state cannot be opened. */
export async function openOnlyProcess(
  parts: ProcessesParts,
): Promise<Processes> {
  const { openProcess } = await import('./process.ts');
  const { config } = parts.settings;
  const process = await openProcess({
    ...parts,
    worker: null,
    workers: 1,
    gauges: { ...parts.gauges, ...copyGauges(config, () => process.storage) },
    ticketSecret: makeTicketSecret(),
  });
  return {
    ...process,
    listen: (fd) => process.serving.listen({ fd }),
    ask: async (question, argument) => ({
      parts: [process.part(question, argument)],
      missing: 0,
    }),
    drain: () => process.drain(),
  };
}

export function copyGauges(
  { redis }: Config,
  storage: () => Pick<Storage, 'keyCacheAge'>,
): Partial<KeyCacheGauges> {
  return redis?.keyCache.enabled
    ? { keyCacheAge: () => (storage().keyCacheAge?.() ?? 0) / 1_000 }
    : {};
}
