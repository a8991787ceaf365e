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

export type CidrRanges = ReturnType<typeof createCidrRanges>;

/** Blocks are either disjoint or nested, so binary search over the outermost blocks is enough. */
export function createCidrRanges(lists: readonly (readonly string[])[]) {
  if (lists.length > MAX_LISTS)
    throw new TypeError(`${lists.length} lists of addresses are too many`);
  const narrow: number[] = [];
  const wide: RangeEntry[] = [];
  for (const [list, entries] of lists.entries()) {
    for (const text of entries) {
      const block = parseCidr(text);
      if (block === null) throw new TypeError(`${text} is not a CIDR block`);
      if (block.first.length === 1) narrow.push(keyOf(block, list));
      else wide.push({ ...block, text, list });
    }
  }
  const [ipv4, ipv6] = [ipv4Ranges(narrow), ipv6Ranges(wide)];

  return {
    find: (address: Words): MatchedRange | null =>
      address.length === 1 ? ipv4(address[0]!) : ipv6(address),
  };
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

type Find<Address> = (address: Address) => MatchedRange | null;

function ipv4Ranges(all: readonly number[]): Find<number> {
  let next = 0;
  const keys = Float64Array.from(all)
    .sort()
    .filter((key) => {
      if (firstOf(key) < next) return false;
      next = firstOf(key) + sizeOf(key);
      return true;
    });
  return (address) => {
    const behind = countUpTo(keys.length, (i) => firstOf(keys[i]!) <= address);
    if (behind === 0) return null;
    const key = keys[behind - 1]!;
    const first = firstOf(key);
    if (address >= first + sizeOf(key)) return null;
    return {
      list: key % MAX_LISTS,
      // Made only for a refusal: most callers ask whether there is a range.
      get block() {
        const bits = Math.floor(key / MAX_LISTS) % 64;
        const text = textOfIPv4(first);
        return bits === 32 ? text : `${text}/${bits}`;
      },
    };
  };
}

interface RangeEntry extends CidrRange {
  readonly text: string;
  readonly list: number;
}

function ipv6Ranges(ranges: readonly RangeEntry[]): Find<Words> {
  const outer: RangeEntry[] = [];
  let last: Words | null = null;
  for (const block of ranges.toSorted(
    (a, b) => compare(a.first, b.first) || a.bits - b.bits || a.list - b.list,
  )) {
    if (last !== null && compare(block.first, last) <= 0) continue;
    outer.push(block);
    last = lastAddress(block);
  }
  return (address) => {
    const behind = countUpTo(
      outer.length,
      (i) => compare(outer[i]!.first, address) <= 0,
    );
    const block = outer[behind - 1];
    if (block === undefined || compare(lastAddress(block), address) < 0)
      return null;
    return { block: block.text, list: block.list };
  };
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
