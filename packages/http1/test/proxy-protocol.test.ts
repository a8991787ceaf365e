import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { binary, field } from '../../../test/support/proxy-protocol.ts';
import { readProxyHeader } from '../src/proxy-protocol.ts';

const text = (line: string) => Buffer.from(line, 'latin1');
const unknown = { address: null, secure: false };

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex');
}

const V4 = bytesOf('c0000201 c6336401 3039 01bb');
const V6 = bytesOf('20010db8000000000000000000000001 20010db8000000000000000000000002 3039 01bb');

describe('a header of version 1', () => {
  test.each([
    ['PROXY TCP4 192.0.2.1 198.51.100.1 12345 443\r\n', { address: '192.0.2.1', secure: false }],
    ['PROXY TCP6 2001:DB8::0:1 ::1 12345 443\r\n', { address: '2001:db8::1', secure: false }],
    ['PROXY TCP6 ::ffff:192.0.2.1 ::1 12345 443\r\n', { address: '192.0.2.1', secure: false }],
    ['PROXY TCP6 ::ffff:c000:201 ::1 12345 443\r\n', { address: '192.0.2.1', secure: false }],
    ['PROXY UNKNOWN\r\n', unknown],
    ['PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n', unknown],
    [
      'PROXY TCP4 255.255.255.255 255.255.255.255 0 65535\r\n',
      { address: '255.255.255.255', secure: false },
    ],
  ])('%j is read', (line, announced) => {
    expect(readProxyHeader(text(line))).toEqual({ announced, length: line.length });
    expect(readProxyHeader(text(`${line}GET / HTTP/1.1\r\n`))).toEqual({
      announced,
      length: line.length,
    });
  });

  test.each([
    ['PROXY TCP4 192.0.2.1 198.51.100.1 12345 443\n', null],
    ['PROXY  TCP4 192.0.2.1 198.51.100.1 12345 443\r\n', 'not in the form'],
    ['PROXY TCP4 192.0.2.1 198.51.100.1 12345 443 \r\n', 'not in the form'],
    ['PROXY TCP4 192.0.2.1 198.51.100.1 12345\r\n', 'not in the form'],
    ['PROXY TCP4 192.0.2.1 198.51.100.1 012345 443\r\n', 'not in the form'],
    ['PROXY TCP4 192.0.2.1 198.51.100.1 123456 443\r\n', 'not in the form'],
    ['PROXY TCP4 192.0.2.1 198.51.100.1 65536 443\r\n', 'a port above 65535'],
    ['PROXY TCP4 ::1 198.51.100.1 12345 443\r\n', 'an address that is not of TCP4'],
    ['PROXY TCP4 192.0.2.256 198.51.100.1 12345 443\r\n', 'an address that is not of TCP4'],
    ['PROXY TCP4 192.0.02.1 198.51.100.1 12345 443\r\n', 'an address that is not of TCP4'],
    ['PROXY TCP6 192.0.2.1 ::1 12345 443\r\n', 'an address that is not of TCP6'],
    ['PROXY UDP4 192.0.2.1 198.51.100.1 12345 443\r\n', 'not in the form'],
    ['PROXY UNKNOWNS\r\n', 'not in the form'],
    ['PROXY tcp4 192.0.2.1 198.51.100.1 12345 443\r\n', 'not in the form'],
    ['proxy TCP4 192.0.2.1 198.51.100.1 12345 443\r\n', 'header is missing'],
    [`PROXY UNKNOWN ${'x'.repeat(92)}\r\n`, 'longer than 107 bytes'],
    [`PROXY UNKNOWN ${'x'.repeat(200)}`, 'longer than 107 bytes'],
    ['GET / HTTP/1.1\r\n', 'header is missing'],
    ['\x16\x03\x01', 'header is missing'],
    [' PROXY UNKNOWN\r\n', 'header is missing'],
  ])('%j is not', (line, why) => {
    const read = readProxyHeader(text(line));
    if (why === null) expect(read).toBeNull();
    else expect(read).toContain(why);
  });

  test('has 107 bytes at most, and may have all of them', () => {
    const line = `PROXY UNKNOWN ${'x'.repeat(91)}\r\n`;
    expect(readProxyHeader(text(line))).toEqual({ announced: unknown, length: 107 });
  });
});

