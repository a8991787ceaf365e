import { type Document, isObject, type Json } from '@storegate/openapi';
import type { RefusalFacts, Refusals } from './refusals.ts';

/**
 * The author's responses, and those of the gateway. Where both have a status, either body may come.
 */
export function withRefusals(
  document: Document,
  { responses = {} }: Json,
  { of, schema }: Refusals,
  facts: RefusalFacts,
): Json {
  if (!isObject(responses)) return {};
  const merged: Json = { ...of(facts) };
  for (const [status, written] of Object.entries(responses)) {
    const response = document.object(written);
    const isShared = Object.hasOwn(merged, status) && response !== null;
    merged[status] = isShared
      ? withError(document, written, response, schema)
      : written;
  }
  return { responses: merged };
}

const JSON_TYPE = 'application/json';

function withError(
  document: Document,
  written: unknown,
  response: Json,
  error: Json,
): unknown {
  const content = document.object(response.content) ?? {};
  const media = document.object(content[JSON_TYPE]);
  if (media !== null && covers(document, media.schema)) return written;
  const schema = media === null ? error : { anyOf: [media.schema, error] };
  return {
    ...response,
    content: { ...content, [JSON_TYPE]: { ...media, schema } },
  };
}

/** Whether a schema has the members of an error of the gateway, or any. */
function covers(document: Document, schema: unknown): boolean {
  const node = document.object(schema);
  if (node === null || Object.keys(node).length === 0) return true;
  const { allOf } = node;
  const parts = [node, ...(Array.isArray(allOf) ? allOf : [])];
  const names = new Set(
    parts.flatMap((part) =>
      document.members(document.object(part)?.properties).map(([name]) => name),
    ),
  );
  return MEMBERS.every((name) => names.has(name));
}

const MEMBERS = ['code', 'message', 'status', 'details'];
