import type { BodyStream } from '@storegate/http1';

export interface BackendResponse {
  /** 200 to 599. */
  readonly status: number;
  /** Empty for the standard one. */
  readonly reason: string;
  /** Flat: lower-case name, value, … */
  readonly headers: readonly string[];
  readonly body: ResponseBody;
}

/** A Buffer if it arrived with the head. */
export type ResponseBody = Buffer | BodyStream;
