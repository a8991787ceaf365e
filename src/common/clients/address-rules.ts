import type { AddressList, AddressLists } from '../address-lists.ts';
import type { Code } from '../errors/catalogue.ts';
import { cachedRefusals, type Refusal } from '../errors/refusals.ts';
import { wordsOf } from '../ip.ts';
import { type CidrRanges, createCidrRanges } from './cidr-ranges.ts';

export function createAddressRules(
  name: string,
  lists: AddressLists,
  code: Code,
) {
  const because = cachedRefusals(code);
  const allow = rangesOf(lists.allow);
  const deny = rangesOf(lists.deny);

  return {
    /** `null`: allowed. An unreadable address is in no list. */
    refuse(address: string): Refusal | null {
      const words = wordsOf(address);
      if (deny !== null && words !== null) {
        const found = deny.find(words);
        if (found !== null)
          return because(
            `${name}.deny has ${found.block}${fileOf(lists.deny[found.list]!)}`,
          );
      }
      if (allow === null || (words !== null && allow.find(words) !== null))
        return null;
      return because(`${name}.allow does not have the address`);
    },
  };
}

function rangesOf(lists: readonly AddressList[]): CidrRanges | null {
  return lists.length === 0
    ? null
    : createCidrRanges(lists.map(({ entries }) => entries));
}

function fileOf({ file }: AddressList): string {
  return file === null ? '' : `, from ${file}`;
}
