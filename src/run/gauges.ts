import type { OperatingGauges, RequestGauges } from '../observe/metric-rows.ts';
import type { Readiness } from '../observe/peers/readiness.ts';
import type { Storage } from '../state/storage.ts';
import type { Operating } from './operating.ts';
import type { Serving } from './serving.ts';
import type { Standing } from './standing.ts';

/** What a process that carries requests tells when Prometheus asks; its parts may be made later. */
export function requestGauges(
  serving: () => Pick<Serving, 'inFlight' | 'bodies' | 'store'>,
  storage: () => Pick<Storage, 'state' | 'unsavedFor'>,
): RequestGauges {
  return {
    inFlight: () => serving().inFlight,
    subjects: () => storage().state.size,
    bodies: () => serving().bodies.held,
    bodyBudget: () => serving().bodies.budget,
    storeOpen: () => serving().store.open,
    storeIdle: () => serving().store.idle,
    storeMost: () => serving().store.most,
    storeWaiting: () => serving().store.waiting,
    unsaved: () => storage().unsavedFor() / 1_000,
  };
}

export interface OperatingGaugeParts {
  readonly operating: () => Pick<Operating, 'exempted' | 'certificateEnd'>;
  readonly readiness: () => Readiness;
  readonly standing: Pick<Standing, 'lastReload'>;
  /** Unix milliseconds. */
  readonly startedAt: number;
}

/** What a process that answers operators tells when Prometheus asks. A start has read the files, so it counts like a reload. */
export function operatingGauges({ operating, readiness, standing, startedAt }: OperatingGaugeParts): OperatingGauges {
  return {
    exempted: () => operating().exempted,
    certificateEnd: () => operating().certificateEnd / 1_000,
    ready: () => Number(readiness() === 'ready'),
    reloadSuccess: () => Number((standing.lastReload?.problems ?? []).length === 0),
    reloadTime: () => (standing.lastReload?.at ?? startedAt) / 1_000,
  };
}
