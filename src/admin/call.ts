import type { Answers } from '@storegate/console';
import type { IdempotentAnswer } from '../keys/operators/audit-log.ts';
import type { Operator } from '../keys/operators/tokens.ts';

/** A call of the admin API, however it came: over HTTP or from a command beside the gateway. */
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
  /** In place of the body: what happens from now on. */
  readonly follow?: Follow;
}

/** Tells a listener what happens until either side ends it; answers how to stop. Throws AdminError if it cannot begin. */
export type Follow = (listener: Listener) => () => void;

export interface Listener {
  /** Takes an event by its name. `false`: it has not read what came before, and does not get this one. */
  send(event: string, data: unknown): boolean;
  /** Nothing comes any more, because of this error if there is one. */
  end(error?: unknown): void;
}

/** What an operation gets: everything is checked against the contract. */
export interface Task {
  /** Unix milliseconds. */
  readonly now: number;
  /** Name of the operator who calls. */
  readonly actor: string;
  readonly requestId: string;
  /** Why it is called, for the audit log; `null`: nobody said. */
  readonly reason: string | null;
  /** `null`: the call may be made twice. */
  readonly idempotent: Idempotent | null;
  /** Parameters of the path, decoded. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: the contract has checked it, each operation says what it is.
  readonly body: any;
}

/** A call with an Idempotency-Key. */
export interface Idempotent {
  /** Under which its answer is kept. */
  readonly name: string;
  seal(answer: AdminAnswer): IdempotentAnswer;
  /** The answer that was kept. Throws AdminError where it belongs to another call with this key. */
  open(kept: IdempotentAnswer): AdminAnswer;
}

export type AdminOperation<Body = unknown> = (task: Task) => Promise<AdminAnswer<Body>>;

/** By operationId. Each answers what the contract says. */
export type AdminOperations = { readonly [Id in keyof Answers]: AdminOperation<Answers[Id]> };

export const ok = <Body>(body: Body): AdminAnswer<Body> => ({ status: 200, body });
export const created = <Body>(body: Body): AdminAnswer<Body> => ({ status: 201, body });
