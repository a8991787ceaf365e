import type { Latency, Outcomes } from './live.ts';
import type { OfFleet } from './of-fleet.ts';

/** `GET /history`: the oldest step first; steps that nobody counted are missing. */
export interface History extends OfFleet {
  readonly step: string;
  readonly steps: readonly HistoryStep[];
  readonly gateways: readonly string[];
}

export interface HistoryStep extends Outcomes, Latency {
  readonly at: string;
  readonly minutes: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly alone: readonly string[];
}
