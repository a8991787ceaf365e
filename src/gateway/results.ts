import type { Operation } from '../config/contract/contract.ts';
import type { Client } from '../keys/key.ts';
import type { Limits } from '../limits/limits.ts';
import type { RequestTarget } from './wire/target.ts';

/** An object literal cannot set a protected field, and a copy of an object does not have it. */
declare class Mark<Stage extends string> {
  protected readonly stage: Stage;
}

/**
 * A value that only one stage makes: no object literal and no copy fits. A stage marks its own result with `as`;
 * test/walls.test.ts finds every other file that does. The mark is for the compiler alone and costs nothing.
 */
type Made<Value, Stage extends string> = Value & Mark<Stage>;

/** The target of a request that `door` found well-formed. */
export type Target = Made<RequestTarget, 'door'>;

/** A client whose key is good and whose limits are known. */
export type KnownClient = Made<Client & { readonly limits: Limits }, 'authenticate'>;

/** A client whose windows were charged for the request. */
export type Admitted = Made<Client & { readonly limits: Limits }, 'admit'>;

/** A request that fits its operation, with the very bytes that were checked. Only such a request goes to the store. */
export type Checked = Made<CheckedRequest, 'contract'>;

export interface CheckedRequest {
  readonly client: Admitted;
  readonly target: Target;
  readonly operation: Operation;
  readonly body: Buffer | null;
}
