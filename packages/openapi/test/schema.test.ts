import { describe, expect, test } from '@jest/globals';
import {
  bodyChecker,
  checker,
  json,
  notesOf,
  problemsOf,
  queryChecker,
  ref,
  responseChecker,
  taking,
} from './documents.ts';

/** The fault is one of an alternative. */
const one = (fault: string) => `${fault} (in one of the schemas)`;

const integer = { type: 'integer' };
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('references', () => {
  test('may be recursive', () => {
    const children = { type: 'array', items: ref('Tree') };
    const Tree = { type: 'object', required: ['value'], properties: { value: integer, children } };
    const check = checker(ref('Tree'), { Tree });
    expect(check('{"value":1,"children":[{"value":2,"children":[]}]}')).toEqual([]);
    expect(check('{"value":1,"children":[{"children":[{"value":"x"}]}]}')).toEqual([
      '/children/0/value is required',
      '/children/0/children/0/value must be an integer',
    ]);
  });

  test('make what stands beside them count for nothing in OpenAPI 3.0, which is noted', () => {
    const schema = { ...ref('A'), minLength: 5, nullable: true };
    expect(notesOf(taking(json(schema).content, { schemas: { A: { type: 'string' } } }))).toEqual([
      'minLength beside $ref is ignored, as OpenAPI 3.0 says',
      'nullable beside $ref is ignored, as OpenAPI 3.0 says',
    ]);
  });

  test('may lead anywhere in the document, in several steps', () => {
    const A = { type: 'object', properties: { 'x/y': ref('B') } };
    const check = checker(ref('A/properties/x~1y'), { A, B: ref('C'), C: integer });
    expect(check('1')).toEqual([]);
    expect(check('"a"')).toEqual(['must be an integer']);
  });

  const endless = 'the schema refers to itself without going deeper';

  test.each<[what: string, schemas: object, ...problems: string[]]>([
    [
      'alone',
      { A: ref('B'), B: ref('A') },
      'A refers to itself',
      'B refers to itself',
      'A refers to itself',
    ],
    [
      'in combinations',
      { A: { allOf: [ref('B')] }, B: { anyOf: [integer, ref('A')] } },
      `/components/schemas/A: ${endless}`,
      `/components/schemas/B: ${endless}`,
    ],
    ['deeper', { A: { properties: { b: ref('B') } }, B: { allOf: [ref('A')] } }],
    [
      'deeper and not',
      { A: { properties: { x: ref('B') }, allOf: [ref('B')] }, B: { allOf: [ref('A')] } },
      endless,
      endless,
    ],
  ])('that never go deeper are refused: %s', (_what, schemas, ...problems) => {
    const found = problemsOf(() => taking(json(ref('A')).content, { schemas: { ...schemas } }));
    expect(found).toEqual(problems.map((problem) => expect.stringContaining(problem)));
  });
});

describe('readOnly and writeOnly', () => {
  const account = {
    type: 'object',
    required: ['id', 'name', 'secret'],
    properties: {
      id: { ...integer, readOnly: true },
      name: { type: 'string' },
      secret: { type: 'string', writeOnly: true },
    },
  };
  const Base = { type: 'object', required: ['id'], properties: { name: { type: 'string' } } };
  const apart = { allOf: [ref('Base'), { properties: { id: ref('Id') } }] };
  const schemas = { Base, Id: { ...integer, readOnly: true } };
  const refuse = { readOnly: 'refuse' } as const;
  const sent = '/id is read-only: it must not be sent';

  test.each<[what: string, check: (text: string) => string[], text: string, faults: string[]]>([
    ['not required', checker(account), '{"name":"a","secret":"b"}', []],
    ['sent back', checker(account), '{"id":1,"name":"a","secret":"b"}', []],
    [
      'wrong',
      checker(account),
      '{"id":"1","name":"a"}',
      ['/secret is required', '/id must be an integer'],
    ],
    ['absent', checker(account, {}, refuse), '{"name":"a","secret":"b"}', []],
    ['refused', checker(account, {}, refuse), '{"id":1,"name":"a"}', ['/secret is required', sent]],
    ['in a response', responseChecker(account), '{"id":1,"name":"a"}', []],
    [
      'write-only in a response',
      responseChecker(account),
      '{"name":"a","secret":"b"}',
      ['/id is required', '/secret is write-only: it must not be in a response'],
    ],
    ['required by another schema', checker(apart, schemas), '{}', []],
    ['refused by another schema', checker(apart, schemas, refuse), '{"id":1}', [sent]],
    ['of another schema', checker(ref('Base'), schemas), '{}', ['/id is required']],
    ['required in a response', responseChecker(apart, schemas), '{}', ['/id is required']],
  ])('hold for one direction: %s', (_what, check, text, faults) => {
    expect(check(text)).toEqual(faults);
  });
});

