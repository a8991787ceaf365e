import type { Document } from '../document/document.ts';
import type { Json } from '../document/source.ts';
import type { Bar } from '../faults.ts';
import type { Findings } from '../findings.ts';

/** `readOnly`, `writeOnly`. */
export type Direction = 'request' | 'response';

/** OpenAPI 3.0.3, Schema Object, fixed fields. */
const BARRED = {
  request: 'readOnly',
  response: 'writeOnly',
} as const satisfies Record<Direction, Bar>;

export class Directions {
  readonly #document: Document;
  readonly #findings: Findings;

  constructor(document: Document, findings: Findings) {
    this.#document = document;
    this.#findings = findings;
  }

  barredBy(schema: Json, direction: Direction, seen = new Set<Json>()): Set<string> {
    const names = new Set<string>();
    if (seen.has(schema)) return names;
    seen.add(schema);
    for (const [name, property] of this.#document.members(schema.properties)) {
      if (this.#isBarred(property, direction)) names.add(name);
    }
    const beside = this.#document.beside(schema);
    for (const part of [...(Array.isArray(schema.allOf) ? schema.allOf : []), ...(beside ? [beside] : [])]) {
      const node = this.#document.object(part);
      if (node) for (const name of this.barredBy(node, direction, seen)) names.add(name);
    }
    return names;
  }

  /** Clients send back what they read, including members for responses only. */
  refusalOf(property: unknown, direction: Direction): Bar | null {
    if (!this.#isBarred(property, direction)) return null;
    const refuses = direction === 'response' || this.#document.reading.readOnly === 'refuse';
    return refuses ? BARRED[direction] : null;
  }

  #isBarred(property: unknown, direction: Direction): boolean {
    const schema = this.#document.object(property);
    if (schema?.readOnly === true && schema.writeOnly === true) {
      this.#findings.problem(schema, 'writeOnly', 'a property cannot be both readOnly and writeOnly');
    }
    if (!schema) return false;
    const beside = this.#document.beside(schema);
    return schema[BARRED[direction]] === true || (beside !== null && this.#isBarred(beside, direction));
  }
}
