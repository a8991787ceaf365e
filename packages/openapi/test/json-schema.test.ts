import { describe, expect, test } from '@jest/globals';
import { type Reading, RULES } from '../src/index.ts';
import { checker, done, load, notesOf, only, problemsOf } from './documents.ts';

type Case = readonly [
  schema: object,
  good: readonly string[],
  bad: Readonly<Record<string, readonly string[]>>,
];

const check = (schema: object, schemas: object = {}, options?: Reading) =>
  checker(schema as Record<string, unknown>, schemas as Record<string, unknown>, options, '3.1.0');

function contractOf(schema: unknown, schemas: object = {}, openapi = '3.1.1') {
  const requestBody = { content: { 'application/json': { schema } } };
  return load({ '/': { post: { requestBody, responses: done } } }, { schemas }, undefined, openapi);
}

const pet = { type: 'object', required: ['kind'], properties: { kind: { type: 'string' } } };

const cases: Record<string, Case> = {
  'a list of types': [
    { type: ['string', 'null'] },
    ['"a"', 'null'],
    { 1: ['must be a string or null'], '{}': ['must be a string or null'] },
  ],
  'a list of types with integers': [
    { type: ['integer', 'string', 'null'], minimum: 2 },
    ['2', '"1"', 'null', '12345678901234567890'],
    {
      1: ['must be at least 2'],
      '2.0': ['must be an integer or a string or null'],
      '[]': ['must be an integer or a string or null'],
    },
  ],
  'a list of types with numbers': [
    { type: ['number', 'boolean'] },
    ['2.0', 'true'],
    { '"2"': ['must be a number or true or false'], null: ['must be a number or true or false'] },
  ],
  'a nullable integer': [
    { type: ['integer', 'null'] },
    ['1', 'null'],
    { 1.5: ['must be an integer or null'] },
  ],
  'type null': [{ type: 'null' }, ['null'], { 0: ['must be null'], '""': ['must be null'] }],
  const: [{ const: 'a' }, ['"a"'], { '"b"': ['must be a'], 1: ['must be a'] }],
  'const beyond 2^53': [
    { const: 9007199254740993n },
    ['9007199254740993'],
    { 9007199254740992: ['must be 9007199254740993'] },
  ],
  'const of an object': [
    { const: { a: [1, true] } },
    ['{"a":[1,true]}'],
    { '{"a":[1,1]}': ['must be {"a":[1,true]}'], '{}': ['must be {"a":[1,true]}'] },
  ],
  'an enum without values': [
    { enum: [] },
    [],
    { 1: ['must be one of the 0 values that the contract lists'] },
  ],
  'exclusive limits': [
    { exclusiveMinimum: 1, exclusiveMaximum: 3 },
    ['1.5', '"x"'],
    { 1: ['must be more than 1'], 3: ['must be less than 3'] },
  ],
  'both kinds of limits': [
    { minimum: 5, exclusiveMinimum: 1 },
    ['5'],
    { 4: ['must be at least 5'], 1: ['must be at least 5', 'must be more than 1'] },
  ],
  'if, then and else': [
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    { if: { type: 'string' }, then: { minLength: 2 }, else: { type: 'integer' } },
    ['"ab"', '1'],
    { '"a"': ['must have at least 2 characters'], true: ['must be an integer'] },
  ],
  'if alone': [{ if: { type: 'string' } }, ['"ab"', '1'], {}],
  'if and else': [
    { if: { type: 'string' }, else: false },
    ['"ab"'],
    { 1: ['must not match the excluded schema'] },
  ],
  prefixItems: [
    { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }] },
    ['[]', '[1]', '[1,"a",{}]'],
    { '["a"]': ['/0 must be an integer'], '[1,2]': ['/1 must be a string'] },
  ],
  'prefixItems and no others': [
    { prefixItems: [{ type: 'integer' }], items: false },
    ['[1]'],
    { '[1,2,3]': ['/1 is not defined in the contract', '/2 is not defined in the contract'] },
  ],
  'prefixItems and items': [
    { prefixItems: [{ type: 'integer' }], items: { type: 'string' } },
    ['[1,"a"]'],
    { '[1,2]': ['/1 must be a string'] },
  ],
  contains: [
    { contains: { type: 'integer', minimum: 5 } },
    ['[1,5]', '{}'],
    {
      '[]': ['must have an entry that matches the required schema'],
      '[1]': ['must have an entry that matches the required schema'],
    },
  ],
  'minContains and maxContains': [
    { contains: { const: 1 }, minContains: 2, maxContains: 3 },
    ['[1,1]', '[1,0,1,1]'],
    {
      '[1]': ['must have at least 2 entries that match a schema of the contract'],
      '[1,1,1,1]': ['must have at most 3 entries that match a schema of the contract'],
    },
  ],
  'minContains 0': [{ contains: { const: 1 }, minContains: 0 }, ['[]', '[2]'], {}],
  dependentRequired: [
    { dependentRequired: { card: ['owner', 'address'] } },
    ['{}', '{"owner":1}', '{"card":1,"owner":1,"address":1}'],
    {
      '{"card":1}': [
        '/owner is required if card is present',
        '/address is required if card is present',
      ],
    },
  ],
  dependentSchemas: [
    {
      dependentSchemas: {
        card: { required: ['owner'], properties: { owner: { type: 'string' } } },
      },
    },
    ['{"owner":1}', '{"card":1,"owner":"a"}'],
    { '{"card":1,"owner":1}': ['/owner must be a string'] },
  ],
  patternProperties: [
    {
      patternProperties: { '^x-': { type: 'string' }, '(a+)+$': { type: 'integer' } },
      additionalProperties: false,
    },
    ['{"x-b":"a"}', '{"a":1}'],
    { '{"x-b":1}': ['/x-b must be a string'], '{"b":1}': ['/b is not defined in the contract'] },
  ],
  'patternProperties that rule out': [
    { patternProperties: { '^_': false } },
    ['{"a":1}'],
    { '{"_a":1}': ['/_a must not match the excluded schema'] },
  ],
  propertyNames: [
    { propertyNames: { maxLength: 2, pattern: '^[a-z]+$' } },
    ['{"ab":1}', '[]'],
    {
      '{"abc":1,"A":1}': [
        '/abc has a name that is not allowed',
        '/A has a name that is not allowed',
      ],
    },
  ],
  unevaluatedProperties: [
    { allOf: [pet], properties: { name: {} }, unevaluatedProperties: false },
    ['{"kind":"cat","name":1}'],
    {
      '{"kind":"cat","x":1,"y":1}': [
        '/x is not defined in the contract',
        '/y is not defined in the contract',
      ],
      // Ajv's own tracking would accept this.
      '{"kind":"cat","constructor":1}': ['/constructor is not defined in the contract'],
      '{"kind":"cat","toString":1}': ['/toString is not defined in the contract'],
    },
  ],
  'unevaluatedProperties of alternatives': [
    {
      anyOf: [
        { properties: { a: { const: 1 } }, required: ['a'] },
        { properties: { b: { const: 2 } }, required: ['b'] },
      ],
      unevaluatedProperties: { type: 'string' },
    },
    ['{"a":1,"c":"x"}', '{"a":1,"b":2}', '{"a":1,"b":"x"}'],
    { '{"a":1,"b":3}': ['/b must be a string'] },
  ],
  unevaluatedItems: [
    { prefixItems: [{ type: 'integer' }], contains: { type: 'string' }, unevaluatedItems: false },
    ['[1,"a"]', '["a","b"]'.replace('"a"', '2')],
    { '[1,"a",true]': ['/2 is not defined in the contract'] },
  ],
  'boolean schemas': [
    { properties: { a: true, b: false } },
    ['{"a":1}'],
    { '{"b":1}': ['/b must not match the excluded schema'] },
  ],
  '$defs and anchors': [
    { $defs: { n: { $anchor: 'count', type: 'integer' } }, items: { $ref: '#count' } },
    ['[1]'],
    { '["a"]': ['/0 must be an integer'] },
  ],
  $id: [
    {
      $id: 'https://example.com/s',
      $defs: { n: { $id: 'n', type: 'integer' } },
      items: { $ref: 'https://example.com/n' },
    },
    ['[1]'],
    { '["a"]': ['/0 must be an integer'] },
  ],
  '$ref beside keywords': [
    {
      $ref: '#/components/schemas/pet',
      maxProperties: 2,
      properties: { name: { type: 'string' } },
    },
    ['{"kind":"cat","name":"Tom"}'],
    {
      '{"name":1}': ['/kind is required', '/name must be a string'],
      '{"kind":"a","b":1,"c":1}': ['must have at most 2 members'],
    },
  ],
  'a recursive schema with a dynamic reference': [
    {
      $id: 'https://example.com/strict',
      $dynamicAnchor: 'node',
      $ref: 'https://example.com/tree',
      unevaluatedProperties: false,
    },
    ['{"children":[{"children":[]}]}'],
    { '{"children":[{"childs":1}]}': ['/children/0/childs is not defined in the contract'] },
  ],
};