describe('a header of version 2', () => {
  test.each([
    ['TCP over IPv4', binary(0x21, 0x11, V4), { address: '192.0.2.1', secure: false }],
    ['TCP over IPv6', binary(0x21, 0x21, V6), { address: '2001:db8::1', secure: false }],
    ['a Unix socket', binary(0x21, 0x31, Buffer.alloc(216, 0x61)), unknown],
    ['nothing known', binary(0x21, 0x00, Buffer.alloc(0)), unknown],
    ['the balancer itself', binary(0x20, 0x00, Buffer.alloc(0)), unknown],
    ['the balancer itself, with what is to be ignored', binary(0x20, 0x11, V4), unknown],
    [
      'unknown fields',
      binary(0x21, 0x11, V4, field(0xee, 'abc'), field(0x04, '')),
      { address: '192.0.2.1', secure: false },
    ],
    [
      'TLS with the caller',
      binary(0x21, 0x11, V4, field(0x20, '\x01\0\0\0\0')),
      { address: '192.0.2.1', secure: true },
    ],
    [
      'no TLS with the caller',
      binary(0x21, 0x11, V4, field(0x20, '\x00\0\0\0\0')),
      { address: '192.0.2.1', secure: false },
    ],
    [
      'a good checksum',
      binary(0x21, 0x11, V4, field(0x03, '\0\0\0\0'), 'checksum'),
      { address: '192.0.2.1', secure: false },
    ],
  ])('with %s is read', (_, bytes, announced) => {
    expect(readProxyHeader(bytes)).toEqual({ announced, length: bytes.length });
    expect(readProxyHeader(Buffer.concat([bytes, text('GET /')]))).toEqual({
      announced,
      length: bytes.length,
    });
  });

  test.each([
    ['version 1', binary(0x11, 0x11, V4), 'version 1'],
    ['an unknown command', binary(0x22, 0x11, V4), 'the unknown command 2'],
    ['an unknown family', binary(0x21, 0x41, V4), 'the unknown family and transport 65'],
    ['an unknown transport', binary(0x21, 0x13, V4), 'the unknown family and transport 19'],
    ['half of its addresses', binary(0x21, 0x11, V4.subarray(0, 11)), 'shorter than its addresses'],
    [
      'a field without its length',
      binary(0x21, 0x11, V4, Buffer.from([1, 0])),
      'ends inside a field',
    ],
    [
      'a field that is longer than it',
      binary(0x21, 0x11, V4, Buffer.from([1, 0, 9, 0])),
      'ends inside a field',
    ],
    [
      'a short field about TLS',
      binary(0x21, 0x11, V4, field(0x20, '\x01')),
      'field about TLS is too short',
    ],
    [
      'a checksum that is wrong',
      binary(0x21, 0x11, V4, field(0x03, 'abcd')),
      'its checksum is wrong',
    ],
    [
      'a checksum of another size',
      binary(0x21, 0x11, V4, field(0x03, 'abc')),
      'its checksum has not 4 bytes',
    ],
    [
      'more than it may have',
      binary(0x21, 0x11, V4, field(0x04, 'x'.repeat(4_096))),
      'longer than 4112 bytes',
    ],
  ])('with %s is not', (_, bytes, why) => {
    expect(readProxyHeader(bytes)).toContain(why);
  });
});

test('a header in parts waits for the rest, however it is cut, and then says the same', () => {
  const headers = [
    text('PROXY TCP4 192.0.2.1 198.51.100.1 12345 443\r\n'),
    binary(0x21, 0x21, V6, field(0x20, '\x01\0\0\0\0')),
  ];
  for (const whole of headers) {
    for (let at = 0; at < whole.length; at++)
      expect(readProxyHeader(whole.subarray(0, at))).toBeNull();
  }
});

test('no bytes make it fail, or read more than there is', () => {
  const begin = fc.constantFrom(
    Buffer.alloc(0),
    text('PROXY '),
    binary(0x21, 0x11, V4).subarray(0, 12),
  );
  fc.assert(
    fc.property(begin, fc.uint8Array({ maxLength: 300 }), (start, rest) => {
      const bytes = Buffer.concat([start, rest]);
      const read = readProxyHeader(bytes);
      if (read !== null && typeof read !== 'string')
        expect(read.length).toBeLessThanOrEqual(bytes.length);
    }),
    { numRuns: 2_000 },
  );
});

test('any two addresses of IPv4 and IPv6 are read as they were sent', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(65_535), (address, port) => {
      const family = address.includes(':') ? 'TCP6' : 'TCP4';
      const line = `PROXY ${family} ${address} ${address} ${port} ${port}\r\n`;
      // An IPv6 address with unnecessary zeros makes the line longer than the protocol allows.
      fc.pre(line.length <= 107);
      const read = readProxyHeader(text(line));
      const spelt =
        family === 'TCP6' ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
      // An IPv4 address.
      fc.pre(!spelt.startsWith('::ffff:'));
      expect(read).toMatchObject({ announced: { address: spelt } });
    }),
  );
});
