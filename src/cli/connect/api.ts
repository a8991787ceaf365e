import type { AnswerTo, QueryOf, SentTo } from '@storegate/console';
import { ExpectedError } from '../../common/expected-error.ts';
import { holdsSecret } from '../../common/secret-mask.ts';
import { REASON_HEADER } from '../../keys/operators/headers.ts';
import { GIVE_THE_ID } from '../../keys/secret.ts';

/** Over HTTP, or in this process on the files of a gateway. */
export interface Connection {
  /** Throws CommandError. */
  call(method: string, path: string, sent?: Sent): Promise<unknown>;
  /** Throws CommandError, also if the gateway ends the stream. */
  follow(
    path: '/live',
    query: QueryOf<'followLive'>,
    onEvent: (event: string, data: unknown) => void,
    stop: AbortSignal,
  ): Promise<void>;
  close(): Promise<void>;
}

/** A connection with calls that are in the contract only. */
export interface Api extends Omit<Connection, 'call'> {
  /** Throws CommandError. */
  call<Method extends string, Path extends string>(
    method: Method,
    path: Path,
    ...sent: SentTo<Method, Path, unknown>
  ): Promise<AnswerTo<Method, Path>>;
}

export interface Sent {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
  readonly reason?: string | undefined;
}

export function headersOf({ body, idempotencyKey, reason }: Sent): Record<string, string> {
  return {
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    ...(reason !== undefined && { [REASON_HEADER]: encodeURIComponent(reason) }),
  };
}

/**
 * `usage`: invalid argument or option. `shut`: gateway unreachable or access denied. `lost`: it was
 * reached, and does not respond any more.
 */
export type CallFailure = 'usage' | 'shut' | 'lost' | 'failed';

/** A field of a call, in the words of the admin API. */
export interface FieldFault {
  readonly pointer: string;
  readonly message: string;
}

interface Details {
  readonly failure?: CallFailure;
  readonly faults?: readonly FieldFault[] | null;
  readonly cause?: unknown;
}

/** The message says why and what to do. */
export class CommandError extends ExpectedError {
  readonly failure: CallFailure;
  /** Invalid fields of the call, for errors that name the options. */
  readonly faults: readonly FieldFault[];

  constructor(message: string, { failure = 'failed', faults, cause }: Details = {}) {
    super(message, { cause });
    this.failure = failure;
    this.faults = faults ?? [];
  }
}

export function failureOf(status: number): CallFailure {
  if (status === 401 || status === 403 || status === 429) return 'shut';
  return status === 400 ? 'usage' : 'failed';
}

/** Throws CommandError for a secret, as `segment` does for paths. */
export function queryOf(query: Sent['query'] = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    if (holdsSecret(String(value))) throw new CommandError(GIVE_THE_ID, { failure: 'usage' });
    search.set(name, String(value));
  }
  return search.toString();
}
