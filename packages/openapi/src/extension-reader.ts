import type { Document } from './document/document.ts';
import type { Json } from './document/source.ts';
import type { Findings } from './findings.ts';
import type { Description } from './operations.ts';

/**
 * Reads the `x-` fields of a document that this package does not know: `Fields` are those of operations, `Shared` those of the document.
 * Both are plain data, because other processes get a copy.
 */
export interface ExtensionReader<Fields, Shared> {
  /** The mistake in the name of an `x-` field; `null` if the name is known, or belongs to another vendor. */
  misspelling(field: string): string | null;
  /** Reads the fields when all operations are known, and reports mistakes to `findings`. */
  read(
    document: Document,
    operations: readonly (readonly [Description, Json])[],
    findings: Findings,
  ): ReadExtensions<Fields, Shared>;
}

export interface ReadExtensions<Fields, Shared> {
  /** The fields of an operation, which has them beside its own. `node`: its Operation Object. */
  fieldsOf(operation: Description, node: Json): Fields;
  /** The fields of a contract that has these operations: those with mistakes may be missing. */
  sharedBy(operations: readonly (Description & Fields)[]): Shared;
}

/** For documents whose unknown fields have no meaning. */
export const NO_EXTENSIONS: ExtensionReader<unknown, unknown> = {
  misspelling: () => null,
  read: () => ({ fieldsOf: () => ({}), sharedBy: () => ({}) }),
};
