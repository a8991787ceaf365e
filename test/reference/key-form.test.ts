import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formOf } from '../../packages/reference/src/browser/model/key-form.ts';
import { isWellFormed, makeSecret } from '../../src/records/keys/secret.ts';

const environment = fc.stringMatching(/^[a-z]{1,12}$/);
const secret = environment.map((env) => makeSecret(env));
const character = fc.constantFrom(...'0123456789ABCXYZabcxyz_-');

describe('the pattern of a key in the page', () => {
  test('matches every key that the gateway makes', () => {
    fc.assert(fc.property(secret, (text) => expect(formOf(text)).toBe('own')));
  });

  test('matches src/records/keys/secret.ts, for any typed, truncated or lengthened text', () => {
    const typo = fc
      .tuple(secret, fc.nat({ max: 60 }), character)
      .map(([text, at, other]) => text.slice(0, at) + other + text.slice(at + 1));
    const cut = fc.tuple(secret, fc.nat({ max: 60 })).map(([text, at]) => text.slice(0, at));
    const longer = fc.tuple(secret, character).map(([text, more]) => text + more);
    fc.assert(
      fc.property(fc.oneof(secret, typo, cut, longer, fc.string({ unit: 'binary' })), (text) => {
        expect(formOf(text) === 'own').toBe(isWellFormed(text));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['sg_live_short', 'damaged'],
    ['sk_live_51H8', 'other'],
    ['eyJhbGciOi.J9.x', 'other'],
    ['two words', 'impossible'],
    ['schlüssel', 'impossible'],
    ['', 'impossible'],
  ])('%j is %s', (text, form) => {
    expect(formOf(text)).toBe(form);
  });
});
