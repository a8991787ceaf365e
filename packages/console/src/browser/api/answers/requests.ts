import type { OfFleet } from './of-fleet.ts';

/** `GET /requests`: refusals and failures, newest first. */
export interface Requests extends OfFleet {
  readonly requests: readonly RefusedRequest[];
}

/** The event `refused` of `GET /live`; `left`: how many more there were. */
export interface LiveRefused extends Requests {
  readonly left: number;
}

export interface RefusedRequest {
  readonly id: string;
  readonly gateway: string;
  readonly worker: number | null;
  readonly at: string;
  readonly method: string;
  readonly operation: string;
  readonly status: number;
  readonly code: string | null;
  readonly message: string | null;
  readonly key: { readonly id: string; readonly account: string; readonly plan: string } | null;
  readonly address: string;
  readonly more: number;
}
