import type { Answers } from '@storegate/console';
import type { IdempotentAnswer } from '../keys/operators/audit-log.ts';
import type { Operator } from '../keys/operators/tokens.ts';

export interface Call {
  readonly id: string;
  readonly operator: Operator;
  /** In capitals. */
  readonly method: string;
  /** Percent-encoded. */
  readonly path: string;
  /** Raw, without the question mark. */
  readonly query: string;
  /** Raw: name, value, name, value, … */
  readonly headers: readonly string[];
  readonly body: Buffer | null;
}

export interface AdminAnswer<Body = unknown> {
  readonly status: number;
  readonly body: Body;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the body. */
  readonly follow?: Follow;
}

/**
 * Sends events until either side ends the stream; returns a function that stops it. Throws AdminError if it cannot
 * begin.
 */
export type Follow = (listener: Listener) => () => void;

export interface Listener {
  /** `false`: the listener has unread data, and the event is dropped. */
  send(event: string, data: unknown): boolean;
  end(error?: unknown): void;
}

/** Validated against the contract. */
export interface Task {
  /** Unix milliseconds. */
  readonly now: number;
  readonly actor: string;
  readonly requestId: string;
  /** For the audit log. */
  readonly reason: string | null;
  /** `null`: the call may be made twice. */
  readonly idempotent: Idempotent | null;
  /** Decoded. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: the contract has checked it, each operation says what it is.
  readonly body: any;
}

export interface Idempotent {
  readonly name: string;
  seal(answer: AdminAnswer): IdempotentAnswer;
  /** Throws AdminError if the response belongs to another call. */
  open(kept: IdempotentAnswer): AdminAnswer;
}

export type AdminOperation<Body = unknown> = (task: Task) => Promise<AdminAnswer<Body>>;

/** By operationId. */
export type AdminOperations = { readonly [Id in keyof Answers]: AdminOperation<Answers[Id]> };

export const ok = <Body>(body: Body): AdminAnswer<Body> => ({ status: 200, body });
export const created = <Body>(body: Body): AdminAnswer<Body> => ({ status: 201, body });
