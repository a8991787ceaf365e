import { isObject, isReference, type Json } from './document/source.ts';
import { bodyFault, type Fault, NONE, wrongType } from './faults.ts';
import {
  type Content,
  createContent,
  type MediaSteps,
} from './media/content.ts';
import type { CheckHeaders } from './parameters/checker.ts';
import { readHeaders } from './parameters/headers.ts';
import type { Keep } from './parameters/parameter.ts';
import type { Schemas } from './schema/schemas.ts';

/** In steps, see `MediaRule`. */
export type CheckResponse = (
  status: number,
  contentType: string | undefined,
  body: Uint8Array,
  keep?: Keep,
) => MediaSteps;

export interface ResponseChecks {
  readonly check: CheckResponse;
  checkHeaders(status: number, headers: readonly string[]): readonly Fault[];
}

export const ANY_RESPONSE: ResponseChecks = {
  // biome-ignore lint/correctness/useYield: it is a single step.
  *check() {
    return NONE;
  },
  checkHeaders: () => NONE,
};

interface Described {
  readonly content: Content | null;
  readonly checkHeaders: CheckHeaders;
}

const STATUS = /^(?:[1-5][0-9]{2}|[1-5]XX|default)$/;

/**
 * OpenAPI 3.0.3, Response Object, `headers`. Each Set-Cookie is a value of its own, with commas in
 * it.
 */
const UNREAD = ['content-type', 'set-cookie'];

/** Even if the contract describes a body (RFC 9110 section 6.4.1). */
const bodiless = (status: number) =>
  status < 200 || status === 204 || status === 304;

export function createResponseChecks(
  operation: Json,
  schemas: Schemas,
): ResponseChecks {
  const { document } = schemas;
  const { findings } = document;
  const responses = new Map<string, Described>();
  const { responses: described } = operation;
  if (described === undefined && !document.dialect.needsResponses) {
    findings.note(
      operation,
      null,
      'the operation describes no responses: none is checked',
    );
    return ANY_RESPONSE;
  }
  if (!isObject(described)) {
    if (!isReference(operation))
      findings.problem(operation, null, 'an operation needs responses');
  } else {
    for (const [status, response] of Object.entries(described)) {
      if (status.startsWith('x-')) continue;
      if (!STATUS.test(status))
        findings.problem(
          described,
          status,
          'must be a status such as 200, a range such as 2XX, or default',
        );
      const node = document.object(response);
      const content =
        node && isObject(node.content)
          ? createContent(node.content, 'response', schemas, 'pass')
          : null;
      const checkHeaders = readHeaders(schemas, node?.headers, UNREAD);
      responses.set(status, { content, checkHeaders });
    }
    if (responses.size === 0)
      findings.problem(
        operation,
        'responses',
        'must have at least one response',
      );
  }

  function describedFor(status: number): Described | undefined {
    const range = `${Math.floor(status / 100)}XX`;
    return [String(status), range, 'default']
      .map((key) => responses.get(key))
      .find((found) => found !== undefined);
  }

  return {
    *check(status, contentType, body, keep) {
      const found = describedFor(status);
      if (found === undefined)
        return [bodyFault(`status ${status} is not described`, 'status')];
      const { content } = found;
      const isEmpty = content === null || content.accepted.length === 0;
      if (isEmpty || bodiless(status)) {
        const message = bodiless(status)
          ? `a response of status ${status} has no body`
          : `no body is described for status ${status}`;
        return body.length === 0 ? NONE : [bodyFault(message, 'unexpected')];
      }
      const rule = content.media(contentType);
      return rule
        ? yield* rule.steps(body, keep)
        : [wrongType(content.accepted)];
    },
    checkHeaders: (status, headers) =>
      describedFor(status)?.checkHeaders(headers) ?? NONE,
  };
}