const schemas = {
  pet,
  tree: {
    $id: 'https://example.com/tree',
    $dynamicAnchor: 'node',
    type: 'object',
    properties: { children: { type: 'array', items: { $dynamicRef: '#node' } } },
  },
};

test.each(Object.entries(cases))('%s', (_name, [schema, good, bad]) => {
  const faultsOf = check(schema, schemas);
  for (const text of good) expect([text, faultsOf(text)]).toEqual([text, []]);
  for (const [text, faults] of Object.entries(bad))
    expect([text, faultsOf(text).sort()]).toEqual([text, [...faults].sort()]);
});

test('each new keyword has a rule of its own, with the limit of the contract', () => {
  const rulesOf = (schema: object, text: string) => {
    const faults = only(contractOf(schema))
      .body!.media('application/json')!
      .check(Buffer.from(text));
    for (const { rule } of faults) expect(Object.keys(RULES)).toContain(rule);
    return faults.map(({ rule, limit }) => [rule, limit]);
  };
  expect(rulesOf({ type: ['integer', 'string'] }, 'true')).toEqual([
    ['type', ['integer', 'string']],
  ]);
  expect(rulesOf({ const: 5 }, '6')).toEqual([['const', 5]]);
  expect(rulesOf({ exclusiveMinimum: 5 }, '5')).toEqual([['exclusiveMinimum', 5]]);
  expect(rulesOf({ items: false }, '[1]')).toEqual([['items', undefined]]);
  expect(rulesOf({ contains: { const: 1 } }, '[]')).toEqual([['contains', undefined]]);
  expect(rulesOf({ contains: { const: 1 }, minContains: 2 }, '[1]')).toEqual([['minContains', 2]]);
  expect(rulesOf({ contains: { const: 1 }, maxContains: 1 }, '[1,1]')).toEqual([
    ['maxContains', 1],
  ]);
  expect(rulesOf({ propertyNames: { maxLength: 1 } }, '{"ab":1}')).toEqual([
    ['propertyNames', undefined],
  ]);
  expect(rulesOf({ dependentRequired: { a: ['b'] } }, '{"a":1}')).toEqual([
    ['dependentRequired', 'a'],
  ]);
  expect(rulesOf({ unevaluatedProperties: false }, '{"a":1}')).toEqual([
    ['unevaluatedProperties', undefined],
  ]);
  expect(rulesOf({ unevaluatedItems: false }, '[1]')).toEqual([['unevaluatedItems', undefined]]);
});

