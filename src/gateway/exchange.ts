import type { Operation } from '../config/contract/contract.ts';
import type { Refusal } from '../errors/refusals.ts';
import type { Client } from '../keys/key.ts';
import type { Admission, Readings } from '../limits/admission.ts';
import type { Scopes } from '../limits/scopes.ts';
import type { RequestSpan, StoreName } from '../observe/events.ts';
import type { Call } from './wire/call.ts';
import type { Head } from './wire/head.ts';

/** Stages pass results to each other as values (see results.ts), never through the exchange. */
export interface Exchange {
  readonly id: string;
  readonly call: Call;
  /** A mount with carriers of its own reads it again. */
  head: Head;
  /** Of the peer, or reported by a trusted proxy. */
  readonly address: string;
  /** The peer is a trusted proxy, whose forwarding headers are kept. */
  readonly behindProxy: boolean;
  /** `null` while tracing is off. */
  readonly span: RequestSpan | null;
  /** Milliseconds on the clock of `performance.now()`, as all times below; 0: not reached. */
  readonly startedAt: number;
  authenticatedAt: number;
  admittedAt: number;
  /** From a fixed set: an operationId, `mount <path>`, `usage`, `reference`; `null` while unknown. */
  route: string | null;
  client: Client | null;
  operation: Operation | null;
  /** `null` before anything is counted. */
  standing: Readings | null;
  admission: Admission | null;
  /** Units charged by admission, and the scopes of its windows. */
  cost: number;
  scopes: Scopes;
  /** Of the refusal or failure, also if the backend has not received the request. */
  code: string | null;
  refusal: Refusal | null;
  forwardedAt: number;
  answeredAt: number;
  /** The last backend called. */
  store: StoreName | null;
  /** For example if the client disconnects. */
  cancel: (() => void) | null;
}
