import { type AddressLists, hasLists } from '../../common/address-lists.ts';
import { createAddressRules } from '../../common/clients/address-rules.ts';
import type { Refusal } from '../../common/errors/refusals.ts';
import type { Exchange } from '../exchange.ts';

/** `null`: allowed. */
export type CheckAddress = (exchange: Exchange) => Refusal | null;

/** `name`: of the lists, in logs. */
export function createAddresses(
  name: string,
  lists: AddressLists,
): CheckAddress | null {
  if (!hasLists(lists)) return null;
  const rules = createAddressRules(name, lists, 'address_denied');
  return ({ address }) => rules.refuse(address);
}
