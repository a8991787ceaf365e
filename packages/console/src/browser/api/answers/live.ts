import type { Store } from '../../stores.ts';
import type { OfFleet } from './of-fleet.ts';
import type { Gateway } from './status.ts';

/** Requests by what became of them, as the history and what is live tell them. */
export interface Outcomes {
  readonly requests: number;
  readonly admitted: number;
  readonly limited: number;
  readonly banned: number;
  readonly classes: Readonly<Record<'2xx' | '3xx' | '4xx' | '5xx' | 'left', number>>;
}

/** Milliseconds that 50, 95 and 99 of 100 requests did not exceed; `null`: there was none. */
export interface Latency {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

/** The event `now` of `GET /live`. Spans in milliseconds. */
export interface LiveNow extends Outcomes, OfFleet {
  readonly at: string;
  readonly span: number;
  readonly latency: Latency & { readonly span: number };
  readonly inFlight: number;
  readonly gateways: readonly LiveGateway[];
  readonly stores: readonly Store[];
}

export interface LiveGateway extends Pick<Gateway, 'gateway' | 'readiness' | 'state' | 'workers' | 'inFlight'> {
  readonly aloneSince: string | null;
  readonly stateMs: number | null;
  readonly processes: number;
  readonly requests: number;
  readonly store: { readonly open: number; readonly idle: number; readonly waiting: number; readonly most: number };
}
