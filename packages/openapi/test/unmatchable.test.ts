import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bodyChecker, json, loadText, notesOf, ref, taking } from './documents.ts';

type Json = Record<string, unknown>;

const NOTE = /^no value can match: \S*openapi.yaml:\d+:\d+ (.+), and \S*openapi.yaml:\d+:\d+ (.+)$/;

const contractOf = (schema: Json, schemas: Json = {}, openapi = '3.1.0') =>
  taking(json(schema).content, { schemas, openapi });
const checkOf = (schema: Json) => bodyChecker(contractOf(schema), 'application/json');

/** What both places say. */
const found = (schema: Json, schemas?: Json, openapi?: string): string[][] =>
  notesOf(contractOf(schema, schemas, openapi)).flatMap((message) => {
    const [, ...both] = NOTE.exec(message) ?? [];
    return both.length > 0 ? [both] : [];
  });

const object = (properties: Json, more: Json = {}) => ({ type: 'object', properties, ...more });
const closed = (properties: Json, more: Json = {}) =>
  object(properties, { additionalProperties: false, ...more });
const text = { type: 'string' };

describe('a note has both places of a schema that no value can match:', () => {
  test.each<[string, Json, string[]]>([
    [
      'closed objects that require what the other does not define',
      { allOf: [closed({ url: text }, { required: ['url'] }), closed({ lang: text })] },
      ['requires url', 'does not define url'],
    ],
    [
      'a closed object that requires what it does not define',
      closed({ a: text }, { required: ['b'] }),
      ['requires b', 'does not define b'],
    ],
    [
      'a required member that is false',
      object({ a: false } as never, { required: ['a'] }),
      ['requires a', 'has false for a'],
    ],
    [
      'types that exclude each other',
      { allOf: [text, { type: ['integer', 'null'] }] },
      ['is string', 'is integer or null'],
    ],
    [
      'lists of values that exclude each other',
      { allOf: [{ enum: ['a', 1] }, { const: 'b' }] },
      ['lists other values', 'than this'],
    ],
    [
      'values that are not of the type',
      { type: 'string', enum: [1, 2] },
      ['lists no value of the type', 'is string'],
    ],
    [
      'more characters than at most',
      { allOf: [{ type: 'string', minLength: 3 }, { maxLength: 2 }] },
      ['minLength is 3', 'maxLength is 2'],
    ],
    [
      'a minimum above the maximum',
      { type: 'integer', minimum: 3, maximum: 2 },
      ['minimum is 3', 'maximum is 2'],
    ],
    [
      'a range without a number',
      { type: 'number', exclusiveMinimum: 3, maximum: 3 },
      ['exclusiveMinimum is 3', 'maximum is 3'],
    ],
    [
      'more entries than at most',
      { type: 'array', minItems: 2, maxItems: 1 },
      ['minItems is 2', 'maxItems is 1'],
    ],
    [
      'alternatives that a closed object excludes',
      closed({ a: text }, { oneOf: [{ required: ['b'] }, { required: ['c'] }] }),
      ['requires b', 'does not define b'],
    ],
  ])('%s', (_what, schema, both) => {
    expect(found(schema)).toEqual([both]);
    const check = checkOf(schema);
    for (const value of ['{}', '"abc"', '"a"', '3', '2.5', '[1]', '{"a":"b"}', '{"b":"a"}'])
      expect([value, check(value).length]).not.toEqual([value, 0]);
  });

  test('OpenAPI 3.0 has other limits and references', () => {
    const schema = { type: 'number', minimum: 3, exclusiveMinimum: true, maximum: 3 };
    expect(found(schema, {}, '3.0.3')).toEqual([['exclusiveMinimum is 3', 'maximum is 3']]);
    const A = closed({ a: text }, { required: ['a'] });
    expect(found({ allOf: [ref('A'), closed({ b: text })] }, { A }, '3.0.3')).toEqual([
      ['requires a', 'does not define a'],
    ]);
  });

  test('once, at the innermost schema that has both', () => {
    const A = { allOf: [text, { type: 'integer' }] };
    const schema = object({ a: ref('A') }, { allOf: [{ properties: { b: ref('A') } }] });
    expect(found({ allOf: [ref('A'), { title: 'x' }] }, { A })).toHaveLength(1);
    expect(found(schema, { A })).toHaveLength(1);
    const notes = contractOf(schema, { A }).notes.filter(({ message }) => NOTE.test(message));
    expect(notes[0]!.place).toMatch(/^\d+:\d+ \/components\/schemas\/A$/);
  });
});