test('a name that was sent is cut and made printable', () => {
  const [fault] = check({ propertyNames: { maxLength: 5 } })(
    JSON.stringify({ [`${'\u0000'.repeat(5)}${'x'.repeat(500)}`]: 1 }),
  );
  expect(fault!.length).toBeLessThan(200);
  expect(fault).not.toContain('\u0000');
});

test('a recursive schema that looks for what is not evaluated costs the same at each level', () => {
  const node = {
    type: 'object',
    anyOf: [
      { properties: { child: { $ref: '#/components/schemas/node' } } },
      { properties: { leaf: {} }, required: ['leaf'] },
    ],
    unevaluatedProperties: false,
  };
  const faultsOf = check({ $ref: '#/components/schemas/node' }, { node });
  const nested = (inner: string) => `${'{"child":'.repeat(60)}${inner}${'}'.repeat(60)}`;
  expect(faultsOf(nested('{"leaf":1}'))).toEqual([]);
  expect(faultsOf(nested('{"x":1}')).length).toBeGreaterThan(0);
});

test('what an alternative leaves over is looked for, whatever is wrong with those before it', () => {
  const faultsOf = check({
    properties: { q: { type: 'integer' } },
    oneOf: [
      { required: ['z'] },
      { properties: { a: {} }, unevaluatedProperties: false },
      { required: ['b'] },
    ],
  });
  expect(faultsOf('{"q":1,"b":1}')).toEqual([]);
  expect(faultsOf('{"q":"x","b":1}')).toEqual(['/q must be an integer']);
  expect(faultsOf('{"q":"x","b":1,"z":1}')).toContain('must match only one of the schemas');
});

