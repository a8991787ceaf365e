import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { targetOf } from '../../../packages/openapi/src/target.ts';
import { Refusal } from '../../../src/common/errors/refusals.ts';
import { parseTarget } from '../../../src/gateway/wire/target.ts';

const PIECES = [
  '/',
  '.',
  '..',
  '%2e',
  '%2F',
  '%5c',
  '\\',
  ';',
  '%3b',
  'a',
  'Ü',
  '%41',
  '%c3%a9',
  '%ff',
  '%',
  '?',
  '#',
  '@',
];

function pathOfGateway(target: string): string | null {
  try {
    const { path, query } = parseTarget(target);
    return `${path}?${query}`;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

test('the validator as a library accepts the targets that the gateway accepts, with the same path', () => {
  const pieces = fc.array(fc.constantFrom(...PIECES), { maxLength: 8 });
  let accepted = 0;
  fc.assert(
    fc.property(pieces, (parts) => {
      const target = `/${parts.join('')}`;
      const found = targetOf(target);
      const path = 'message' in found ? null : `${found.path}?${found.query}`;
      expect(path).toBe(pathOfGateway(target));
      if (path !== null) accepted++;
    }),
    { numRuns: 2_000 },
  );
  expect(accepted).toBeGreaterThan(10);
});
