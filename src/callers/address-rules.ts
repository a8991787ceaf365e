import type { AddressList, AddressLists } from '../common/address-lists.ts';
import { wordsOf } from '../common/ip.ts';
import { Blocks } from './blocks.ts';

/** Allows or refuses requests by client address. */
export class AddressRules {
  readonly #name: string;
  readonly #lists: AddressLists;
  readonly #allow: Blocks | null;
  readonly #deny: Blocks | null;

  /** `name`: the setting that holds the lists, for messages to operators. */
  constructor(name: string, lists: AddressLists) {
    this.#name = name;
    this.#lists = lists;
    this.#allow = blocksOf(lists.allow);
    this.#deny = blocksOf(lists.deny);
  }

  /**
   * The list entry that refuses the address, for operators; `null` if it is allowed. An unreadable address is in no
   * list.
   */
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

function blocksOf(lists: readonly AddressList[]): Blocks | null {
  return lists.length === 0 ? null : new Blocks(lists.map(({ entries }) => entries));
}

function fileOf({ file }: AddressList): string {
  return file === null ? '' : `, from ${file}`;
}
