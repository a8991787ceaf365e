import type { Fields, ServerCall } from '@storegate/http1';

export type CallFields = Pick<Fields, 'list' | 'meaning'>;

type OfConnection =
  | 'over'
  | 'takeBody'
  | 'endBody'
  | 'failBody'
  | 'drained'
  | 'finish';

type Shared = Readonly<Omit<ServerCall, OfConnection | 'fields' | 'keepAlive'>>;

/** A request and its response. */
export interface Call extends Shared, Pick<ServerCall, 'keepAlive'> {
  /** Many calls may share the fields. */
  readonly fields: CallFields;
}
