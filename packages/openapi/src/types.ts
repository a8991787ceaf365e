import type { Extensions } from './extensions.ts';
import type { Fault } from './fault.ts';
import type { MediaRule } from './media/rules.ts';
import type { Treatment } from './options.ts';
import type { Problem } from './problems.ts';
import type { Routed } from './router.ts';

/** An operation that is not enforced because of mistakes in the document. */
export interface Exempted {
  readonly id: string;
  /** In upper case. */
  readonly method: string;
  readonly path: string;
  readonly treatment: Treatment;
  readonly problems: readonly Problem[];
}

/**
 * The compiled OpenAPI document of a service, which checks requests and responses. Immutable. An `ExtensionReader` adds
 * `Fields` to its operations, and `Shared` to itself.
 */
export type Contract<Fields = unknown, Shared = unknown> = Shared & ContractOf<Operation & Fields>;

interface ContractOf<Operation> {
  readonly title: string;
  readonly version: string;
  /** The path prefixes of requests, longest first; `''`: none. */
  readonly prefixes: readonly string[];
  readonly operations: readonly Operation[];
  /** The fingerprint of the text of each file, by absolute path; see `fingerprintOf`. */
  readonly files: ReadonlyMap<string, string>;
  /** The fingerprint of the document as one file. */
  readonly fingerprint: string;
  /** The fingerprint of each operation and everything it refers to, by id. */
  readonly digests: ReadonlyMap<string, string>;
  /** The document as one file: `components` has the contents of the others. Integers beyond 2^53 are bigints. */
  readonly document: Readonly<Record<string, unknown>>;
  /** The document as JSON with all digits; created on every access. */
  readonly json: string;
  readonly exempted: readonly Exempted[];
  /** The names of all members and parameters in the document. */
  readonly names: ReadonlySet<string>;
  /**
   * The operation of a request. `method` is in upper case; `path` is canonical (RFC 3986 section 6.2.2),
   * percent-encoded, begins with `/` and has no query. GET also serves HEAD. The parameters are the raw, still encoded
   * values of the path templates, in order.
   */
  match(method: string, path: string): Routed<Operation>;
  /**
   * The path template most similar to a path without an operation, after its server prefix; `null` if none is similar.
   */
  similar(path: string): string | null;
  /**
   * Compiles the checks of all requests in the pauses of the event loop. Resolves when all are compiled or `signal`
   * aborts. A check that is needed earlier compiles itself.
   */
  prepare(signal: AbortSignal): Promise<void>;
}

/** A contract with the parts of its document that are not enforced. */
export type ReadContract<Fields = unknown, Shared = unknown> = Contract<Fields, Shared> & {
  readonly notes: readonly Problem[];
};

export interface Operation extends Extensions {
  /** The operationId, or a name like `get /pets/{petId}` without an operationId. */
  readonly id: string;
  /** In upper case. */
  readonly method: string;
  /** In the spelling of the document. */
  readonly path: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly deprecated: boolean;
  /**
   * Headers of every response: name, value, name, value, …: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), `Link` to
   * the successor (RFC 5829; `Link-Template`, RFC 9652, if its path has templates), `X-Stability-Level` if not stable.
   */
  readonly replyHeaders: readonly string[];
  /** Set for tolerated mistakes in the document: no request to it is refused. */
  readonly exempt: Exclude<Treatment, 'omit'> | null;
  /** `null` if the operation takes no body. */
  readonly body: BodyRule | null;
  /**
   * Checks path, query and headers. `parameters` are those of `match`; `query` is raw, without `?`; `headers` are raw:
   * name, value, name, value, … as Node has them. If there is nothing to check, the cost is negligible.
   */
  checkParameters(parameters: readonly string[], query: string, headers: readonly string[]): readonly Fault[];
  /** For any method except HEAD. */
  checkResponse(status: number, contentType: string | undefined, body: Uint8Array): readonly Fault[];
  /**
   * `null` once the checks of one side are compiled. Until then, a caller that must not block the event loop awaits the
   * promise. Checks also work earlier.
   */
  ready(side: Side): Promise<void> | null;
}

export type Side = 'request' | 'response';

export interface BodyRule {
  readonly required: boolean;
  readonly accepted: readonly string[];
  /** `null` if the operation does not accept the Content-Type (415). */
  media(contentType: string | undefined): MediaRule | null;
}
