import {
  type CidrRange,
  lastAddress,
  parseCidr,
  textOfIPv4,
  type Words,
} from '../ip.ts';

interface MatchedRange {
  readonly block: string;
  readonly list: number;
}

const MAX_LISTS = 1_024;

/** Blocks are either disjoint or nested, so binary search over the outermost blocks is enough. */
export class CidrRanges {
  readonly #ipv4: Ipv4Ranges;
  readonly #ipv6: Ipv6Ranges;

  constructor(lists: readonly (readonly string[])[]) {
    if (lists.length > MAX_LISTS)
      throw new TypeError(`${lists.length} lists of addresses are too many`);
    const ipv4: number[] = [];
    const ipv6: RangeEntry[] = [];
    for (const [list, entries] of lists.entries()) {
      for (const text of entries) {
        const block = parseCidr(text);
        if (block === null) throw new TypeError(`${text} is not a CIDR block`);
        if (block.first.length === 1) ipv4.push(keyOf(block, list));
        else ipv6.push({ ...block, text, list });
      }
    }
    this.#ipv4 = new Ipv4Ranges(ipv4);
    this.#ipv6 = new Ipv6Ranges(ipv6);
  }

  find(address: Words): MatchedRange | null {
    return address.length === 1
      ? this.#ipv4.find(address[0]!)
      : this.#ipv6.find(address);
  }
}

/**
 * Packs address, length and list into one 48-bit number, because numbers sort fastest. For equal
 * addresses the largest block comes first.
 */
function keyOf({ first, bits }: CidrRange, list: number): number {
  return (first[0]! * 64 + bits) * MAX_LISTS + list;
}

const sizeOf = (key: number): number =>
  2 ** (32 - (Math.floor(key / MAX_LISTS) % 64));
const firstOf = (key: number): number => Math.floor(key / (64 * MAX_LISTS));

class Ipv4Ranges {
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

  find(address: number): MatchedRange | null {
    const behind = countUpTo(
      this.#keys.length,
      (i) => firstOf(this.#keys[i]!) <= address,
    );
    if (behind === 0) return null;
    const key = this.#keys[behind - 1]!;
    const first = firstOf(key);
    if (address >= first + sizeOf(key)) return null;
    const text = textOfIPv4(first);
    const bits = Math.floor(key / MAX_LISTS) % 64;
    return {
      block: bits === 32 ? text : `${text}/${bits}`,
      list: key % MAX_LISTS,
    };
  }
}

interface RangeEntry extends CidrRange {
  readonly text: string;
  readonly list: number;
}

class Ipv6Ranges {
  readonly #blocks: readonly RangeEntry[];

  constructor(ranges: readonly RangeEntry[]) {
    const outer: RangeEntry[] = [];
    let last: Words | null = null;
    for (const block of [...ranges].sort(
      (a, b) => compare(a.first, b.first) || a.bits - b.bits || a.list - b.list,
    )) {
      if (last !== null && compare(block.first, last) <= 0) continue;
      outer.push(block);
      last = lastAddress(block);
    }
    this.#blocks = outer;
  }

  find(address: Words): MatchedRange | null {
    const behind = countUpTo(
      this.#blocks.length,
      (i) => compare(this.#blocks[i]!.first, address) <= 0,
    );
    const block = this.#blocks[behind - 1];
    if (block === undefined || compare(lastAddress(block), address) < 0)
      return null;
    return { block: block.text, list: block.list };
  }
}

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
