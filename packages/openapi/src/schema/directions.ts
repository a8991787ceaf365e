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

  barredBy(schema: Json, direction: Direction): ReadonlySet<string> {
    const properties = [...this.#document.combined(schema)].flatMap((part) => this.#document.members(part.properties));
    return new Set(properties.filter(([, property]) => this.#isBarred(property, direction)).map(([name]) => name));
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
