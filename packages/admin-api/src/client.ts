import { ROUTES } from './generated/operations.ts';
import type { Operations } from './generated/types.ts';

export type OperationId = keyof Operations;

/** The parameters of an operation, in its path and query. */
export type ParamsOf<Id extends OperationId> = Operations[Id]['path'] &
  Operations[Id]['query'];
export type BodyOf<Id extends OperationId> = NonNullable<
  Operations[Id]['body']
>;
export type ResponseOf<Id extends OperationId> = Operations[Id]['response'];

/** An object without required members. */
type None = Record<never, never>;

type Params<P> = [keyof P] extends [never]
  ? { readonly params?: never }
  : None extends P
    ? { readonly params?: P }
    : { readonly params: P };

export interface CallOptions {
  /** For the audit log. */
  readonly reason?: string | undefined;
  /** A repeated call with the same key runs once. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Input<Id extends OperationId> = Params<ParamsOf<Id>> &
  Pick<Operations[Id], 'body'>;

/** What a call of an operation takes besides its id; `More`: options of the caller. */
export type InputOf<Id extends OperationId, More = CallOptions> =
  None extends Input<Id>
    ? [input?: Input<Id> & More]
    : [input: Input<Id> & More];

export type Call = <Id extends OperationId>(
  id: Id,
  ...input: InputOf<Id>
) => Promise<ResponseOf<Id>>;

export type Query = Readonly<
  Record<string, string | number | boolean | undefined>
>;

export interface Sent extends CallOptions {
  readonly query?: Query;
  readonly body?: unknown;
}

/**
 * Sends a call, for example with `fetch`, and resolves with the JSON value of its response. Rejects
 * with an error of its own if the call was refused or lost. `path` is percent-encoded. `isChange`:
 * a repeat of the call needs its Idempotency-Key.
 */
export type Send = (
  method: string,
  path: string,
  sent: Sent,
  isChange: boolean,
) => Promise<unknown>;

/** Calls operations by their ids. Rejects as `send` does. */
export function createClient(send: Send): Call {
  return async (id, ...input) => {
    const { params, ...sent } = (input[0] ?? {}) as Sent & {
      readonly params?: Query;
    };
    const [method, template] = ROUTES[id];
    const query = { ...params };
    const path = template.replace(/\{(\w+)\}/g, (_all, name: string) => {
      const value = String(query[name]);
      delete query[name];
      return encodeURIComponent(value);
    });
    const response = await send(method, path, { ...sent, query }, isChange(id));
    return response as ResponseOf<typeof id>;
  };
}

/** Whether it changes something, so that it has an entry in the audit log. */
export function isChange(id: OperationId): boolean {
  const [method, , role] = ROUTES[id];
  return method !== 'GET' && role !== 'read';
}