test.each<[string, Json, string?]>([
  [
    'a closed object that other types may replace',
    { ...closed({}), type: ['object', 'null'], required: ['a'] },
  ],
  ['a closed object without a type', { additionalProperties: false, required: ['a'] }],
  [
    'a member that a pattern defines',
    closed({}, { patternProperties: { '^a': true }, required: ['a'] }),
  ],
  [
    'a member for responses only',
    { allOf: [object({ id: { readOnly: true } }, { required: ['id'] }), object({})] },
  ],
  [
    'a member for responses only, in a closed object',
    { allOf: [object({ id: { readOnly: true } }, { required: ['id'] }), closed({ a: text })] },
  ],
  ['null in both', { allOf: [{ type: ['string', 'null'] }, { type: ['integer', 'null'] }] }],
  ['an integer that is a number', { allOf: [{ type: 'integer' }, { type: 'number' }], enum: [1] }],
  ['a nullable list of values', { type: 'string', nullable: true, enum: ['a', null] }, '3.0.3'],
  ['limits of another type', { type: 'string', minimum: 3, maximum: 2 }],
  ['equal limits', { type: 'integer', minimum: 3, maximum: 3 }],
  [
    'one alternative that may match',
    closed({ a: text }, { anyOf: [{ required: ['b'] }, { required: ['a'] }] }),
  ],
  ['a schema that refers to itself', { allOf: [object({ a: ref('A') }), object({ b: text })] }],
])('no note: %s', (...[_what, schema, openapi]) => {
  expect(found(schema, { A: schema }, openapi)).toEqual([]);
});

const values = fc.constantFrom<unknown>('a', 'abc', 1, 2.5, null, true);
const parts = fc.record(
  {
    type: fc.constantFrom('string', 'integer', 'number', 'object', 'array', 'null'),
    enum: fc.array(values, { minLength: 1, maxLength: 3 }),
    minLength: fc.nat(4),
    maxLength: fc.nat(4),
    minimum: fc.nat(4),
    exclusiveMaximum: fc.nat(4),
    minItems: fc.nat(2),
    maxItems: fc.nat(2),
    required: fc.subarray(['a', 'b']),
    properties: fc.constantFrom({}, { a: true }, { a: false, b: true }, { a: { readOnly: true } }),
    additionalProperties: fc.boolean(),
  },
  { requiredKeys: [] },
);

test('a schema with a note matches no value', () => {
  const bodies = ['""', '"a"', '"abc"', '0', '1', '2.5', '3', 'null', 'true', '[]', '[1]', '[1,2]'];
  const objects = ['{}', '{"a":1}', '{"b":1}', '{"a":1,"b":1}', '{"c":1}'];
  fc.assert(
    fc.property(fc.array(parts, { minLength: 1, maxLength: 3 }), (allOf) => {
      if (found({ allOf }).length === 0) return;
      const check = checkOf({ allOf });
      for (const body of [...bodies, ...objects])
        expect([body, check(body).length > 0]).toEqual([body, true]);
    }),
    { numRuns: 300 },
  );
});

test('a mapping to nothing is a note: alternatives decide without it', () => {
  const alternatives = ['cat', 'dog'].map((kind) => ({
    type: 'object',
    required: ['kind'],
    properties: { kind: { const: kind } },
  }));
  const mapping = { cat: '#/components/schemas/Nothing', dog: 'Nobody', cow: './nowhere.yaml' };
  const contract = contractOf({
    oneOf: alternatives,
    discriminator: { propertyName: 'kind', mapping },
  });
  expect(contract.notes.map(({ place, message }) => `${place} ${message}`)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(
        /^\d+:\d+ .*\/mapping\/cat #\/components\/schemas\/Nothing does not exist$/,
      ),
    ]),
  );
  const check = bodyChecker(contract, 'application/json');
  expect(check('{"kind":"cat"}')).toEqual([]);
  expect(check('{"kind":"cow"}')).not.toEqual([]);
});

test('a key << in quotes is a name, in requests too', () => {
  const contract = loadText(`
openapi: 3.0.3
info: { title: Names, version: '1' }
x-one: &one { type: object, required: ["<<"] }
paths:
  /:
    post:
      operationId: a
      requestBody:
        content:
          application/json:
            schema: { !!merge <<: *one, properties: { "<<": { type: integer } } }
      responses: { 200: { description: Done. } }
`);
  const check = bodyChecker(contract, 'application/json');
  expect(check('{"<<":1}')).toEqual([]);
  expect(check('{"<<":"x"}')).toEqual(['/<< must be an integer']);
  expect(check('{}')).toEqual(['/<< is required']);
});
