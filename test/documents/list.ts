import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { ReasonName } from './reasons.ts';

/** A document of `list.yaml`. */
export interface Listed {
  /** In its package. */
  readonly file: string;
  /** Of the file, without the files that it refers to: the package has a hash too. */
  readonly sha256: string;
  /** As the document has it. */
  readonly openapi: string;
  /** What wrote it, where it shows. */
  readonly made?: string;
  /** Of a document that loads. */
  readonly operations?: number;
  /** The first mistake of each kind, in a line. */
  readonly refused?: Readonly<Partial<Record<ReasonName, string>>>;
}

export interface ListedPackage {
  readonly name: string;
  readonly version: string;
  /** Of the tarball, as the registry has it: `sha512-…`. */
  readonly integrity: string;
  readonly documents: readonly Listed[];
}

export interface DocumentList {
  /** By name: exact versions of the packages that have a second opinion. */
  readonly tools: Readonly<Record<string, string>>;
  readonly packages: readonly ListedPackage[];
}

export const readList = (): DocumentList =>
  parse(readFileSync(join(import.meta.dirname, 'list.yaml'), 'utf8')) as DocumentList;
