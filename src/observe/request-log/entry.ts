import type { RequestEvent } from '../events.ts';
import type { FaultsView } from '../peers/requests.ts';
import type { IdList } from './id-list.ts';

/** Notes from earlier events of the request. */
export interface Notes {
  readonly faults: FaultsView[];
  retries: number;
  /** Kinds of errors; `null`: no outage. */
  outage: string | null;
}

export interface RequestLogEntry {
  readonly event: RequestEvent;
  readonly notes: Notes | null;
  /** Unix milliseconds. */
  readonly endedAt: number;
  /** A sequence number, for refusals and failures. */
  readonly number: number;
  /** Equal ones since the last kept one. */
  readonly more: number;
  /** Later equal ones that were not kept. */
  readonly equals: IdList | null;
}
