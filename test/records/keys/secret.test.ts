import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hashSecret, isWellFormed, makeSecret } from '../../../src/records/keys/secret.ts';

describe('a secret', () => {
  test('has the documented form and a fitting checksum', () => {
    const secret = makeSecret('live');
    expect(secret).toMatch(/^sg_live_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/);
    expect(isWellFormed(secret)).toBe(true);
  });

  test('is never made twice', () => {
    const secrets = new Set(Array.from({ length: 2_000 }, () => makeSecret('live')));
    expect(secrets.size).toBe(2_000);
  });

  test('is detected in every copy with one wrong character', () => {
    const secret = makeSecret('live');
    fc.assert(
      fc.property(
        fc.nat(secret.length - 1),
        fc.string({ minLength: 1, maxLength: 1 }),
        (at, character) => {
          fc.pre(secret[at] !== character);
          expect(isWellFormed(secret.slice(0, at) + character + secret.slice(at + 1))).toBe(false);
        },
      ),
    );
  });

  test.each(['', 'sg_', 'sg_live_', 'x'.repeat(100_000), 'sg_live_\n', 'sg_LIVE_', '__proto__'])(
    'is not %#',
    (text) => {
      expect(isWellFormed(text)).toBe(false);
    },
  );

  test('accepts only lower case for its environment', () => {
    for (const env of ['', 'Live', 'a_b', 'x'.repeat(13)])
      expect(() => makeSecret(env)).toThrow(RangeError);
  });

  test('is kept as 43 characters of SHA-256', () => {
    expect(hashSecret('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0');
  });
});
