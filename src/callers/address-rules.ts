import type { AddressList, AddressLists } from '../common/address-lists.ts';
import { wordsOf } from '../common/ip.ts';
import { CidrRanges } from './cidr-ranges.ts';

export class AddressRules {
  readonly #name: string;
  readonly #lists: AddressLists;
  readonly #allow: CidrRanges | null;
  readonly #deny: CidrRanges | null;

  constructor(name: string, lists: AddressLists) {
    this.#name = name;
    this.#lists = lists;
    this.#allow = rangesOf(lists.allow);
    this.#deny = rangesOf(lists.deny);
  }

  /** The matching list entry; `null`: allowed. An unreadable address is in no list. */
  refusing(address: string): string | null {
    const words = wordsOf(address);
    if (this.#deny !== null && words !== null) {
      const found = this.#deny.find(words);
      if (found !== null) return `${this.#name}.deny has ${found.block}${fileOf(this.#lists.deny[found.list]!)}`;
    }
    if (this.#allow === null || (words !== null && this.#allow.find(words) !== null)) return null;
    return `${this.#name}.allow does not have the address`;
  }
}

function rangesOf(lists: readonly AddressList[]): CidrRanges | null {
  return lists.length === 0 ? null : new CidrRanges(lists.map(({ entries }) => entries));
}

function fileOf({ file }: AddressList): string {
  return file === null ? '' : `, from ${file}`;
}
