import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from '../contract/contract.ts';
import type { Client } from '../keys/key.ts';
import type { Admission, Standing } from '../limits/admission.ts';
import type { Head } from './wire/head.ts';

/**
 * One request as it came, and what the headers of its answer and the event at its end need to know. Stages hand their
 * results to each other as values (see results.ts), never through here.
 */
export interface Exchange {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly head: Head;
  /** The caller's address: the peer's, or what a trusted proxy says of it. */
  readonly address: string;
  /** Whether the peer is a trusted proxy, whose forwarding headers are kept. */
  readonly behindProxy: boolean;
  /** On the clock of `performance.now()`, milliseconds. */
  readonly startedAt: number;
  /** Where it goes, from a fixed set of words: an operationId, `mount <path>`, `reference`; `null` while unknown. */
  route: string | null;
  client: Client | null;
  operation: Operation | null;
  /** Whose limit headers the answer carries; `null` until somebody has counted. */
  standing: Standing | null;
  verdict: Admission['verdict'] | null;
  /** The request, or the part of it that the store has not seen, was refused or failed with this code. */
  code: string | null;
  /** When the request was handed to the store, and when the head of its answer came. */
  forwardedAt: number;
  answeredAt: number;
  /** Stops what goes on for this request elsewhere; called when the caller leaves. */
  cancel: (() => void) | null;
}