test('an alternative with another fault does not report what it leaves over', () => {
  const form = (kind: string) => ({
    required: [kind],
    properties: { [kind]: {} },
    unevaluatedProperties: false,
  });
  const faultsOf = check({ anyOf: [form('a'), form('b')] });
  expect(faultsOf('{"b":1,"c":1}').sort()).toEqual([
    '/a is required (in one of the schemas)',
    '/c is not defined in the contract (in one of the schemas)',
    'must match one of the schemas',
  ]);
});

test('entries beyond count of a list of many are looked at once', () => {
  const faultsOf = check({ contains: { type: 'string' }, unevaluatedItems: false });
  expect(faultsOf(JSON.stringify(Array(100_000).fill(1))).length).toBeGreaterThan(0);
  expect(faultsOf(JSON.stringify(Array(1_000).fill('a')))).toEqual([]);
});

describe('a discriminator', () => {
  const kinds = {
    cat: {
      type: 'object',
      required: ['kind'],
      properties: { kind: { const: 'cat' }, lives: { type: 'integer' } },
    },
    dog: {
      type: 'object',
      required: ['kind'],
      properties: { kind: { enum: ['dog'] }, tail: { type: 'string' } },
    },
    any: {
      oneOf: [{ $ref: '#/components/schemas/cat' }, { $ref: '#/components/schemas/dog' }],
      discriminator: { propertyName: 'kind' },
    },
  };

  test('selects by a const, and also behind a reference with keywords beside it', () => {
    const faultsOf = check({ $ref: '#/components/schemas/any', maxProperties: 2 }, kinds);
    expect(faultsOf('{"kind":"cat","lives":9}')).toEqual([]);
    expect(faultsOf('{"kind":"cat","lives":"9"}')).toEqual(['/lives must be an integer']);
    expect(faultsOf('{"kind":"dog","tail":1}')).toEqual(['/tail must be a string']);
  });
});

test('a property that is read-only beside its reference must not be sent if that is refused', () => {
  const schema = {
    required: ['id'],
    properties: { id: { $ref: '#/components/schemas/id', readOnly: true } },
  };
  const refuse = { readOnly: 'refuse' } as const;
  const faultsOf = check(schema, { id: { type: 'string' } }, refuse);
  expect(faultsOf('{}')).toEqual([]);
  expect(faultsOf('{"id":"a"}')).toEqual(['/id is read-only: it must not be sent']);
  const behind = check(
    { properties: { id: { $ref: '#/components/schemas/id', maxLength: 3 } } },
    { id: { readOnly: true } },
    refuse,
  );
  expect(behind('{"id":"a"}')).toEqual(['/id is read-only: it must not be sent']);
});

