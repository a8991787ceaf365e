import type { Extensions } from './extensions.ts';
import type { Fault } from './faults.ts';
import type { MediaRule, MediaSteps } from './media/content.ts';
import type { Treatment } from './options.ts';
import type { ParameterValues } from './parameters/checker.ts';
import type { Problem } from './problems.ts';
import type { CheckResponse } from './responses.ts';
import type { Routed } from './router.ts';
import type { Target } from './target.ts';

export interface Exempted {
  readonly id: string;
  /** In upper case. */
  readonly method: string;
  readonly path: string;
  readonly treatment: Treatment;
  readonly problems: readonly Problem[];
}

/** See `targetOf`. */
export type TargetPaths = Pick<Target, 'path' | 'written'>;

/**
 * `parameters: null`: the request must be refused, because backends could find another operation or
 * other values, by when they decode the path.
 */
export type TargetMatch<T> =
  | Routed<T>
  | { readonly operation: T; readonly parameters: null };

/** Immutable. An `ExtensionReader` adds `Fields` to its operations, and `Shared` to itself. */
export type Contract<Fields = unknown, Shared = unknown> = Shared &
  ContractOf<Operation & Fields>;

export interface ContractFacts {
  readonly title: string;
  readonly version: string;
  /** The path prefixes of requests, longest first; `''`: none. */
  readonly prefixes: readonly string[];
  /** By absolute path; see `fingerprintOf`. */
  readonly files: ReadonlyMap<string, string>;
  readonly fingerprint: string;
  /** By id, including everything that the operation refers to. */
  readonly digests: ReadonlyMap<string, string>;
  readonly exempted: readonly Exempted[];
  /** Of all members and parameters. */
  readonly names: ReadonlySet<string>;
  /** Of all header parameters. */
  readonly headerNames: ReadonlySet<string>;
}

interface ContractOf<Operation> extends ContractFacts, Validators<Operation> {
  readonly operations: readonly Operation[];
  /** In one file: `components` has the contents of the others. Integers beyond 2^53 are bigints. */
  readonly document: Readonly<Record<string, unknown>>;
  /** With all digits; created on every access. */
  readonly json: string;
  /**
   * `method` is in upper case, `path` is canonical. GET also serves HEAD. The parameters are
   * percent-encoded, in order.
   */
  match(method: string, path: string): Routed<Operation>;
  /** As `match`, with parameters as they were written. */
  matchTarget(method: string, target: TargetPaths): TargetMatch<Operation>;
  /** The most similar path template, after its server prefix. */
  similar(path: string): string | null;
  /**
   * Compiles all request checks in the pauses of the event loop. Resolves when all are compiled or
   * `signal` aborts.
   */
  prepare(signal: AbortSignal): Promise<void>;
}

export type ReadContract<Fields = unknown, Shared = unknown> = Contract<
  Fields,
  Shared
> & {
  readonly notes: readonly Problem[];
};

export interface Operation extends Extensions {
  /** The operationId, or a name like `get /pets/{petId}`. */
  readonly id: string;
  /** In upper case. */
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly deprecated: boolean;
  /**
   * Name, value, …: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), `Link` to the successor (RFC
   * 5829; `Link-Template`, RFC 9652, if its path has templates), `X-Stability-Level` if not stable.
   */
  readonly replyHeaders: readonly string[];
  /** For tolerated mistakes in the document: no request is refused. */
  readonly exempt: Exclude<Treatment, 'omit'> | null;
  /** `null` if the operation takes no body. */
  readonly body: BodyRule | null;
  /**
   * `parameters` are those of `match`; `query` is raw, without `?`; `headers` are raw: name, value,
   * … as Node has them. The read values are added to `values`.
   */
  checkParameters(
    parameters: readonly string[],
    query: string,
    headers: readonly string[],
    values?: ParameterValues,
  ): readonly Fault[];
  /** For any method except HEAD. Ignores headers. */
  checkResponse(...response: Parameters<CheckResponse>): readonly Fault[];
  /** `checkResponse` in steps, see `MediaRule`. */
  responseSteps(...response: Parameters<CheckResponse>): MediaSteps;
  /** Raw: name, value, … as Node has them. `Set-Cookie` is not checked. */
  checkResponseHeaders(
    status: number,
    headers: readonly string[],
  ): readonly Fault[];
  /** `null` once compiled. Checks also work earlier, but may block the event loop. */
  ready(side: Side): Promise<void> | null;
}

export type Side = 'request' | 'response';

export interface BodyRule {
  readonly required: boolean;
  readonly accepted: readonly string[];
  /** `null` if the operation does not accept the Content-Type (415). */
  media(contentType: string | undefined): MediaRule | null;
}

type HeadersInput =
  | readonly string[]
  | Iterable<readonly [string, string]>
  | Readonly<Record<string, string | number | readonly string[] | undefined>>;

export interface MessageInput {
  /** In any case: `get` is `GET`. */
  readonly method: string;
  /** Path and query as the client sent them, or a URL. */
  readonly url: string | URL;
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
  /** Lets other work run every 2 ms, also while it compiles. Rejects with a TypeError. */
  validateRequestAsync(request: RequestInput): Promise<RequestResult<Op>>;
  /** Responses to HEAD have no faults. @throws TypeError */
  validateResponse(response: ResponseInput): ResponseResult<Op>;
  /** As `validateRequestAsync`. */
  validateResponseAsync(response: ResponseInput): Promise<ResponseResult<Op>>;
}