describe('an integer', () => {
  const schemas = {
    Whole: integer,
    Pair: { type: 'object', properties: { a: ref('Whole') }, additionalProperties: integer },
    Either: { oneOf: [{ type: 'string' }, { allOf: [integer, { minimum: 0 }] }] },
  };
  const all = {
    type: 'object',
    properties: {
      one: integer,
      list: { type: 'array', items: ref('Whole') },
      pair: ref('Pair'),
      either: ref('Either'),
      price: { type: 'number' },
      any: {},
    },
  };
  const text =
    '{"one":1.0,"list":[1,2.0,3],"pair":{"a":1e1,"b":2},"either":1.0,"price":1.0,"any":[1.0]}';
  const parameters = [{ name: 'q', in: 'query', schema: integer }];

  test('is written in plain digits, wherever it is', () => {
    const check = checker(all, schemas);
    expect(check(text)).toEqual([
      '/one must be an integer',
      '/list/1 must be an integer',
      '/pair/a must be an integer',
      one('/either must be a string'),
      one('/either must be an integer'),
      '/either must match one of the schemas',
    ]);
    const plain = text.replaceAll('.0,"', ',"').replaceAll('2.0', '2').replace('1e1', '1');
    expect(check(plain)).toEqual([]);
    expect(check('{"pair":{"b":1.0}}')).toEqual(['/pair/b must be an integer']);
  });

  test('may have a fraction of zero or an exponent where the operator says so, in parameters too', () => {
    const reading = { integers: 'any' } as const;
    const contract = taking(json(all).content, { schemas, reading }, { parameters });
    expect(bodyChecker(contract, 'application/json')(text)).toEqual([]);
    const ask = queryChecker(contract);
    expect(['q=1', 'q=1.0', 'q=1e2'].flatMap(ask)).toEqual([]);
    for (const bad of ['q=1.5', 'q=x', 'q=']) expect(ask(bad)).toHaveLength(1);
    const int64 = checker({ ...integer, format: 'int64' }, {}, reading);
    expect(int64('9223372036854775807.0')).toEqual([]);
    expect(int64('9223372036854775808.0')).toEqual(['must have the format int64']);
  });

  test('of one text says nothing about the next', () => {
    const contract = taking(json(integer).content, {}, { parameters });
    const [check, ask] = [bodyChecker(contract, 'application/json'), queryChecker(contract)];
    const found = [check('1.0'), check('1'), check('1.0 x'), ask('q=1'), check('1')];
    expect(found.map(({ length }) => length)).toEqual([1, 0, 1, 0, 0]);
  });
});

describe('many faults', () => {
  const Pet = {
    type: 'object',
    required: ['id'],
    properties: { id: integer },
    additionalProperties: false,
  };
  const list = (items: object, schemas = {}) => checker({ type: 'array', items }, schemas);
  const either = { oneOf: [integer, { type: 'boolean' }] };
  const filled = (count: number, value: unknown) => JSON.stringify(Array(count).fill(value));
  const wide = Object.fromEntries(numbers(10_000).map((i) => [`k${i}`, i]));

  test.each<[what: string, check: (text: string) => string[], text: string]>([
    ['many values', list(ref('Pet'), { Pet }), filled(100_000, {})],
    ['many members', list(ref('Pet'), { Pet }), JSON.stringify([wide])],
    ['values', list(Pet), filled(60, { a: 'x' })],
    ['values that have alternatives', list(either), filled(60, { a: 'x' })],
    ['members', list(ref('A'), { A: { properties: { a: either } } }), filled(60, { a: 'x' })],
  ])('are reported up to fifty: of %s', (_what, check, text) => {
    expect(check(text)).toHaveLength(50);
  });

  test('are reported in the order of the values', () => {
    const faults = ['/0/id is required', '/1/id is required', '/2/id is required'];
    expect(list(Pet)(filled(3, {}))).toEqual(faults);
  });

  test('behind alternatives are not mistaken for faults of the form that fits', () => {
    const forms = [integer, { type: 'string' }].map((items) => ({ type: 'array', items }));
    const check = checker({ type: 'object', properties: { list: { oneOf: forms }, n: integer } });
    expect(check(JSON.stringify({ list: Array(100).fill('a'), n: 'x' }))).toEqual([
      '/n must be an integer',
      'may have more faults than are listed',
    ]);
  });

  describe('behind alternatives inside each other', () => {
    const form = (tag: string) => ({
      type: 'object',
      properties: { next: ref('Node'), [tag]: integer },
    });
    const check = checker(ref('Node'), { Node: { anyOf: [form('a'), form('b'), integer] } });
    const nested = (leaf: string, end: string) =>
      `${'{"next":'.repeat(60)}${leaf}${end.repeat(60)}`;

    test('are reported from the innermost value on', () => {
      const faults = check(nested('1', ',"a":"","b":""}'));
      const inner = '/next'.repeat(59);
      expect(faults.slice(0, 2)).toEqual([
        one(`${inner}/a must be an integer`),
        one(`${inner}/b must be an integer`),
      ]);
      expect(new Set(faults).size).toBe(faults.length);
      expect(faults).toHaveLength(50);
    });

    test('are reported as far as they are kept, and that there may be more', () => {
      const faults = check(nested('"x"', '}'));
      expect(faults[0]).toBe(one(`${'/next'.repeat(60)} must be an object`));
      expect(faults.at(-1)).toBe('may have more faults than are listed');
      expect(faults.length).toBeLessThanOrEqual(50);
    });
  });
});