describe('members for one direction', () => {
  test('are not asked for beside a reference to the schema that has them', () => {
    const schemas = { A: { properties: { id: { type: 'string', readOnly: true } } } };
    const judge = check({ $ref: '#/components/schemas/A', required: ['id', 'name'] }, schemas);
    expect(judge('{"name":1}')).toEqual([]);
    expect(judge('{}')).toEqual(['/name is required']);
  });

  test('are not asked for because of others', () => {
    const judge = check({
      properties: { id: { readOnly: true } },
      dependentRequired: { a: ['id', 'b'] },
    });
    expect(judge('{"a":1,"b":1}')).toEqual([]);
    expect(judge('{"a":1}')).toEqual(['/b is required if a is present']);
  });
});

test('a list is not an object with a member length, of which dependentSchemas could evaluate the entries', () => {
  const judge = check({ dependentSchemas: { length: { items: {} } }, unevaluatedItems: false });
  expect(judge('[1]')).toEqual(['/0 is not defined in the contract']);
});

test('levels of alternatives that look for what is not evaluated do not multiply what is compiled', () => {
  let schema: object = { properties: { a: {} }, unevaluatedProperties: false };
  for (let i = 0; i < 24; i++)
    schema = { anyOf: [schema, { required: ['never'] }], unevaluatedProperties: false };
  const judge = check(schema);
  expect(judge('{"a":1}')).toEqual([]);
});

test.each<[schema: unknown, problem: string]>([
  [{ exclusiveMinimum: true }, 'must be a number'],
  [
    { type: ['string', 'text'] },
    'must be array, boolean, integer, null, number, object or string, or a list of these',
  ],
  [{ type: [] }, 'or a list of these'],
  [{ items: [{}] }, 'must be an object, true or false'],
  [{ minContains: -1 }, 'must be a whole number, 0 or more'],
  [{ dependentRequired: { a: 'b' } }, 'must be an object with lists of names'],
  [{ patternProperties: { '(': {} } }, 'the pattern is not valid'],
  [{ patternProperties: { '^(a+)+\\1$': {} } }, 'its time cannot be bounded'],
  [{ $ref: '#nowhere' }, '#nowhere does not exist'],
  [
    { allOf: [{ $id: 'https://example.com/s', $ref: '#/components/schemas/A' }] },
    '#/components/schemas/A does not exist in the schema with the $id https://example.com/s, where # begins',
  ],
  [{ $ref: 'https://example.com/s' }, 'is on the network: only files are read'],
  [
    { $schema: 'http://json-schema.org/draft-07/schema#' },
    'is not known here, only JSON Schema 2020-12',
  ],
  [{ $id: 'a#b' }, 'must be a reference without a fragment'],
  [{ allOf: [{ $id: 'x:a' }, { $id: 'x:a' }] }, 'x:a is the $id of another schema too'],
  [{ allOf: [{ $anchor: 'a' }, { $anchor: 'a' }] }, 'a is the name of another schema too'],
  [{ $anchor: '1' }, 'must be a name'],
])('%j is a mistake: %s', (schema, problem) => {
  const [found, ...more] = problemsOf(() => contractOf(schema));
  expect(found).toContain(problem);
  expect(more).toEqual([]);
});

test.each<[schema: object, note: string]>([
  [
    { type: 'string', nullable: true },
    'nullable means nothing in OpenAPI 3.1: a list of types that has null does',
  ],
  [
    { type: 'string', contentEncoding: 'base64' },
    'contentEncoding is not enforced: it describes what is in the text',
  ],
  [{ definitions2: {} }, 'definitions2 is not a field that OpenAPI 3.1 has here: it is ignored'],
  [{ enum: [] }, 'enum lists no value, so none fits'],
  [{ $id: 'x:y' }, '$id is called x-id in the published document: references there need none'],
])('%j is noted: %s', (schema, note) => {
  expect(notesOf(contractOf(schema))).toContain(note);
});
