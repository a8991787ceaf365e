import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { schemaOf } from '../../src/config/schema/schema.ts';
import { formatDuration, formatSize, parseDuration, parseSize } from '../../src/config/units.ts';

describe('a duration', () => {
  test.each([
    ['0ms', 0],
    ['100ms', 100],
    ['5s', 5000],
    ['1m', 60_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['366d', 31_622_400_000],
  ])('%s is %d milliseconds', (text, span) => {
    expect(parseDuration(text)).toBe(span);
  });

  test.each([
    '',
    '5',
    ' 5s',
    '5s\n',
    '05s',
    '-5s',
    '1.5s',
    '5S',
    '1m30s',
    '５s',
    '1000000000000ms',
  ])('is not %j', (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  test('round-trips, for any length', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 366 * 86_400_000 }), (span) => {
        expect(parseDuration(formatDuration(span))).toBe(span);
      }),
    );
  });

  test('is written in the largest unit without a fraction', () => {
    expect([0, 1, 1500, 90_000, 7_200_000, 172_800_000].map(formatDuration)).toEqual([
      '0ms',
      '1ms',
      '1500ms',
      '90s',
      '2h',
      '2d',
    ]);
  });
});

describe('a size', () => {
  test.each([
    [0, 0],
    [1000, 1000],
    ['0', 0],
    ['1000', 1000],
    ['16KiB', 16_384],
    ['1MiB', 1_048_576],
  ])('%s is %d bytes', (size, bytes) => {
    expect(parseSize(size)).toBe(bytes);
  });

  test.each([
    '',
    '1kb',
    '1MB',
    '1 MiB',
    '-1',
    '1TiB',
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 53,
  ])('is not %j', (size) => {
    expect(parseSize(size)).toBeNull();
  });

  test('round-trips, for any number of bytes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 36 }), (bytes) => {
        expect(parseSize(formatSize(bytes))).toBe(bytes);
      }),
    );
  });

  test('is written in the largest unit without a fraction', () => {
    expect([0, 1, 1025, 1024, 3 * 1024 ** 2, 1024 ** 3].map(formatSize)).toEqual([
      '0',
      '1',
      '1025',
      '1KiB',
      '3MiB',
      '1GiB',
    ]);
  });
});

describe('the patterns for editors', () => {
  const near = fc.stringMatching(/^[0-9 .+-]{0,14}[a-zA-Z]{0,4}$/);
  const patternOf = (schema: 'gateway' | 'plans', name: string) => {
    const { pattern } = schemaOf(schema).definitions![name] as { pattern: string };
    return new RegExp(pattern, 'u');
  };

  test.each(['gateway', 'plans'] as const)(
    'accept the same durations, in %s.schema.json',
    (schema) => {
      const pattern = patternOf(schema, 'duration');
      fc.assert(
        fc.property(near, (text) => expect(pattern.test(text)).toBe(parseDuration(text) !== null)),
      );
    },
  );

  test('accept the same sizes', () => {
    const pattern = patternOf('gateway', 'size');
    fc.assert(
      fc.property(near, (text) => expect(pattern.test(text)).toBe(parseSize(text) !== null)),
    );
  });
});
