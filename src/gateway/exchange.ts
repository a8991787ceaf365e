import type { Operation } from '../config/contract/contract.ts';
import type { Refusal } from '../errors/refusals.ts';
import type { Client } from '../keys/key.ts';
import type { Admission, Readings } from '../limits/admission.ts';
import type { Scopes } from '../limits/scopes.ts';
import type { RequestSpan, StoreName } from '../observe/events.ts';
import type { Call } from './wire/call.ts';
import type { Head } from './wire/head.ts';

/**
 * One request as it arrived, with what the headers of its answer and its final event need. Stages pass their results to each
 * other as values (see results.ts), never through the exchange.
 */
export interface Exchange {
  readonly id: string;
  readonly call: Call;
  readonly head: Head;
  /** The caller's address: the peer's, or the one that a trusted proxy reports. */
  readonly address: string;
  /** Whether the peer is a trusted proxy, whose forwarding headers are kept. */
  readonly behindProxy: boolean;
  /** Its place in a trace; `null` while tracing is off. */
  readonly span: RequestSpan | null;
  /** On the clock of `performance.now()`, milliseconds. */
  readonly startedAt: number;
  /** On the same clock, as all times below; 0: it was not reached. */
  authenticatedAt: number;
  admittedAt: number;
  /** The route, from a fixed set of words: an operationId, `mount <path>`, `usage`, `reference`; `null` while unknown. */
  route: string | null;
  client: Client | null;
  operation: Operation | null;
  /** The standing in the answer's limit headers; `null` before anything is counted. */
  standing: Readings | null;
  admission: Admission | null;
  /** The units that admission was asked for, and the scopes whose windows it counted in. */
  cost: number;
  scopes: Scopes;
  /** The code with which the request, or the part the store has not seen, was refused or failed. */
  code: string | null;
  /** What the caller was told then. */
  refusal: Refusal | null;
  /** When the gateway sent the request to the store, and when the head of the answer came. */
  forwardedAt: number;
  answeredAt: number;
  /** The store that was asked last; `null`: none was. */
  store: StoreName | null;
  /** Aborts the request to the store, for example when the caller leaves. */
  cancel: (() => void) | null;
}
