import type { RequestEvent } from '../events.ts';
import type { FaultsView } from '../peers/requests.ts';
import type { IdList } from './id-list.ts';

/** What other events said of a request before its own. */
export interface Notes {
  readonly faults: FaultsView[];
  retries: number;
  /** What was away, in kinds of errors; `null`: nothing. */
  outage: string | null;
}

/** One request that is kept. */
export interface RequestLogEntry {
  readonly event: RequestEvent;
  readonly notes: Notes | null;
  /** When it ended, Unix milliseconds. */
  readonly endedAt: number;
  /** Of refusals and failures: how many were kept when this one was, itself included. */
  readonly number: number;
  /** Equal ones since the one before it that were not kept. */
  readonly more: number;
  /** Equal ones after it that were not kept; `null`: none is asked for. */
  readonly equals: IdList | null;
}
