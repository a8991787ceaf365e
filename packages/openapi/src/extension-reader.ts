import type { Document } from './document/document.ts';
import type { Json } from './document/source.ts';
import type { Findings } from './findings.ts';
import type { Description } from './operations.ts';

/**
 * Reads `x-` fields that this package does not know: `Fields` are those of operations, `Shared` those of the document.
 * Both are plain data, because other processes get a copy.
 */
export interface ExtensionReader<Fields, Shared> {
  /** The error message for a misspelled `x-` field; `null` if the name is known or belongs to another vendor. */
  misspelling(field: string): string | null;
  /** Called when all operations are known. Reports mistakes to `findings`. */
  read(
    document: Document,
    operations: readonly (readonly [Description, Json])[],
    findings: Findings,
  ): ReadExtensions<Fields, Shared>;
}

export interface ReadExtensions<Fields, Shared> {
  /** The extra fields of an operation. `node`: its Operation Object. */
  fieldsOf(operation: Description, node: Json): Fields;
  /** The shared fields of a contract with these operations. Operations with mistakes may be missing. */
  sharedBy(operations: readonly (Description & Fields)[]): Shared;
}

export const NO_EXTENSIONS: ExtensionReader<unknown, unknown> = {
  misspelling: () => null,
  read: () => ({ fieldsOf: () => ({}), sharedBy: () => ({}) }),
};
