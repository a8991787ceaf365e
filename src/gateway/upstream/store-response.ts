import type { BodyStream } from '@storegate/http1';

/** Steps between backend and client may read or replace it. */
export interface StoreResponse {
  /** 200 to 599. */
  readonly status: number;
  /** Empty for the standard one. */
  readonly reason: string;
  /** That may reach a client, flat: lower-case name, value, … */
  readonly headers: readonly string[];
  readonly body: ResponseBody;
}

/** A Buffer if it arrived with the head, as usual. */
export type ResponseBody = Buffer | BodyStream;
