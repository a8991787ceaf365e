import type { Schemas } from '../schema/schemas.ts';
import { type CheckHeaders, createHeaderCheck } from './checker.ts';
import { readParameter } from './parameter.ts';

/** Of a response, or of a part of multipart; `unread`: names in lower case. */
export function readHeaders(
  schemas: Schemas,
  headers: unknown,
  unread: readonly string[],
): CheckHeaders {
  const { document } = schemas;
  const described = document
    .members(headers)
    .filter(([name]) => !unread.includes(name.toLowerCase()));
  const read = described.map(([name, value]) => {
    const node = document.object(value);
    return node && readParameter(schemas, node, name, 'header');
  });
  return createHeaderCheck(read.filter((header) => header !== null));
}
