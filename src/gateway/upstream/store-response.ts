import type { BodyStream } from '@storegate/http1';

/** A response of the store as a value. Steps between store and client may read or replace it. */
export interface StoreResponse {
  /** 200 to 599. */
  readonly status: number;
  /** The reason phrase as received; empty for the standard one. */
  readonly reason: string;
  /** Header fields that may reach a client, flat: lower-case name, value, name, value, … */
  readonly headers: readonly string[];
  readonly body: ResponseBody;
}

/** A Buffer if it arrived with the head, as usual; otherwise a stream. */
export type ResponseBody = Buffer | BodyStream;
