import type { Document } from '../document/document.ts';
import type { Json } from '../document/source.ts';
import type { Bar } from '../faults.ts';

/** `readOnly`, `writeOnly`. */
export type Direction = 'request' | 'response';

/** OpenAPI 3.0.3, Schema Object, fixed fields. */
const BARRED = {
  request: 'readOnly',
  response: 'writeOnly',
} as const satisfies Record<Direction, Bar>;

export function barredBy(
  document: Document,
  schema: Json,
  direction: Direction,
): ReadonlySet<string> {
  const properties = [...document.combined(schema)].flatMap((part) =>
    document.members(part.properties),
  );
  return new Set(
    properties
      .filter(([, property]) => isBarred(document, property, direction))
      .map(([name]) => name),
  );
}

/** Clients send back what they read, including members for responses only. */
export function refusalOf(
  document: Document,
  property: unknown,
  direction: Direction,
): Bar | null {
  if (!isBarred(document, property, direction)) return null;
  const refuses =
    direction === 'response' || document.reading.readOnly === 'refuse';
  return refuses ? BARRED[direction] : null;
}

export function isBarred(
  document: Document,
  property: unknown,
  direction: Direction,
): boolean {
  const schema = document.object(property);
  if (!schema) return false;
  if (schema.readOnly === true && schema.writeOnly === true) {
    document.findings.problem(
      schema,
      'writeOnly',
      'a property cannot be both readOnly and writeOnly',
    );
  }
  const beside = document.beside(schema);
  return (
    schema[BARRED[direction]] === true ||
    (beside !== null && isBarred(document, beside, direction))
  );
}
