import type { AddressList, AddressLists } from '../address-lists.ts';
import type { Code } from '../errors/catalogue.ts';
import { cachedRefusals, type Refusal } from '../errors/refusals.ts';
import { wordsOf } from '../ip.ts';
import { CidrRanges } from './cidr-ranges.ts';

export class AddressRules {
  readonly #because: (reason: string) => Refusal;
  readonly #name: string;
  readonly #lists: AddressLists;
  readonly #allow: CidrRanges | null;
  readonly #deny: CidrRanges | null;

  constructor(name: string, lists: AddressLists, code: Code) {
    this.#because = cachedRefusals(code);
    this.#name = name;
    this.#lists = lists;
    this.#allow = rangesOf(lists.allow);
    this.#deny = rangesOf(lists.deny);
  }

  /** `null`: allowed. An unreadable address is in no list. */
  refuse(address: string): Refusal | null {
    const words = wordsOf(address);
    if (this.#deny !== null && words !== null) {
      const found = this.#deny.find(words);
      if (found !== null)
        return this.#because(
          `${this.#name}.deny has ${found.block}${fileOf(this.#lists.deny[found.list]!)}`,
        );
    }
    if (
      this.#allow === null ||
      (words !== null && this.#allow.find(words) !== null)
    )
      return null;
    return this.#because(`${this.#name}.allow does not have the address`);
  }
}

function rangesOf(lists: readonly AddressList[]): CidrRanges | null {
  return lists.length === 0
    ? null
    : new CidrRanges(lists.map(({ entries }) => entries));
}

function fileOf({ file }: AddressList): string {
  return file === null ? '' : `, from ${file}`;
}
