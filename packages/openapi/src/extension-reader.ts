import type { Document } from './document/document.ts';
import type { Json } from './document/source.ts';
import type { Findings } from './findings.ts';
import type { Description } from './operations.ts';

/** Results are plain data, because other processes get a copy. */
export interface ExtensionReader<Fields, Shared> {
  /** `null` if the name is known or belongs to another vendor. */
  misspelling(field: string): string | null;
  /** Called when all operations are known. */
  read(
    document: Document,
    operations: readonly (readonly [Description, Json])[],
    findings: Findings,
  ): ReadExtensions<Fields, Shared>;
}

export interface ReadExtensions<Fields, Shared> {
  fieldsOf(operation: Description, node: Json): Fields;
  /** Operations with mistakes may be missing. */
  sharedBy(operations: readonly (Description & Fields)[]): Shared;
}

export const NO_EXTENSIONS: ExtensionReader<unknown, unknown> = {
  misspelling: () => null,
  read: () => ({ fieldsOf: () => ({}), sharedBy: () => ({}) }),
};
