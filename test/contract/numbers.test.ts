import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { exact, isInteger, isMultiple, isNumber } from '../../src/contract/numbers.ts';

test('isNumber takes what JSON takes', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.eE+-'), maxLength: 8 }), (text) => {
      let json = true;
      try {
        JSON.parse(text);
      } catch {
        json = false;
      }
      expect(isNumber(text)).toBe(json);
    }),
    { numRuns: 3000 },
  );
});

test.each(['01', '+1', ' 1', '1 ', '1.0', '1e2', '', '-', '--1', '٣', '0x1'])('isInteger refuses %j', (text) => {
  expect(isInteger(text)).toBe(false);
});

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
])('isMultiple(%p, %p) is %p', (value, step, expected) => {
  expect(isMultiple(value, step)).toBe(expected);
});
