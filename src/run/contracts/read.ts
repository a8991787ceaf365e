import { type Published, writeDocuments } from '@storegate/reference';
import { type Carried, carry } from '../../../packages/openapi/src/carried.ts';
import { checkContract, type Reading } from '../../../packages/openapi/src/contract.ts';
import { USAGE_PATH } from '../../common/own-paths.ts';
import { documentWithUsage } from '../../gateway/own/usage-operation.ts';

/** Which contract to read, and how. Plain data. */
export interface Order extends Reading {
  readonly file: string;
}

/** A contract that has been read and checked, in a form that other processes take without work. */
export interface Prepared {
  readonly carried: Carried;
  readonly published: Published;
}

/** Takes seconds for a large contract. @throws ContractError with every mistake. */
export function readContract({ file, ...reading }: Order): Prepared {
  const { checked } = checkContract(file, reading);
  // At the path of the gateway's own operation nothing of the contract is published.
  const exempted = checked.exempted.filter(({ path }) => path !== USAGE_PATH);
  return { carried: carry(checked), published: writeDocuments(documentWithUsage(checked.document.root), exempted) };
}
