import type { OperatingGauges } from '../observe/metric-rows.ts';
import type { Readiness } from '../observe/peers/readiness.ts';
import type { Operating } from './operating.ts';

export interface OperatingGaugeParts {
  readonly operating: () => Pick<Operating, 'exempted' | 'certificateEnd' | 'lastReload'>;
  readonly readiness: () => Readiness;
  /** Unix milliseconds. */
  readonly startedAt: number;
}

/** What a process that answers operators tells when Prometheus asks. A start has read the files, so it counts like a reload. */
export function operatingGauges({ operating, readiness, startedAt }: OperatingGaugeParts): OperatingGauges {
  return {
    exempted: () => operating().exempted,
    certificateEnd: () => operating().certificateEnd / 1_000,
    ready: () => Number(readiness() === 'ready'),
    reloadSuccess: () => Number((operating().lastReload?.problems ?? []).length === 0),
    reloadTime: () => (operating().lastReload?.at ?? startedAt) / 1_000,
  };
}
