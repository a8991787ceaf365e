import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import { readJsonSource } from '../src/document/json-source.ts';
import { Places, SourceText } from '../src/document/places.ts';
import { readSource } from '../src/document/source.ts';
import { ContractError, checkContract } from '../src/index.ts';

const folder = `${import.meta.dirname}/broken/`;

function parsed(text: string): unknown {
  try {
    const { compiled, notes } = checkContract(`${folder}openapi.json`, { text });
    return [compiled.fingerprint, notes];
  } catch (error) {
    if (error instanceof ContractError) return error.problems;
    throw error;
  }
}

/** Behind a comment a text is YAML, and no line has moved. */
const asYaml = (text: string): string => `${text}\n# YAML`;

describe.each(
  readdirSync(folder).filter((name) => name.endsWith('.yaml') && !/alias|lacks/.test(name)),
)('%s', (name) => {
  test.each([undefined, 1, '\t', '\r\n  '])(
    'has the same findings as JSON and as YAML, indented by %j',
    (indent) => {
      const text = JSON.stringify(parse(readFileSync(folder + name, 'utf8')), null, indent);
      expect(parsed(text)).toEqual(parsed(asYaml(text)));
    },
  );
});

test('any JSON object has the same value and the same places in both', () => {
  const value = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2, '\t', '\n'), (object, indent) => {
      const text = JSON.stringify(object, null, indent);
      const [ours, theirs] = [new Places(), new Places()];
      const one = readJsonSource(new SourceText('a', text), ours);
      if (one === null) return;
      const other = readSource({ file: 'a', text: asYaml(text) }, theirs).root;
      expect(one).toEqual(other);
      expect(placesIn(one, ours)).toEqual(placesIn(other, theirs));
    }),
    { numRuns: 300 },
  );
});

function placesIn(value: unknown, places: Places): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = [null, 'no such member', ...Object.keys(value)].map((key) =>
    places.of(value, key, ''),
  );
  return [...own, ...Object.values(value).flatMap((member) => placesIn(member, places))];
}

test.each([
  ['a name twice', '{"a":1,"a":2}'],
  ['a name that objects have', '{"__proto__":1}'],
  ['half a surrogate pair', '{"a":"\\ud800"}'],
  ['a number beyond all numbers', '{"a":1e999}'],
  ['a text behind it', '{} {}'],
  ['no end', '{"a":["b"'],
  ['an open string', '{"a'],
  ['a line break in a string', '{"a":"\n"}'],
  ['a comma too many', '{"a":1,}'],
  ['a leading zero', '{"a":01}'],
  ['a bare word', '{"a":b}'],
  ['a list', '[]'],
  ['nothing', ''],
  ['a name that YAML cannot read', `{"${'n'.repeat(2_000)}":1}`],
])('%s is left to the YAML reader', (_, text) => {
  expect(readJsonSource(new SourceText('a', text), new Places())).toBeNull();
});

test.each([
  ['9007199254740993', 9007199254740993n],
  ['-9223372036854775808', -9223372036854775808n],
  ['-0', 0],
  ['1.0', 1],
  ['9007199254740993.0', 9007199254740993n],
  ['1e23', 100000000000000000000000n],
  ['-12.5e-1', -1.25],
  ['"\\u00e9\\n\\"\\\\"', 'é\n"\\'],
])('%s is %p', (text, value) => {
  expect(readJsonSource(new SourceText('a', `{"a":${text}}`), new Places())).toEqual({ a: value });
});
