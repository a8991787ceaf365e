import { ExpectedError } from '../../common/expected-error.ts';
import { holdsSecret } from '../../common/secret-mask.ts';
import { encodeReason, REASON_HEADER } from '../../keys/operators/reason.ts';
import { GIVE_THE_ID } from '../../keys/secret.ts';

/** The admin API behind a listener, or in this process on the files of a gateway. */
export interface Api {
  /** Returns the body of the answer. Throws CallError. */
  call<T = unknown>(method: string, path: string, sent?: Sent): Promise<T>;
  /**
   * Follows a call that is answered with events: resolves when `stop` aborts. Throws CallError, also when the gateway ends it, and what
   * `heard` throws.
   */
  follow(
    path: string,
    query: NonNullable<Sent['query']>,
    heard: (event: string, data: unknown) => void,
    stop: AbortSignal,
  ): Promise<void>;
  close(): Promise<void>;
}

export interface Sent {
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  /** The value of the header `Idempotency-Key`. */
  readonly idempotencyKey?: string | undefined;
  /** Why, for the audit log. */
  readonly reason?: string | undefined;
}

/** The header fields of a call, by their names. */
export function headersOf({ body, idempotencyKey, reason }: Sent): Record<string, string> {
  return {
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    ...(reason !== undefined && { [REASON_HEADER]: encodeReason(reason) }),
  };
}

/** `usage`: an argument or option cannot be right. `shut`: the gateway was out of reach, or refused the token. */
export type CallFailure = 'usage' | 'shut' | 'failed';

/** A refused or unanswered call; the message says why and what to do. */
export class CallError extends ExpectedError {
  override name = 'CallError';
  readonly failure: CallFailure;

  constructor(message: string, { failure = 'failed', cause }: { failure?: CallFailure; cause?: unknown } = {}) {
    super(message, { cause });
    this.failure = failure;
  }
}

/** The failure behind an error of the admin API with this status. */
export function failureOf(status: number): CallFailure {
  if (status === 401 || status === 429) return 'shut';
  return status === 400 ? 'usage' : 'failed';
}

/** Throws CallError for what looks like a key, as paths do. */
export function queryOf(query: Sent['query'] = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    if (holdsSecret(String(value))) throw new CallError(GIVE_THE_ID, { failure: 'usage' });
    search.set(name, String(value));
  }
  return search.toString();
}
