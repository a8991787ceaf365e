import { expect, test } from '@jest/globals';
import { prefersProblem } from '../../../src/gateway/reply/problem.ts';

test.each([
  ['application/problem+json', true],
  ['application/problem+json, */*', true],
  ['application/json;q=0.9, application/problem+json;q=0.95', true],
  ['text/html, application/problem+json; q=0.5, */*; q=0.1', true],
  ['application/json, application/problem+json', false],
  ['application/problem+json;q=0.5, application/json', false],
  ['application/problem+json;q=0.5, */*', false],
  ['application/problem+json;q=0.5, application/*;q=0.8, */*;q=0.1', false],
  ['application/problem+json;q=0', false],
  ['application/problem+json;q=2', false],
  ['x-application/problem+json', false],
  ['*/*', false],
  ['', false],
  [undefined, false],
])('of %j: %j', (accept, expected) => {
  expect(prefersProblem(accept)).toBe(expected);
});
