import { type Reading, serialize } from '@storegate/openapi';
import { type Published, writeDocuments } from '@storegate/reference';
import { USAGE_PATH } from '../../common/own-paths.ts';
import { checkContract, type Serialized } from '../../config/contract/contract.ts';
import { documentWithUsage } from '../../gateway/own/usage-operation.ts';

/** Which contract to read, and how. Plain data. */
export interface Order extends Reading {
  readonly file: string;
}

/** A contract that has been read and checked, in a form that other processes take without work. */
export interface Prepared {
  readonly contract: Serialized;
  readonly published: Published;
}

/** Takes seconds for a large contract. @throws ContractError with every mistake. */
export function readContract({ file, ...reading }: Order): Prepared {
  const { compiled } = checkContract(file, reading);
  // At the path of the gateway's own operation nothing of the contract is published.
  const exempted = compiled.exempted.filter(({ path }) => path !== USAGE_PATH);
  return {
    contract: serialize(compiled),
    published: writeDocuments(documentWithUsage(compiled.document.root), exempted),
  };
}
