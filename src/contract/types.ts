import type { Fault } from '../errors/fault.ts';
import type { Extensions } from './extensions.ts';
import type { MediaRule } from './media/rules.ts';
import type { Problem } from './problems.ts';
import type { Routed } from './router.ts';

/** What happens to query parameters that an operation does not describe. */
export type UnknownQuery = 'refuse' | 'pass';

/** A service as its OpenAPI document describes it, ready to check requests and answers. Immutable. */
export interface Contract {
  readonly title: string;
  readonly version: string;
  readonly operations: readonly Operation[];
  /** What it was read from: the text of each file by its absolute path. */
  readonly files: ReadonlyMap<string, string>;
  /** The document in one piece: what other files held is in `components`. Integers beyond 2^53 are bigints. */
  readonly document: Readonly<Record<string, unknown>>;
  /** The document as JSON and as YAML, every digit kept. */
  readonly json: string;
  readonly yaml: string;
  /** What the document says that is not enforced, and where. */
  readonly notes: readonly Problem[];
  /**
   * The operation a request asks for. `method` in capitals; `path` canonical (RFC 3986 section 6.2.2), percent-encoded,
   * beginning with `/`, without a query. HEAD is answered by GET.
   */
  match(method: string, path: string): Match;
}

/**
 * An operation, with the raw, still encoded values of its path's templates in their order; or none: `allow` has the methods
 * of the path (405), and is `null` for a path that does not exist (404).
 */
export type Match = Routed<Operation>;

/** One method of one path. */
export interface Operation extends Extensions {
  /** The operationId, or `get /pets/{petId}` where the document has none. */
  readonly id: string;
  /** In capitals. */
  readonly method: string;
  /** The path template as the document writes it. */
  readonly path: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly deprecated: boolean;
  /**
   * For every answer, name, value, name, value, …: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), `Link` to the successor
   * (RFC 5829; `Link-Template`, RFC 9652, if its path has templates), `X-Stability-Level` if not stable.
   */
  readonly replyHeaders: readonly string[];
  /** `null`: the operation takes no body. */
  readonly body: BodyRule | null;
  /**
   * Checks what comes before a body. `parameters`: as `match` gave them; `query`: raw, without `?`; `headers`: raw, name,
   * value, name, value, … as node has them. Costs nothing to speak of when there is nothing to check.
   */
  checkParameters(parameters: readonly string[], query: string, headers: readonly string[]): readonly Fault[];
  /** Checks status, media type and body of an answer to any method but HEAD. */
  checkResponse(status: number, contentType: string | undefined, body: Uint8Array): readonly Fault[];
}

/** The bodies an operation takes. */
export interface BodyRule {
  readonly required: boolean;
  /** The media types of the contract. */
  readonly accepted: readonly string[];
  /** The rule for a Content-Type; `null`: no such type is taken (415). */
  media(contentType: string | undefined): MediaRule | null;
}
