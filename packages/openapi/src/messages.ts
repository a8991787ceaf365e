import type { Fault } from './faults.ts';
import type { ParameterValues } from './parameters/checker.ts';

type HeadersInput =
  | readonly string[]
  | Iterable<readonly [string, string]>
  | Readonly<Record<string, string | number | readonly string[] | undefined>>;

export interface MessageInput {
  readonly method: string;
  /** Path and query as the client sent them, or a URL. */
  readonly url: string;
  /** By name; as `Headers`; or in a list: name, value, … as `rawHeaders` of Node. */
  readonly headers: HeadersInput;
  /** As received, without a Content-Encoding. Text is sent as UTF-8. */
  readonly body?: Uint8Array | string | null | undefined;
}

export type RequestInput = MessageInput;

export interface ResponseInput extends MessageInput {
  /** `method` and `url` are those of the request. */
  readonly status: number;
}

export interface RequestResult<Op> {
  /**
   * For the response to the client; 200 without faults, or if they are only reported
   * (`x-report-only`).
   */
  readonly status: 200 | 400 | 404 | 405 | 413 | 415;
  readonly faults: readonly Fault[];
  readonly operation: Op | null;
  /** For the header Allow of 405. */
  readonly allow: readonly string[];
  /** `null` with faults. Integers beyond 2^53 are bigints. */
  readonly values: RequestValues | null;
}

export interface RequestValues extends ParameterValues {
  /** Of JSON, a form, XML or text, otherwise undefined. */
  readonly body: unknown;
}

export interface ResponseResult<Op> {
  readonly faults: readonly Fault[];
  readonly operation: Op | null;
  /** As in `RequestValues`. */
  readonly body: unknown;
}

export interface Validators<Op> {
  /** @throws TypeError for arguments of the wrong type, whatever the client sends. */
  validateRequest(request: RequestInput): RequestResult<Op>;
  /** Responses to HEAD have no faults. @throws TypeError */
  validateResponse(response: ResponseInput): ResponseResult<Op>;
}
