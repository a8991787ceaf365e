import type { MaybePromise } from '../common/maybe-promise.ts';
import type { KeyRecord } from './keys/key.ts';
import type { LogName } from './model/entries.ts';
import type { AuditNote, IdempotentResult } from './operators/audit-log.ts';
import type { TokenRecord } from './operators/tokens.ts';

/** What an entry changes: records as they are after it. */
export interface Changes {
  readonly added?: readonly KeyRecord[];
  /** Replaces the version before it. */
  readonly replaced?: KeyRecord;
  readonly tokenAdded?: TokenRecord;
  /** Its name. */
  readonly tokenRemoved?: string;
}

/**
 * The only way to change records. An entry and its changes are one atomic step: if a call throws,
 * it stored nothing, but after an `Outage` the result is unknown. Then the caller repeats the call
 * under the same name, or asks for its result.
 */
export interface Log {
  /**
   * Resolves when the change survives a crash and this process reads it. Throws
   * IdempotencyConflict first, then KeyTaken, KeyConflict or WrongToken.
   */
  append(log: LogName, note: AuditNote, changes?: Changes): Promise<void>;
  /** As `AuditLog`. */
  resultOf(name: string, now: number): MaybePromise<IdempotentResult | null>;
  /** As `AuditLog`. */
  forget(name: string): MaybePromise<void>;
}

/** The name of a token to add is taken, or the token to remove does not exist. */
export class WrongToken extends Error {
  override name = 'WrongToken';
}
