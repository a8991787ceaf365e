import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createAddressRules } from '../../../src/common/clients/address-rules.ts';
import { createCidrRanges } from '../../../src/common/clients/cidr-ranges.ts';
import { lastAddress, parseCidr, type Words, wordsOf } from '../../../src/common/ip.ts';

const ipv4 = fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3)).map(([a, b, c]) => `10.${a}.${b}.${c}`);
const ipv6 = fc
  .tuple(fc.nat(3), fc.nat(3), fc.nat(3))
  .map(([a, b, c]) => `2001:db8:${a}::${b}:${c}`);
const addresses = fc.oneof(ipv4, ipv6);
const entries = fc.oneof(
  addresses,
  fc.tuple(ipv4, fc.integer({ min: 6, max: 32 })).map(([address, bits]) => around(address, bits)),
  fc.tuple(ipv6, fc.integer({ min: 30, max: 128 })).map(([address, bits]) => around(address, bits)),
);

function around(address: string, bits: number): string {
  const words = wordsOf(address)!.map((word, i) => {
    const kept = Math.min(Math.max(bits - 32 * i, 0), 32);
    return kept === 0 ? 0 : (word >>> (32 - kept)) * 2 ** (32 - kept);
  });
  return `${textOf(words)}/${bits}`;
}

function textOf(words: Words): string {
  if (words.length === 4)
    return words
      .flatMap((word) => [(word >>> 16).toString(16), (word & 0xffff).toString(16)])
      .join(':');
  return [24, 16, 8, 0].map((shift) => (words[0]! >>> shift) & 255).join('.');
}

function has(entry: string, address: string): boolean {
  const block = parseCidr(entry)!;
  const [words, last] = [wordsOf(address)!, lastAddress(block)];
  const asNumber = (parts: Words) =>
    parts.reduce((sum, word) => sum * 2n ** 32n + BigInt(word), 0n);
  return (
    words.length === last.length &&
    asNumber(words) >= asNumber(block.first) &&
    asNumber(words) <= asNumber(last)
  );
}

describe('lists of blocks', () => {
  test('find the same as a linear search, with a matching entry of the list', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(entries), { maxLength: 3 }),
        fc.array(addresses, { minLength: 1 }),
        (lists, requested) => {
          const blocks = createCidrRanges(lists);
          for (const address of requested) {
            const found = blocks.find(wordsOf(address)!);
            expect(found !== null).toBe(lists.flat().some((entry) => has(entry, address)));
            if (found === null) continue;
            expect(has(found.block, address)).toBe(true);
            expect(lists[found.list]!.map((entry) => JSON.stringify(parseCidr(entry)))).toContain(
              JSON.stringify(parseCidr(found.block)),
            );
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('match the first and the last address of all', () => {
    const blocks = createCidrRanges([
      ['0.0.0.0', '255.255.255.255', '::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ]);
    for (const address of [
      '0.0.0.0',
      '255.255.255.255',
      '::',
      'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    ])
      expect(blocks.find(wordsOf(address)!)).toEqual({ block: address, list: 0 });
    for (const address of ['0.0.0.1', '255.255.255.254', '::1', 'fffe::'])
      expect(blocks.find(wordsOf(address)!)).toBeNull();
  });
});

describe('rules', () => {
  const own = (...entries: string[]) => [{ file: null, entries }];
  const rules = (allow: string[], deny: string[]) =>
    createAddressRules(
      'addresses',
      { allow: allow.length > 0 ? own(...allow) : [], deny: deny.length > 0 ? own(...deny) : [] },
      'address_denied',
    );

  test.each([
    [[], ['10.0.0.0/8'], '10.1.2.3', 'addresses.deny has 10.0.0.0/8'],
    [[], ['10.0.0.0/8'], '11.1.2.3', null],
    [['10.0.0.0/8'], [], '10.1.2.3', null],
    [['10.0.0.0/8'], [], '11.1.2.3', 'addresses.allow does not have the address'],
    [['10.0.0.0/8'], ['10.1.0.0/16'], '10.1.2.3', 'addresses.deny has 10.1.0.0/16'],
    [['10.0.0.0/8'], ['10.1.0.0/16'], '10.2.2.3', null],
    [['0.0.0.0/0'], [], '2001:db8::1', 'addresses.allow does not have the address'],
    [['::/0'], [], '192.0.2.1', 'addresses.allow does not have the address'],
    [[], ['2001:db8::/32'], '2001:db8:1::1', 'addresses.deny has 2001:db8::/32'],
    [[], ['fe80::/10'], 'fe80::1%eth0', 'addresses.deny has fe80::/10'],
    [[], ['192.0.2.1'], '::ffff:192.0.2.1', 'addresses.deny has 192.0.2.1'],
    [[], ['0.0.0.0/0', '::/0'], 'unknown', null],
    [['0.0.0.0/0', '::/0'], [], 'unknown', 'addresses.allow does not have the address'],
  ])('allow %j and deny %j return for %s: %s', (allow, deny, address, said) => {
    expect(rules(allow, deny).refuse(address)?.reason ?? null).toBe(said);
  });

  test('name the file of an entry', () => {
    const deny = [...own('192.0.2.1'), { file: 'blocked.txt', entries: ['198.51.100.0/24'] }];
    const rules = createAddressRules('addresses', { allow: [], deny }, 'address_denied');
    expect(rules.refuse('198.51.100.9')?.reason).toBe(
      'addresses.deny has 198.51.100.0/24, from blocked.txt',
    );
    expect(rules.refuse('192.0.2.1')?.reason).toBe('addresses.deny has 192.0.2.1');
  });
});
