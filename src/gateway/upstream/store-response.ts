import type { BodyStream } from '@storegate/http1';

/** An answer of the store as a value. Steps between the store and the caller may read it or replace it. */
export interface StoreResponse {
  /** 200 to 599. */
  readonly status: number;
  /** The reason phrase as the store wrote it; empty for the usual one. */
  readonly reason: string;
  /** Header fields that may reach a caller, flat: name in lower case, value, name, value, … */
  readonly headers: readonly string[];
  readonly body: ResponseBody;
}

/** The body of an answer: a Buffer if it came with the head, as most do; otherwise a stream. */
export type ResponseBody = Buffer | BodyStream;
