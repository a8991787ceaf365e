import { isObject, isReference, type Json } from './document/source.ts';
import { bodyFault, NONE, wrongType } from './faults.ts';
import {
  type Content,
  createContent,
  type MediaSteps,
} from './media/content.ts';
import type { Keep } from './parameters/parameter.ts';
import type { Schemas } from './schema/schemas.ts';

/** In steps, see `MediaRule`. */
export type CheckResponse = (
  status: number,
  contentType: string | undefined,
  body: Uint8Array,
  keep?: Keep,
) => MediaSteps;

// biome-ignore lint/correctness/useYield: it is a single step.
export const ANY_RESPONSE: CheckResponse = function* checkNothing() {
  return NONE;
};

const STATUS = /^(?:[1-5][0-9]{2}|[1-5]XX|default)$/;

/** Even if the contract describes a body (RFC 9110 section 6.4.1). */
const bodiless = (status: number) =>
  status < 200 || status === 204 || status === 304;

/** The check ignores response headers. */
export function createResponseCheck(
  operation: Json,
  schemas: Schemas,
): CheckResponse {
  const { document } = schemas;
  const { findings } = document;
  const responses = new Map<string, Content | null>();
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
      const areChecked =
        document.reading.responses === 'enforce' ||
        document.reading.responses === 'report';
      if (areChecked && node?.headers !== undefined)
        findings.note(node, 'headers', 'headers of responses are not checked');
      const content =
        node && isObject(node.content)
          ? createContent(node.content, 'response', schemas, 'pass')
          : null;
      responses.set(status, content);
    }
    if (responses.size === 0)
      findings.problem(
        operation,
        'responses',
        'must have at least one response',
      );
  }

  return function* checkResponse(status, contentType, body, keep) {
    const key = [
      String(status),
      `${Math.floor(status / 100)}XX`,
      'default',
    ].find((candidate) => responses.has(candidate));
    if (key === undefined)
      return [bodyFault(`status ${status} is not described`, 'status')];
    const content = responses.get(key)!;
    const isEmpty = content === null || content.accepted.length === 0;
    if (isEmpty || bodiless(status)) {
      const message = bodiless(status)
        ? `an answer of status ${status} has no body`
        : `no body is described for status ${status}`;
      return body.length === 0 ? NONE : [bodyFault(message, 'unexpected')];
    }
    const rule = content.media(contentType);
    return rule ? yield* rule.steps(body, keep) : [wrongType(content.accepted)];
  };
}
