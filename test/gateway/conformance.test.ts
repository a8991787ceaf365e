import { expect, test } from '@jest/globals';
import { loadContract } from '@storegate/openapi';
import { faultsOf } from '../../packages/openapi/test/generated/verdict.ts';
import { Refusal } from '../../src/common/errors/refusals.ts';
import { type PathRules, parseTarget } from '../../src/gateway/wire/target.ts';
import { cases, document } from './conformance/document.ts';
import type { Case } from './conformance/subject.ts';

const contract = loadContract('cases.json', {
  text: JSON.stringify(document),
  onUnsupported: 'omit',
});

function isTaken(
  { request: { method, target, headers = {}, body } }: Case,
  rules?: PathRules,
): boolean {
  const sent =
    body === undefined ? null : { type: headers['Content-Type']!, bytes: Buffer.from(body) };
  try {
    const { written, query } = parseTarget(target, rules);
    const request = {
      method,
      target: `${written}?${query}`,
      headers: Object.entries(headers).flat(),
      body: sent,
    };
    return faultsOf(contract, request).length === 0;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

/** docs/validation.md says why. */
const REFUSED = [
  'path matrix explode: false string: ;p=blue',
  'path matrix explode: true array: ;p=1;p=2',
  'path matrix explode: true object: ;R=1;G=2',
];

const REFUSED_BY_DEFAULT = ['path string: a%2Fb', 'path string: a%3Bb'];

test('requests are judged as the specification says, except those that the gateway refuses on purpose', () => {
  expect(new Set(cases.map(({ valid }) => valid)).size).toBe(2);
  const wrong = cases.filter((one) => isTaken(one) !== one.valid);
  expect(wrong.map(({ name }) => name)).toEqual([...REFUSED, ...REFUSED_BY_DEFAULT]);
  const rules = { encodedSlash: 'pass', semicolon: 'pass' } as const;
  const wrongBySetting = cases.filter((one) => isTaken(one, rules) !== one.valid);
  expect(wrongBySetting.map(({ name }) => name)).toEqual(REFUSED);
});
