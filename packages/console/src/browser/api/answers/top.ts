import type { OfFleet } from './of-fleet.ts';

/** `GET /top`: who came most often, the most frequent first. */
export interface Top extends OfFleet {
  readonly window: string;
  readonly by: string;
  readonly since: string | null;
  readonly total: number;
  /** No count is too high by more than this, and nothing that is missing came more often. */
  readonly error: number;
  readonly items: readonly TopItem[];
  readonly gateways: readonly CountingGateway[];
}

export interface TopItem {
  readonly key: string | null;
  readonly account: string | null;
  readonly plan: string | null;
  readonly operation: string | null;
  readonly count: number;
  readonly error: number;
  readonly share: number;
  readonly last: string;
}

/** A gateway whose counts an answer has, and how many of its workers are missing. */
export interface CountingGateway {
  readonly gateway: string;
  readonly since: string;
  readonly missing: number;
}
