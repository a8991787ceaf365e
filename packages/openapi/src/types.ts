import type { Extensions } from './extensions.ts';
import type { Fault } from './fault.ts';
import type { MediaRule } from './media/rules.ts';
import type { Treatment } from './options.ts';
import type { Problem } from './problems.ts';
import type { Routed } from './router.ts';

/** An operation that is not enforced, because the document has mistakes in it. */
export interface Exempted {
  readonly id: string;
  /** In capitals. */
  readonly method: string;
  readonly path: string;
  readonly treatment: Treatment;
  readonly problems: readonly Problem[];
}

/**
 * The compiled OpenAPI document of a service, which checks requests and answers. Immutable. An `ExtensionReader` adds `Fields` to its
 * operations, and `Shared` to itself.
 */
export type Contract<Fields = unknown, Shared = unknown> = Shared & ContractOf<Operation & Fields>;

interface ContractOf<Operation> {
  readonly title: string;
  readonly version: string;
  readonly operations: readonly Operation[];
  /** The fingerprint of the text of each of its files, by absolute path; see `fingerprintOf`. */
  readonly files: ReadonlyMap<string, string>;
  /** The fingerprint of the document as one file. */
  readonly fingerprint: string;
  /** The fingerprint of each operation with all that it refers to, by its id. */
  readonly digests: ReadonlyMap<string, string>;
  /** The document as one file: `components` has the contents of the others. Integers beyond 2^53 are bigints. */
  readonly document: Readonly<Record<string, unknown>>;
  /** The document as JSON, every digit kept; made anew each time. */
  readonly json: string;
  readonly exempted: readonly Exempted[];
  /** The names of all members and parameters in the document. */
  readonly names: ReadonlySet<string>;
  /**
   * The operation of a request. `method` is in capitals; `path` is canonical (RFC 3986 section 6.2.2), percent-encoded,
   * begins with `/` and has no query. GET also serves HEAD. The parameters are the raw, still encoded values of the
   * templates in the path, in their order.
   */
  match(method: string, path: string): Routed<Operation>;
  /** The path template most similar to a path without an operation, behind its server's prefix; `null`: none is similar. */
  similar(path: string): string | null;
  /**
   * Compiles the checks of all requests, little by little, in the pauses of the event loop. Resolves when all are compiled, or
   * when `signal` says so. A check that is needed before compiles itself.
   */
  prepare(signal: AbortSignal): Promise<void>;
}

/** A contract with the parts of its document that are not enforced, and their places. */
export type ReadContract<Fields = unknown, Shared = unknown> = Contract<Fields, Shared> & {
  readonly notes: readonly Problem[];
};

/** One method of one path. */
export interface Operation extends Extensions {
  /** The operationId, or a name like `get /pets/{petId}` if the document has none. */
  readonly id: string;
  /** In capitals. */
  readonly method: string;
  /** The path template as the document writes it. */
  readonly path: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly deprecated: boolean;
  /**
   * Headers for every answer, as name, value, name, value, …: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), `Link` to
   * the successor (RFC 5829; `Link-Template`, RFC 9652, if its path has templates), `X-Stability-Level` if not stable.
   */
  readonly replyHeaders: readonly string[];
  /** Set if the document has mistakes in it, and those are tolerated: no answer to it is refused. */
  readonly exempt: Exclude<Treatment, 'omit'> | null;
  /** `null` if the operation takes no body. */
  readonly body: BodyRule | null;
  /**
   * Checks path, query and headers. `parameters` are those of `match`; `query` is raw, without `?`; `headers` are raw:
   * name, value, name, value, … as Node has them. If there is nothing to check, the cost is negligible.
   */
  checkParameters(parameters: readonly string[], query: string, headers: readonly string[]): readonly Fault[];
  /** Checks status, media type and body of an answer to any method but HEAD. */
  checkResponse(status: number, contentType: string | undefined, body: Uint8Array): readonly Fault[];
  /**
   * `null` once the checks of one side are compiled. Until then whoever does not want to stop the event loop waits for the
   * promise; checks work before, too.
   */
  ready(side: Side): Promise<void> | null;
}

/** What a check is for. */
export type Side = 'request' | 'response';

/** The bodies an operation takes. */
export interface BodyRule {
  readonly required: boolean;
  /** The media types of the contract. */
  readonly accepted: readonly string[];
  /** The rule for a Content-Type; `null` if the operation does not take that type (415). */
  media(contentType: string | undefined): MediaRule | null;
}
