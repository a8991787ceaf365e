import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isMap } from 'yaml';
import { LIMITS, parseWithin } from '../src/document/limits.ts';
import { ContractError, checkContract } from '../src/index.ts';

function problemsOf(text: string): unknown[] {
  try {
    checkContract('openapi.yaml', { text });
    return [];
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return error.problems.map(({ place, message }) => `${place} ${message}`);
  }
}

const { tokens, values, depth } = LIMITS;
const head = 'openapi: 3.1.0\ninfo: { title: Deep, version: "1" }\npaths: {}\n';

test('tokens of YAML beyond the limit are refused unread', () => {
  expect(problemsOf('['.repeat(tokens + 1))).toEqual([
    '1:1000001 has more than 1000000 names, values and marks of YAML; write it as JSON, or split it',
  ]);
});

test.each([
  ['a list in brackets', `[${'1,'.repeat(500)}]`, 1_000],
  ['a list in lines', '- 1\n'.repeat(501), 2_000],
  ['closing brackets', ']'.repeat(1_001), 1_000],
  ['names without values', ':\n'.repeat(1_001), 2_000],
])('%s of more than 1,000 tokens end at the offset of the next one', (_, text, offset) => {
  expect(parseWithin(text, 1_000, {})).toBe(offset);
});

test.each([
  ['valid', `{"a":[${'1,'.repeat(values)}1]}`],
  ['invalid', `{"a":[${'[],'.repeat(values)}`],
  ['deep', `{"a":${'['.repeat(values)}${']'.repeat(values)}}`],
])('%s JSON with too many values is refused unread', (_, text) => {
  expect(problemsOf(text)).toEqual(['1:1 has more than 2000000 values; split it']);
});

test('commas and brackets in strings are not values', () => {
  const text = JSON.stringify({ openapi: '3.1.0', info: '[,'.repeat(values) });
  expect(problemsOf(text)).not.toContain('1:1 has more than 2000000 values; split it');
});

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
const chain = (count: number) =>
  `${head}x-a: &a0 [1]\n${numbers(count)
    .map((i) => `x-b${i}: &a${i + 1} [*a${i}]\n`)
    .join('')}`;

/** With so many levels, in a document that has one. */
const DEEP: Readonly<Record<string, readonly [(levels: number) => string, place: RegExp]>> = {
  brackets: [(n) => `${head}x-a: ${'['.repeat(n)}${']'.repeat(n)}\n`, /^4:205 \/x-a(\/0){199}$/],
  'lists in one line': [(n) => `${head}x-a:\n ${'- '.repeat(n)}1\n`, /^5:400 \/x-a(\/0){199}$/],
  maps: [
    (n) =>
      `${head}${numbers(n + 1)
        .map((i) => `${' '.repeat(i)}x-a:${i === n ? ' 1' : ''}\n`)
        .join('')}`,
    /^204:201 (\/x-a){200}$/,
  ],
  aliases: [(n) => chain(n - 1), /^203:\d+ \/x-b198\/0$/],
  JSON: [
    (n) =>
      `{"openapi":"3.1.0","info":{"title":"","version":""},"paths":{},"x-a":${'['.repeat(n)}${']'.repeat(n)}}`,
    /^1:\d+ \/x-a(\/0){199}$/,
  ],
};

describe.each(Object.entries(DEEP))('levels of %s', (_, [textOf, place]) => {
  test('may be 199 below the document', () => {
    expect(problemsOf(textOf(depth - 1))).toEqual([]);
  });

  test.each([depth, 2 * depth])('must not be %i', (levels) => {
    const problems = problemsOf(textOf(levels)) as string[];
    expect(problems).toEqual([expect.stringMatching(/ is nested deeper than 200 levels$/)]);
    expect(problems[0]!.replace(/ is .*/, '')).toMatch(place);
  });
});

test.each([
  ['brackets', '[ '.repeat(20_000)],
  ['lists', '- '.repeat(20_000)],
  ['names', '? '.repeat(20_000)],
  ['JSON', `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
])('%s that the stack does not hold are refused in words', (_, text) => {
  expect(problemsOf(text)).toEqual([
    expect.stringMatching(/^1:\d+ is nested deeper than 200 levels$/),
  ]);
});

test('the first token after the limit is found in any notation', () => {
  const item = fc.constantFrom(
    'a',
    "'b'",
    '"c"',
    '[d]',
    '{e: f}',
    '&g h',
    '!!str i',
    '|\n  j\n',
    '1',
  );
  fc.assert(
    fc.property(
      fc.array(item, { minLength: 1, maxLength: 20 }),
      fc.boolean(),
      (items, comments) => {
        const text = `${comments ? '# [,\n' : ''}${items.map((one, i) => `n${i}: ${one}\n`).join('')}`;
        const parsed = (most: number) => parseWithin(text, most, {});
        const offsets = Array.from({ length: 10 * items.length }, (_, most) => parsed(most));
        const count = offsets.findIndex((one) => typeof one !== 'number');
        // A name, its colon and a value at least, each later than the one before.
        expect(count).toBeGreaterThanOrEqual(3 * items.length);
        const found = offsets.slice(0, count) as number[];
        expect(found).toEqual([...new Set(found)].sort((a, b) => a - b));
        expect(found.map((at) => text[at]!.trim())).not.toContain('');
        const document = parsed(count);
        expect(typeof document === 'number' ? null : isMap(document.contents)).toBe(true);
      },
    ),
  );
});
