import type { AuditNote, IdempotentAnswer } from '../operators/audit-log.ts';
import type { Operator, Role } from '../operators/tokens.ts';

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

export interface AdminAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What an operation gets: everything is checked against the contract. */
export interface Task {
  readonly now: number;
  /** Who calls. */
  readonly actor: string;
  /** Parameters of the path, decoded. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: the contract has checked it, each operation says what it is.
  readonly body: any;
  /** What is kept with a change: who did what; and the answer, if the call must not be done twice. */
  note(entry: { action: string; target: string; before: unknown; after: unknown }, answer: AdminAnswer): AuditNote;
}

export interface AdminOperation {
  readonly role: Role;
  readonly run: (task: Task) => Promise<AdminAnswer>;
}

export type AdminOperations = Readonly<Record<string, AdminOperation>>;

/** Seals an answer for who has the Idempotency-Key; `null` without one. */
export type Seal = (answer: AdminAnswer) => IdempotentAnswer | null;

export const ok = (body: unknown): AdminAnswer => ({ status: 200, body });
export const created = (body: unknown): AdminAnswer => ({ status: 201, body });
