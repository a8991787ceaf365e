import type { Operation } from '../config/contract/contract.ts';
import type { Refusal } from '../errors/refusals.ts';
import type { Client } from '../keys/key.ts';
import type { Admission, Readings } from '../limits/admission.ts';
import type { Scopes } from '../limits/scopes.ts';
import type { RequestSpan, StoreName } from '../observe/events.ts';
import type { Call } from './wire/call.ts';
import type { Head } from './wire/head.ts';

/**
 * One request, with what the headers of its response and its final event need. Stages pass results to each other as
 * values (see results.ts), never through the exchange.
 */
export interface Exchange {
  readonly id: string;
  readonly call: Call;
  /** A mount with carriers of its own reads it again. */
  head: Head;
  /** The peer's address, or the one reported by a trusted proxy. */
  readonly address: string;
  /** Whether the peer is a trusted proxy, whose forwarding headers are kept. */
  readonly behindProxy: boolean;
  /** `null` while tracing is off. */
  readonly span: RequestSpan | null;
  /** On the clock of `performance.now()`, milliseconds. */
  readonly startedAt: number;
  /** On the same clock, as all times below; 0: not reached. */
  authenticatedAt: number;
  admittedAt: number;
  /** From a fixed set: an operationId, `mount <path>`, `usage`, `reference`; `null` while unknown. */
  route: string | null;
  client: Client | null;
  operation: Operation | null;
  /** Readings for the limit headers; `null` before anything is counted. */
  standing: Readings | null;
  admission: Admission | null;
  /** Units charged by admission, and the scopes whose windows it counted. */
  cost: number;
  scopes: Scopes;
  /** The code of the refusal or failure, also of the part that the store has not seen. */
  code: string | null;
  refusal: Refusal | null;
  /** When the request was sent to the store, and when the head of the response arrived. */
  forwardedAt: number;
  answeredAt: number;
  /** The last store called; `null`: none. */
  store: StoreName | null;
  /** Aborts the request to the store, for example if the client disconnects. */
  cancel: (() => void) | null;
}
