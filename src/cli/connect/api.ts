import {
  type Call,
  type FieldFault,
  type Query,
  queryText,
  type Sent,
} from '@storegate/admin-api';
import { ExpectedError } from '../../common/expected-error.ts';
import { holdsSecret } from '../../common/secret-mask.ts';
import { GIVE_THE_ID } from '../../records/keys/secret.ts';

/** Over HTTP, or in this process on the files of a gateway. */
export interface Connection {
  /** With the gateway of this folder, whose files are valid, but not necessarily in force. */
  readonly isBesideFiles?: true;
  /** Throws CommandError. */
  call(method: string, path: string, sent?: Sent): Promise<unknown>;
  /** Writes the text of a response as it comes, and resolves with its headers. Throws CommandError. */
  download(
    path: string,
    query: NonNullable<Sent['query']>,
    write: (text: string) => void,
  ): Promise<Readonly<Record<string, string>>>;
  close(): Promise<void>;
}

/** A connection that calls operations of the contract. */
export interface Api extends Omit<Connection, 'call'> {
  /** Throws CommandError. */
  readonly call: Call;
}

/**
 * `usage`: invalid argument or option. `shut`: the gateway cannot have received the call. `denied`:
 * it refused the token. `lost`: it may have received the call, and its response is missing. `down`:
 * the health that it reports.
 */
export type CallFailure =
  | 'usage'
  | 'shut'
  | 'denied'
  | 'lost'
  | 'down'
  | 'failed';

export interface Details {
  readonly failure?: CallFailure;
  readonly faults?: readonly FieldFault[] | null;
  readonly cause?: unknown;
}

/** The message has the reason and what to do. */
export class CommandError extends ExpectedError {
  readonly failure: CallFailure;
  /** Invalid fields of the call, for errors that name the options. */
  readonly faults: readonly FieldFault[];

  constructor(
    message: string,
    { failure = 'failed', faults, cause }: Details = {},
  ) {
    super(message, { cause });
    this.failure = failure;
    this.faults = faults ?? [];
  }
}

/** A change whose response is lost, so it may have been made. */
export class LostChange extends CommandError {
  readonly lost: CommandError;

  constructor(lost: CommandError, idempotencyKey: string) {
    super(
      `${lost.message} The change may have been made: to complete it once and get its result, repeat the command with --idempotency-key ${idempotencyKey}.`,
      { failure: 'lost', cause: lost },
    );
    this.lost = lost;
  }
}

export function failureOf(status: number): CallFailure {
  if (status === 401 || status === 403 || status === 429) return 'denied';
  return status === 400 ? 'usage' : 'failed';
}

/** Throws CommandError for a secret: paths and queries are logged. */
export function refuseSecret(text: string): void {
  if (holdsSecret(text))
    throw new CommandError(GIVE_THE_ID, { failure: 'usage' });
}

/** The text of `query`. Throws CommandError for a secret in it or in `path`. */
export function queryOf(path: string, query: Query = {}): string {
  for (const text of [decodeURIComponent(path), ...Object.values(query)])
    refuseSecret(String(text));
  return queryText(query);
}
