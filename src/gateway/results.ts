import type { ClientRequest } from '@storegate/http1';
import type { Limits } from '../limits/limits.ts';
import type { Client } from '../records/keys/key.ts';
import type { Route } from './routes.ts';
import type { RequestTarget } from './wire/target.ts';

/** An object literal cannot set a protected field, and a copy does not have it. */
declare class Mark<Stage extends string> {
  protected readonly stage: Stage;
}

/**
 * A stage marks its result with `as`; test/layers.test.ts finds every other file that does. The mark
 * exists for the compiler only.
 */
type Made<Value, Stage extends string> = Value & Mark<Stage>;

export type Target = Made<RequestTarget, 'guard'>;

export type KnownClient = Made<
  Client & { readonly limits: Limits },
  'authenticate'
>;

export type Admitted = Made<Client & { readonly limits: Limits }, 'admit'>;

/** Only such a request is forwarded. */
export type Checked = Made<CheckedRequest, 'contract'>;

export interface CheckedRequest {
  readonly client: Admitted;
  readonly target: Target;
  readonly route: Route;
  readonly body: ClientRequest['body'];
}
