import { type Block, blockOf, lastOf, type Words } from '../common/ip.ts';

/** An entry that has an address. */
export interface Found {
  /** The entry, in its shortest form. */
  readonly block: string;
  /** The number of the list that it is of. */
  readonly list: number;
}

/** More lists than settings can have. */
const MOST_LISTS = 1_024;

/**
 * Lists of address blocks, to be searched in some fifteen steps, however long they are. Two blocks are apart, or one lies in the
 * other; so those that lie in none, in order, are all that is needed.
 */
export class Blocks {
  readonly #ipv4: Ipv4Blocks;
  readonly #ipv6: Ipv6Blocks;

  /** `lists` of addresses and blocks, which were checked when they were read. */
  constructor(lists: readonly (readonly string[])[]) {
    if (lists.length > MOST_LISTS) throw new TypeError(`${lists.length} lists of addresses are too many`);
    const ipv4: number[] = [];
    const ipv6: Listed[] = [];
    for (const [list, entries] of lists.entries()) {
      for (const text of entries) {
        const block = blockOf(text);
        if (block === null) throw new TypeError(`${text} is no block of addresses`);
        if (block.first.length === 1) ipv4.push(keyOf(block, list));
        else ipv6.push({ ...block, text, list });
      }
    }
    this.#ipv4 = new Ipv4Blocks(ipv4);
    this.#ipv6 = new Ipv6Blocks(ipv6);
  }

  /** The largest block that has the address; `null`: none has. */
  find(address: Words): Found | null {
    return address.length === 1 ? this.#ipv4.find(address[0]!) : this.#ipv6.find(address);
  }
}

/** Address, length and list in one number of 48 bits: such numbers are sorted fastest. Of equal addresses the largest block is first. */
function keyOf({ first, bits }: Block, list: number): number {
  return (first[0]! * 64 + bits) * MOST_LISTS + list;
}

/** How many addresses of IPv4 a key's block has. */
const sizeOf = (key: number): number => 2 ** (32 - (Math.floor(key / MOST_LISTS) % 64));
const firstOf = (key: number): number => Math.floor(key / (64 * MOST_LISTS));

class Ipv4Blocks {
  readonly #keys: Float64Array;

  constructor(keys: readonly number[]) {
    let next = 0;
    this.#keys = Float64Array.from(keys)
      .sort()
      .filter((key) => {
        if (firstOf(key) < next) return false;
        next = firstOf(key) + sizeOf(key);
        return true;
      });
  }

  find(address: number): Found | null {
    const behind = countUpTo(this.#keys.length, (i) => firstOf(this.#keys[i]!) <= address);
    if (behind === 0) return null;
    const key = this.#keys[behind - 1]!;
    const first = firstOf(key);
    if (address >= first + sizeOf(key)) return null;
    const bytes = [first >>> 24, (first >>> 16) & 255, (first >>> 8) & 255, first & 255].join('.');
    const bits = Math.floor(key / MOST_LISTS) % 64;
    return { block: bits === 32 ? bytes : `${bytes}/${bits}`, list: key % MOST_LISTS };
  }
}

interface Listed extends Block {
  readonly text: string;
  readonly list: number;
}

class Ipv6Blocks {
  readonly #blocks: readonly Listed[];

  constructor(blocks: readonly Listed[]) {
    const outer: Listed[] = [];
    let last: Words | null = null;
    for (const block of [...blocks].sort((a, b) => compare(a.first, b.first) || a.bits - b.bits || a.list - b.list)) {
      if (last !== null && compare(block.first, last) <= 0) continue;
      outer.push(block);
      last = lastOf(block);
    }
    this.#blocks = outer;
  }

  find(address: Words): Found | null {
    const behind = countUpTo(this.#blocks.length, (i) => compare(this.#blocks[i]!.first, address) <= 0);
    const block = this.#blocks[behind - 1];
    if (block === undefined || compare(lastOf(block), address) < 0) return null;
    return { block: block.text, list: block.list };
  }
}

/** How many of `count` things in order begin with `isBefore`. */
function countUpTo(count: number, isBefore: (i: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compare(one: Words, other: Words): number {
  for (let i = 0; i < one.length; i++) {
    const difference = one[i]! - other[i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}
