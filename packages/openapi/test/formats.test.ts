import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { STRING_FORMATS } from '../src/formats.ts';

const cases: Record<string, { good: string[]; bad: string[] }> = {
  'date-time': {
    good: [
      '2026-12-01T09:00:00Z',
      '2024-02-29T00:00:00.123456789+05:30',
      '2000-02-29t23:59:59z',
      '1998-12-31T23:59:60Z',
      '1998-12-31T15:59:60.5-08:00',
      '0000-01-01T00:00:00-23:59',
    ],
    bad: [
      '2026-02-30T00:00:00Z',
      '2023-02-29T00:00:00Z',
      '1900-02-29T00:00:00Z',
      '2026-04-31T00:00:00Z',
      '2026-13-01T00:00:00Z',
      '2026-00-10T00:00:00Z',
      '2026-01-00T00:00:00Z',
      '2026-01-01T24:00:00Z',
      '2026-01-01T12:60:00Z',
      '2026-01-01T12:00:60Z',
      '1998-12-31T22:59:60Z',
      '2026-01-01T12:00:00',
      '2026-01-01 12:00:00Z',
      '2026-01-01T12:00:00+24:00',
      '2026-01-01T12:00:00+0100',
      '2026-01-01T12:00:00.Z',
      '2026-01-01',
      '٢026-01-01T12:00:00Z',
      '',
    ],
  },
  date: {
    good: ['2024-02-29', '2026-12-31'],
    bad: ['2026-02-29', '2026-1-1', '2026-01-01T00:00:00Z', '20260101'],
  },
  time: {
    good: ['12:00:00Z', '23:59:60Z', '00:00:00.5+01:00'],
    bad: ['12:00:00', '25:00:00Z', '12:00Z'],
  },
  uuid: {
    good: ['123e4567-e89b-12d3-a456-426614174000', '123E4567-E89B-12D3-A456-426614174000'],
    bad: [
      '123e4567e89b12d3a456426614174000',
      '123e4567-e89b-12d3-a456-42661417400g',
      '{123e4567-e89b-12d3-a456-426614174000}',
    ],
  },
  email: {
    good: [
      'a@b',
      'first.last+tag@sub.example.org',
      "o'hara@example.com",
      'a@[127.0.0.1]',
      'a@[IPv6:::1]',
      '"john doe"@example.com',
      '"a@b"@c',
      '"\\""@c',
      '""@c',
    ],
    bad: [
      '"a@b',
      '"a"b@c',
      '"a"b"@c',
      '"\\"@c',
      '"ü"@c',
      '"\n"@c',
      `"${'a'.repeat(63)}"@b`,
      '',
      'a',
      '@b',
      'a@',
      'a b@c',
      '.a@b',
      'a..b@c',
      'a@-b.c',
      'a@b_c',
      `${'a'.repeat(65)}@b`,
      'a@b@c',
      'a@[::1]',
    ],
  },
  uri: {
    good: [
      'https://example.org/a?b=c#d',
      'urn:isbn:123',
      'mailto:a@b.c',
      'http://[::1]:80/',
      'a:',
      'file:///x',
      'http://u:p@h/%C3%A9',
    ],
    bad: [
      '',
      'example.org',
      '/a',
      '//a/b',
      'http://a b/',
      'http://a/ü',
      'http://a/%zz',
      'http://[::x]/',
      'http://a:b/',
      '1a:b',
      'a:{b}',
    ],
  },
  hostname: {
    good: ['localhost', 'a.b-c.d', '1.2.3', 'a'.repeat(63)],
    bad: ['', '-a', 'a-', 'a..b', 'a.', 'a_b', 'ü', 'a'.repeat(64), `${'a.'.repeat(127)}a`],
  },
  ipv4: {
    good: ['127.0.0.1', '255.255.255.255'],
    bad: ['256.0.0.1', '1.2.3', '01.2.3.4', '1.2.3.4/8', '::1'],
  },
  ipv6: {
    good: ['::1', '2001:db8::8:800:200c:417a', '::ffff:1.2.3.4'],
    bad: ['1.2.3.4', ':::', '::1%eth0', '[::1]', '12345::'],
  },
  byte: {
    good: ['', 'aGk=', 'aA==', 'abcd', '+/+/'],
    bad: ['aGk', 'a===', 'a-_b', 'aGk=\n', '=aGk'],
  },
  binary: { good: ['', '\u0000\u0001'], bad: [] },
  password: { good: ['', 'anything'], bad: [] },
};

test('every format has cases', () => {
  expect(Object.keys(cases).sort()).toEqual(Object.keys(STRING_FORMATS).sort());
});

describe.each(Object.entries(cases))('%s', (name, { good, bad }) => {
  const format = STRING_FORMATS[name]!;

  test('takes what it should', () => {
    expect(good.filter((text) => !format(text))).toEqual([]);
  });

  test('refuses what it should', () => {
    expect(bad.filter((text) => format(text))).toEqual([]);
  });
});

test('date-time takes every moment there is', () => {
  fc.assert(
    fc.property(
      fc.date({ noInvalidDate: true, min: new Date('0000-01-01'), max: new Date('9999-12-31') }),
      (date) => {
        expect(STRING_FORMATS['date-time']!(date.toISOString())).toBe(true);
      },
    ),
  );
});

test('date knows the calendar', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9999 }),
      fc.integer({ min: 0, max: 13 }),
      fc.integer({ min: 0, max: 32 }),
      (y, m, d) => {
        const digits = (n: number, width: number) => String(n).padStart(width, '0');
        const text = `${digits(y, 4)}-${digits(m, 2)}-${digits(d, 2)}`;
        const date = new Date(0);
        date.setUTCFullYear(y, m - 1, d);
        const exists =
          m >= 1 &&
          date.getUTCFullYear() === y &&
          date.getUTCMonth() === m - 1 &&
          date.getUTCDate() === d;
        expect([text, STRING_FORMATS.date!(text)]).toEqual([text, exists]);
      },
    ),
    { numRuns: 2000 },
  );
});