test('a long enum is not repeated in its fault', () => {
  const check = checker({ enum: Array.from({ length: 100 }, (_, i) => `value ${i}`) });
  expect(check('"value 7"')).toEqual([]);
  expect(check('"x"')).toEqual(['must be one of the 100 values that the contract lists']);
  expect(checker({ enum: ['y'.repeat(999)] })('"x"')).toEqual([
    'must be the value that the contract has',
  ]);
});

test('defaults are not written into a body, and types are not coerced', () => {
  const properties = { a: { ...integer, default: 1 } };
  const check = checker({ type: 'object', required: ['a'], properties });
  expect(check('{}')).toEqual(['/a is required']);
  expect(check('{"a":"1"}')).toEqual(['/a must be an integer']);
});

test.each<[schema: object, note: string]>([
  [{ nullable: true }, 'nullable has no effect without a type, as OpenAPI 3.0.3 says'],
  [
    { type: 'string', nullable: true, enum: ['x'] },
    'nullable has no effect: enum does not list null',
  ],
  [
    { type: 'string', format: 'iban' },
    'format iban of type string is not known: it is not enforced',
  ],
  [
    { type: 'string', format: 'int64' },
    'format int64 of type string is not known: it is not enforced',
  ],
  [{ type: 'string', const: 'x' }, 'const is not a field that OpenAPI 3.0 has here: it is ignored'],
  [
    { type: 'object', discriminator: { propertyName: 'x' } },
    'discriminator has no effect without oneOf or anyOf: what inherits from a schema is not looked for',
  ],
])('what has no effect is noted: %j', (schema, note) => {
  expect(notesOf(taking(json({ properties: { a: schema } }).content))).toEqual([note]);
});

test.each([0, 1, 2, 3, 4])('a length of %i counts code points, also without a type', (limit) => {
  const words = [['']];
  for (let i = 0; i < 5; i++)
    words.push(words[i]!.flatMap((word) => ['a', 'é', '🐶'].map((one) => word + one)));
  const length = { minLength: limit, maxLength: limit };
  for (const check of [checker({ type: 'string', ...length }), checker(length)]) {
    const fitting = words.flat().filter((word) => check(JSON.stringify(word)).length === 0);
    expect(fitting).toEqual(words.flat().filter((word) => [...word].length === limit));
  }
});

describe.each(['anyOf', 'oneOf'])('alternatives of %s', (keyword) => {
  const none = 'must match one of the schemas';
  const [A, B] = ['a', 'b'].map((name) => ({ type: 'object', required: [name] }));

  test('by name judge like those in place', () => {
    const alternatives = [
      { type: 'integer', minimum: 5 },
      { type: 'number', nullable: true, maximum: 7 },
      { type: 'object', required: ['a'], properties: { a: { type: 'string' } } },
      { type: 'object', required: ['a', 'b'] },
      { required: ['c'], maxProperties: 2 },
      { type: 'array', items: { type: 'boolean' } },
      { allOf: [{ type: 'string' }, { maxLength: 2 }] },
    ];
    const schemas = Object.fromEntries(alternatives.map((schema, i) => [`A${i}`, schema]));
    const check = checker({ type: 'array', items: { [keyword]: alternatives } });
    const named = { [keyword]: alternatives.map((_, i) => ref(`A${i}`)) };
    const byName = checker({ type: 'array', items: named }, schemas);
    const values =
      '1 5 6.5 9.5 5.0 12345678901234567890 null true "ab" "abc" [] [true] [1] {} {"a":"x"} {"a":1}' +
      ' {"a":1,"b":2} {"c":1} {"c":1,"d":2,"e":3} {"a":"x","c":1}';
    for (const value of values.split(' '))
      expect([value, byName(`[${value}]`)]).toEqual([value, check(`[${value}]`)]);
  });

  test('are not reported as if all had to be corrected', () => {
    const check = checker({ [keyword]: [A, B], required: ['c'] });
    const faults = ['/c is required', one('/a is required'), one('/b is required'), none];
    expect(new Set(check('{}'))).toEqual(new Set(faults));
    expect(check('{"a":1,"c":1}')).toEqual([]);
  });

  test('have faults that differ from equal ones of the whole value and of other values', () => {
    const schemas = { A, B };
    const either = { [keyword]: [ref('A'), ref('B')] };
    const check = checker({ allOf: [ref('A')], properties: { inner: ref('A'), either } }, schemas);
    expect(new Set(check('{"inner":{},"either":{}}'))).toEqual(
      new Set([
        '/a is required',
        '/inner/a is required',
        one('/either/a is required'),
        one('/either/b is required'),
        `/either ${none}`,
      ]),
    );
    expect(checker({ allOf: [ref('A'), either] }, schemas)('{}')).toEqual(
      expect.arrayContaining(['/a is required', one('/b is required'), none]),
    );
  });

  test('have plain faults if there is only one', () => {
    expect(checker({ [keyword]: [A] })('{}')).toContain('/a is required');
  });
});
