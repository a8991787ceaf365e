import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from '../contract/contract.ts';
import type { Client } from '../keys/key.ts';
import type { Standing } from '../limits/admission.ts';
import type { Head } from './wire/head.ts';
import type { Target } from './wire/target.ts';

/**
 * One request and what has become known of it on its way. Stages hand their results to each other as values; what they
 * note here besides is for the answer's headers and for telling what happened.
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
  /** Set by the door once the target has been read. */
  target: Target | null;
  /** Where it goes, from a fixed set of words: an operationId, `mount <path>`, `reference`; `null` while unknown. */
  route: string | null;
  client: Client | null;
  operation: Operation | null;
  /** Whose limit headers the answer carries; `null` until somebody has counted. */
  standing: Standing | null;
  verdict: 'admitted' | 'limited' | 'banned' | null;
  /** The request, or the part of it that the store has not seen, was refused or failed with this code. */
  code: string | null;
  /** When the request was handed to the store, and when the head of its answer came. */
  forwardedAt: number;
  answeredAt: number;
  /** Stops what goes on for this request elsewhere, should the caller leave. */
  cancel: (() => void) | null;
}

/** The caller closed its connection before the answer was through: nobody is left to answer, and nobody did wrong. */
export class CallerLeft extends Error {
  override name = 'CallerLeft';
}
