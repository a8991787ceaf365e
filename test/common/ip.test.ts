import { BlockList, isIP } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { canonicalAddress, lastAddress, parseCidr, wordsOf } from '../../src/common/ip.ts';

const nearly = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.stringMatching(/^[0-9a-fA-F:.]{0,24}$/),
  fc
    .array(
      fc.constantFrom(
        '::',
        ':',
        '0',
        '1',
        'ffff',
        'FFFF',
        '01',
        '00000',
        '1.2.3.4',
        '256',
        '.',
        'g',
        '%e',
      ),
      {
        maxLength: 12,
      },
    )
    .map((parts) => parts.join('')),
);

describe('an address', () => {
  test('is valid if Node accepts it, without its zone', () => {
    fc.assert(
      fc.property(nearly, (text) => {
        const plain = text.replace(/%.*$/s, '');
        expect([plain, wordsOf(text) !== null]).toEqual([plain, isIP(plain) !== 0]);
      }),
      { numRuns: 3_000 },
    );
  });

  test.each<[string, readonly number[] | null]>([
    ['192.0.2.7', [0xc0000207]],
    ['::', [0, 0, 0, 0]],
    ['2001:db8::7', [0x20010db8, 0, 0, 7]],
    ['fe80::1%eth0', [0xfe800000, 0, 0, 1]],
    ['::ffff:192.0.2.7', [0xc0000207]],
    ['64:ff9b::192.0.2.7', [0x0064ff9b, 0, 0, 0xc0000207]],
    ['', null],
    ['[::1]', null],
  ])('%s is read as %j', (text, words) => expect(wordsOf(text)).toEqual(words));
});

describe('the canonical text of an address', () => {
  test('is the same for all spellings, and for IPv6 that of the URL standard', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.ipV6(), fc.ipV4()),
        fc.constantFrom('', '%eth0', '%1'),
        (text, zone) => {
          const ipv6 = text.includes(':');
          const canonical = canonicalAddress(text);
          expect(canonicalAddress(canonical)).toBe(canonical);
          expect(canonicalAddress(text.toUpperCase() + (ipv6 ? zone : ''))).toBe(canonical);
          expect(wordsOf(canonical)).toEqual(wordsOf(text));
          if (canonical.includes(':'))
            expect(`[${canonical}]`).toBe(new URL(`http://[${text}]`).hostname);
        },
      ),
    );
  });

  test.each([
    ['2001:db8:0:1:0:0:1:0', '2001:db8:0:1::1:0'],
    ['1:0:0:2:0:0:3:4', '1::2:0:0:3:4'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['::FFFF:192.0.2.7', '192.0.2.7'],
    ['2001:db8::nonsense', '2001:db8::nonsense'],
  ])('of %s is %s', (text, canonical) => expect(canonicalAddress(text)).toBe(canonical));
});

describe('a block', () => {
  test.each<[string, readonly number[], readonly number[]]>([
    ['10.0.0.0/8', [0x0a000000], [0x0affffff]],
    ['0.0.0.0/0', [0], [0xffffffff]],
    ['192.0.2.7', [0xc0000207], [0xc0000207]],
    ['::/0', [0, 0, 0, 0], [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff]],
    ['2001:db8::/33', [0x20010db8, 0, 0, 0], [0x20010db8, 0x7fffffff, 0xffffffff, 0xffffffff]],
    ['::ffff:10.0.0.0/104', [0x0a000000], [0x0affffff]],
  ])('%s has its first and its last address', (text, first, last) => {
    expect(parseCidr(text)!.first).toEqual(first);
    expect(lastAddress(parseCidr(text)!)).toEqual(last);
  });

  test.each([
    '10.0.0.1/8',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '2001:db8::1/64',
    '::ffff:10.0.0.0/8',
    'fe80::1%eth0',
    ' 10.0.0.0/8',
    '10.0.0.0/1e1',
    'proxy.example/8',
  ])('%s is not a valid block', (text) => expect(parseCidr(text)).toBeNull());

  test('contains the same addresses as in Node', () => {
    const blocks = fc.oneof(
      fc
        .tuple(fc.ipV4(), fc.nat(32))
        .map(([address, bits]) => ({ address, bits, family: 'ipv4' as const })),
      fc
        .tuple(fc.ipV6(), fc.nat(128))
        .map(([address, bits]) => ({ address, bits, family: 'ipv6' as const })),
    );
    fc.assert(
      fc.property(
        blocks,
        fc.array(fc.oneof(fc.ipV4(), fc.ipV6())),
        ({ address, bits, family }, others) => {
          const block = parseCidr(`${address}/${bits}`);
          // Node accepts any address for the block around it.
          if (block === null || block.first.length !== (family === 'ipv4' ? 1 : 4)) return;
          const list = new BlockList();
          list.addSubnet(address, bits, family);
          const last = lastAddress(block);
          for (const other of [address, ...others]) {
            const words = wordsOf(other)!;
            const isIn =
              words.length === last.length &&
              compare(words, block.first) >= 0 &&
              compare(words, last) <= 0;
            if (words.length === last.length) expect(isIn).toBe(list.check(other, family));
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

function compare(one: readonly number[], other: readonly number[]): number {
  const i = one.findIndex((word, i) => word !== other[i]);
  return i === -1 ? 0 : one[i]! - other[i]!;
}
