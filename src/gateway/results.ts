import type { Operation } from '../contract/contract.ts';
import type { Client } from '../keys/key.ts';
import type { Limits } from '../limits/limits.ts';
import type { RequestTarget } from './wire/target.ts';

/** A protected field cannot be written by an object literal, and a copy of an object does not have it. */
declare class Mark<Stage extends string> {
  protected readonly stage: Stage;
}

/**
 * A value that only one stage makes: no object literal and no copy fits. A stage marks its own result with `as`;
 * test/walls.test.ts finds any other file that does. The mark is for the compiler alone and costs nothing.
 */
type Made<Value, Stage extends string> = Value & Mark<Stage>;

/** Where a request wants to go, after `door` found it well-formed. */
export type Target = Made<RequestTarget, 'door'>;

/** A client whose key is good and whose limits are known. */
export type KnownClient = Made<Client & { readonly limits: Limits }, 'authenticate'>;

/** The client of a request that was charged to its windows. */
export type Admitted = Made<Client & { readonly limits: Limits }, 'admit'>;

/** A request that fits its operation, with the very bytes that were checked; all that the store is asked with. */
export type Checked = Made<CheckedRequest, 'contract'>;

export interface CheckedRequest {
  readonly client: Admitted;
  readonly target: Target;
  readonly operation: Operation;
  readonly body: Buffer | null;
}
