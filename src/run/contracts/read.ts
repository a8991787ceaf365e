import { readFileSync } from 'node:fs';
import { type Problem, type Reading, serialize } from '@storegate/openapi';
import type { Published } from '@storegate/reference';
import {
  checkContract,
  type Serialized,
} from '../../config/contract/contract.ts';
import {
  type Publication,
  publishedDocuments,
} from '../../gateway/own/published/document.ts';

export interface Order extends Reading {
  readonly publication: Publication;
  /** A file, a URL, or `none`. */
  readonly file: string;
  /** The text at a URL: arguments of a process are short. */
  readonly textFile?: string;
  /** The setting or variable with the path. */
  readonly namedBy?: string;
}

export interface Prepared {
  readonly contract: Serialized;
  readonly published: Published;
  readonly notes: readonly Problem[];
}

export type ReadResult =
  | { readonly kind: 'prepared'; readonly prepared: Prepared }
  | {
      readonly kind: 'unfit';
      readonly problems: readonly Problem[];
      readonly notes: readonly Problem[];
    }
  | { readonly kind: 'bug'; readonly error: unknown };

/** Takes seconds for a large contract. @throws ContractError with every mistake. */
export function readContract({
  file,
  textFile,
  namedBy,
  publication,
  ...reading
}: Order): Prepared {
  const text =
    textFile === undefined ? undefined : readFileSync(textFile, 'utf8');
  const { compiled, notes } = checkContract(
    file,
    { ...reading, text },
    namedBy,
    publication.operations,
  );
  return {
    contract: serialize(compiled),
    published: publishedDocuments(compiled, publication),
    notes,
  };
}
