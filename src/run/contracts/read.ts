import { readFileSync } from 'node:fs';
import { type Exempted, type Json, type Problem, type Reading, serialize } from '@storegate/openapi';
import { type Published, writeDocuments } from '@storegate/reference';
import { USAGE_PATH } from '../../common/reserved-paths.ts';
import { checkContract, type Serialized } from '../../config/contract/contract.ts';
import { documentWithUsage } from '../../gateway/own/usage-operation.ts';

export interface Order extends Reading {
  /** Whether the gateway answers `USAGE_PATH`. */
  readonly hasUsage: boolean;
  /** A file, a URL, or `none`. */
  readonly file: string;
  /** The text at a URL: arguments of a process are short. */
  readonly textFile?: string;
}

export interface Prepared {
  readonly contract: Serialized;
  readonly published: Published;
  readonly notes: readonly Problem[];
}

export type Answer =
  | { readonly kind: 'prepared'; readonly prepared: Prepared }
  | { readonly kind: 'unfit'; readonly problems: readonly Problem[]; readonly notes: readonly Problem[] }
  | { readonly kind: 'bug'; readonly error: unknown };

/** Takes seconds for a large contract. @throws ContractError with every mistake. */
export function readContract({ file, textFile, hasUsage, ...reading }: Order): Prepared {
  const text = textFile === undefined ? undefined : readFileSync(textFile, 'utf8');
  const { compiled, notes } = checkContract(file, { ...reading, text });
  const { root } = compiled.document;
  return {
    contract: serialize(compiled),
    published: hasUsage ? documentsWithUsage(root, compiled.exempted) : writeDocuments(root, compiled.exempted),
    notes,
  };
}

/** The gateway's own operation replaces one at its path. */
function documentsWithUsage(root: Readonly<Json>, exempted: readonly Exempted[]): Published {
  const others = exempted.filter(({ path }) => path !== USAGE_PATH);
  return writeDocuments(documentWithUsage(root), others);
}
