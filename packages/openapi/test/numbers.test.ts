import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { exact, isInteger, isNumber, multipleOf } from '../src/numbers.ts';

test('isNumber takes what JSON takes', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'0123456789.eE+-'), maxLength: 8 }),
      (text) => {
        let json = true;
        try {
          JSON.parse(text);
        } catch {
          json = false;
        }
        expect(isNumber(text)).toBe(json);
      },
    ),
    { numRuns: 3000 },
  );
});

test.each(['01', '+1', ' 1', '1 ', '1.0', '1e2', '', '-', '--1', '٣', '0x1'])(
  'isInteger refuses %j',
  (text) => {
    expect(isInteger(text)).toBe(false);
  },
);

test('exact gives every integer one form, however it is written', () => {
  fc.assert(
    fc.property(fc.bigInt(-(2n ** 70n), 2n ** 70n), fc.nat(5), (integer, zeros) => {
      const plain = exact(String(integer));
      expect(typeof plain).toBe(Number.isSafeInteger(Number(integer)) ? 'number' : 'bigint');
      expect(exact(`${integer}.${'0'.repeat(zeros + 1)}`)).toBe(plain);
      expect(exact(`${integer}${'0'.repeat(zeros)}e-${zeros}`)).toBe(plain);
    }),
  );
});

test.each([
  [0.07, 0.01, true],
  [0.3, 0.1, true],
  [0.35, 0.1, false],
  [1e20, 3, false],
  [4.2, 2.1, true],
  [1e-7, 1e-8, true],
  [0, 0.1, true],
  [-0.5, 0.25, true],
  [9007199254740993n, 3, true],
  [9007199254740993n, 2, false],
  [5, 9007199254740993n, false],
  [19.99, 0.01, true],
  [exact('1e308')!, 0.01, true],
  [exact('1e308')!, 0.03, false],
  [1e-308, 0.01, false],
  [10000000000000.25, 0.05, true],
  [10000000000000.25, 0.1, false],
])('multipleOf: of %p and %p it is %p', (value, step, expected) => {
  expect(multipleOf(step)(value)).toBe(expected);
});

function scaled(number: number | bigint): [integer: bigint, exponent: number] {
  const [digits = '', power = '0'] = String(number).split('e');
  const places = (digits.split('.')[1] ?? '').length;
  return [BigInt(digits.replace('.', '')), Number(power) - places];
}

/** The definition: both numbers as integers of the same unit. */
function isMultiple(value: number | bigint, step: number | bigint): boolean {
  const [a, b] = [scaled(value), scaled(step)];
  const unit = Math.min(a[1], b[1]);
  const [dividend, divisor] = [a, b].map(
    ([integer, exponent]) => integer * 10n ** BigInt(exponent - unit),
  );
  return dividend! % divisor! === 0n;
}

const decimals = fc
  .tuple(
    fc.bigInt(1n, 10n ** 17n),
    fc.constantFrom(1n, 10n ** 8n, 10n ** 15n),
    fc.integer({ min: -330, max: 300 }),
    fc.nat(40),
  )
  .map(([digits, less, far, near]) => [digits / less, far % 2 === 0 ? -near : far] as const)
  .filter(([digits]) => digits > 0n);

test('multipleOf is what integers of one unit say, for every pair of numbers', () => {
  let multiples = 0;
  let all = 0;
  fc.assert(
    fc.property(
      decimals,
      decimals,
      fc.bigInt(-(10n ** 6n), 10n ** 6n),
      fc.boolean(),
      (a, b, times, same) => {
        const step = exact(`${b[0]}e${b[1]}`);
        const value = same ? exact(`${b[0] * times}e${b[1]}`) : exact(`${a[0]}e${a[1]}`);
        fc.pre(step !== undefined && value !== undefined && step > 0);
        const expected = isMultiple(value, step);
        expect([value, step, multipleOf(step)(value)]).toEqual([value, step, expected]);
        all++;
        if (expected) multiples++;
      },
    ),
    { numRuns: 5000 },
  );
  expect(multiples / all).toBeGreaterThan(0.2);
  expect(multiples / all).toBeLessThan(0.8);
});
