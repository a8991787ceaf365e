import { describe, expect, test } from '@jest/globals';
import { checker, done, load, notesOf, problemsOf, responseChecker } from './documents.ts';

type Case = readonly [
  schema: object,
  good: readonly string[],
  bad: Readonly<Record<string, readonly string[]>>,
];

/** The fault is one of an alternative. */
const one = (fault: string) => `${fault} (in one of the schemas)`;

const cases: Record<string, Case> = {
  'type string': [
    { type: 'string' },
    ['""', '"a"'],
    { 1: ['must be a string'], null: ['must be a string'] },
  ],
  'type boolean': [
    { type: 'boolean' },
    ['true', 'false'],
    { 0: ['must be true or false'], '"true"': ['must be true or false'] },
  ],
  'type array': [
    { type: 'array', items: {} },
    ['[]', '[1,"a"]'],
    { '{}': ['must be a list'], '""': ['must be a list'] },
  ],
  'type object': [
    { type: 'object' },
    ['{}', '{"a":1}'],
    { '[]': ['must be an object'], null: ['must be an object'] },
  ],
  'type number': [
    { type: 'number' },
    ['1', '1.5', '-1e300', '123456789012345678901'],
    { '"1"': ['must be a number'] },
  ],
  'type integer': [
    { type: 'integer' },
    ['1', '-0', '123456789012345678901234567890'],
    {
      1.5: ['must be an integer'],
      '1.0': ['must be an integer'],
      '1e2': ['must be an integer'],
      '1e20': ['must be an integer'],
      '-0.0': ['must be an integer'],
      '"1"': ['must be an integer'],
      true: ['must be an integer'],
      null: ['must be an integer'],
    },
  ],
  'no type': [
    { minimum: 5, minLength: 2, minItems: 1 },
    ['5', '"ab"', '[1]', 'true', 'null', '{}'],
    {
      4: ['must be at least 5'],
      '"a"': ['must have at least 2 characters'],
      '[]': ['must have at least 1 entry'],
    },
  ],
  nullable: [
    { type: 'string', nullable: true, minLength: 1 },
    ['null', '"a"'],
    { 1: ['must be a string or null'] },
  ],
  'nullable integer': [
    { type: 'integer', nullable: true, minimum: 1 },
    ['null', '1'],
    { '"a"': ['must be an integer or null'] },
  ],
  'nullable enum with null': [
    { type: 'string', nullable: true, enum: ['a', null] },
    ['null', '"a"'],
    { '"b"': ['must be one of: a, null'] },
  ],
  minimum: [
    { type: 'integer', minimum: 1 },
    ['1', '99999999999999999999'],
    { 0: ['must be at least 1'], '-99999999999999999999': ['must be at least 1'] },
  ],
  maximum: [
    { type: 'number', maximum: 1.5 },
    ['1.5', '-99999999999999999999'],
    { 1.6: ['must be at most 1.5'], '99999999999999999999': ['must be at most 1.5'] },
  ],
  exclusiveMinimum: [
    { minimum: 1, exclusiveMinimum: true },
    ['1.1'],
    { 1: ['must be more than 1'] },
  ],
  exclusiveMaximum: [
    { maximum: 1, exclusiveMaximum: true },
    ['0.9'],
    { 1: ['must be less than 1'], 1.1: ['must be less than 1'] },
  ],
  'exclusiveMinimum false': [
    { minimum: 1, exclusiveMinimum: false },
    ['1'],
    { 0: ['must be at least 1'] },
  ],
  'limits past 2^53': [
    { type: 'integer', minimum: 9007199254740993n, maximum: 9007199254740995n },
    ['9007199254740993', '9007199254740995'],
    {
      '9007199254740992': ['must be at least 9007199254740993'],
      '9007199254740996': ['must be at most 9007199254740995'],
    },
  ],
  multipleOf: [
    { multipleOf: 0.01 },
    ['0.07', '19.99', '1', '-0.05', '12345678901234567890'],
    { 0.075: ['must be a multiple of 0.01'] },
  ],
  'multipleOf past 2^53': [
    { multipleOf: 10 },
    ['90071992547409930'],
    { '90071992547409931': ['must be a multiple of 10'] },
  ],
  enum: [
    { enum: ['a', 1, null, true, [1], { a: [1, 'x'], b: {} }] },
    ['"a"', '1', '1.0', 'null', 'true', '[1]', '{"b":{},"a":[1,"x"]}'],
    {
      '"1"': ['must be one of: a, 1, null, true, [1], {"a":[1,"x"],"b":{}}'],
      '["1"]': [expect.anything()] as never,
      '{"a":[1,"x"]}': [expect.anything()] as never,
    },
  ],
  'an enum of lists, objects and texts that begin as their canonical forms do': [
    { enum: [[1], { a: 1 }, '\u0000b'] },
    ['[1]', '{"a":1}', '"\\u0000b"'],
    {
      '"\\u0000[1]"': [expect.anything()] as never,
      '"\\u0000{\\"a\\":1}"': [expect.anything()] as never,
      '"\\u0000\\"\\\\u0000b\\""': [expect.anything()] as never,
    },
  ],
  'an enum of a text alone that begins as a canonical form does': [
    { enum: ['\u0000b', 'c'] },
    ['"\\u0000b"', '"c"'],
    { '"b"': ['must be one of: \u0000b, c'] },
  ],
  'lists beside texts that look like their canonical form': [
    { uniqueItems: true },
    ['[[1],"\\u0000[1]"]'],
    { '[[1],[1]]': ['must not have duplicate entries'] },
  ],
  'enum past 2^53': [
    { type: 'integer', enum: [9007199254740993n] },
    ['9007199254740993'],
    { '9007199254740992': ['must be 9007199254740993'] },
  ],
  'enum of floats past 2^53': [
    { enum: [1e20, [1e20]] },
    ['1e20', '100000000000000000000', '[1e20]'],
    { '100000000000000000001': ['must be one of: 100000000000000000000, [100000000000000000000]'] },
  ],
  'a limit past 2^53 that is written as a float': [
    { type: 'number', maximum: 9.727837981879871e26, exclusiveMaximum: true },
    ['972783798187987099999999999', '9.7e26'],
    {
      '9.727837981879871e+26': ['must be less than 972783798187987100000000000'],
      '972783798187987108000000000': ['must be less than 972783798187987100000000000'],
    },
  ],
  'a length past 2^53': [
    { type: 'string', maxLength: 18446744073709551615n, minLength: 1 },
    ['"a"'],
    {},
  ],
  'an enum past 2^53 that is written as a float': [
    { enum: [1e23] },
    ['1e23', '100000000000000000000000'],
    { '99999999999999991611392': ['must be 100000000000000000000000'] },
  ],
  'a long enum': [
    { enum: Array.from({ length: 100 }, (_, i) => `value ${i}`) },
    ['"value 7"'],
    { '"x"': ['must be one of the 100 values that the contract lists'] },
  ],
  'minLength and maxLength in code points': [
    { type: 'string', minLength: 2, maxLength: 3 },
    ['"ab"', '"🐶🐱"', '"🐶🐱🐭"'],
    {
      '"🐶"': ['must have at least 2 characters'],
      '"🐶🐱🐭🐹"': ['must have at most 3 characters'],
    },
  ],
  pattern: [
    { type: 'string', pattern: '^[A-Z]{2}$' },
    ['"AB"'],
    { '"AbC"': ['must match the pattern ^[A-Z]{2}$'] },
  ],
  'pattern with u': [
    { type: 'string', pattern: '^.$' },
    ['"🐶"'],
    { '"ab"': ['must match the pattern ^.$'] },
  ],
  'pattern that is matched by an automaton': [
    { type: 'string', pattern: '^(a+)+$' },
    ['"aaa"'],
    { '"aab"': ['must match the pattern ^(a+)+$'] },
  ],
  'format date-time': [
    { type: 'string', format: 'date-time' },
    ['"2024-02-29T12:00:00Z"'],
    { '"2026-02-30T12:00:00Z"': ['must have the format date-time'] },
  ],
  'format int32': [
    { type: 'integer', format: 'int32' },
    ['2147483647', '-2147483648'],
    { '2147483648': ['must have the format int32'], '-2147483649': ['must have the format int32'] },
  ],
  'format int64 of number': [
    { type: 'number', format: 'int64' },
    ['5.0'],
    { 5.5: ['must have the format int64'] },
  ],
  'format float': [
    { type: 'number', format: 'float' },
    ['3.4e38', '1.5'],
    { '3.5e38': ['must have the format float'] },
  ],
  'format double': [{ type: 'number', format: 'double' }, ['1.7e308'], {}],
  'minItems, maxItems': [
    { type: 'array', items: {}, minItems: 1, maxItems: 2 },
    ['[1]', '[1,2]'],
    { '[]': ['must have at least 1 entry'], '[1,2,3]': ['must have at most 2 entries'] },
  ],
  uniqueItems: [
    { type: 'array', items: {}, uniqueItems: true },
    ['[1,"1",true,"true",null,"null",[],{},[[]],"[]"]', '[9007199254740993,9007199254740992]'],
    {
      '[1,1.0]': ['must not have duplicate entries'],
      '[{"a":1,"b":2},{"b":2,"a":1}]': ['must not have duplicate entries'],
      '[1e20,100000000000000000000]': ['must not have duplicate entries'],
    },
  ],
  items: [
    { type: 'array', items: { type: 'integer' } },
    ['[1,2]'],
    { '[1,"a",2.5]': ['/1 must be an integer', '/2 must be an integer'] },
  ],
  'properties and required': [
    {
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'integer' }, b: { type: 'string' } },
    },
    ['{"a":1}', '{"a":1,"b":"","c":null}'],
    {
      '{}': ['/a is required'],
      '{"a":"x","b":1}': ['/a must be an integer', '/b must be a string'],
    },
  ],
  'properties with names of Object': [
    {
      type: 'object',
      required: ['constructor', 'toString'],
      properties: { constructor: { type: 'integer' } },
      additionalProperties: false,
    },
    [],
    {
      '{}': ['/constructor is required', '/toString is required'],
      '{"constructor":"a"}': ['/toString is required', '/constructor must be an integer'],
      '{"__proto__":1,"constructor":1,"toString":1}': [
        '/__proto__ is not defined in the contract',
        '/toString is not defined in the contract',
      ],
    },
  ],
  'names with / and ~': [
    { type: 'object', required: ['a/b'], properties: { 'c~d': { type: 'integer' } } },
    ['{"a/b":1}'],
    { '{"c~d":"x"}': ['/a~1b is required', '/c~0d must be an integer'] },
  ],
  'additionalProperties false': [
    { type: 'object', properties: { a: {} }, additionalProperties: false },
    ['{}', '{"a":1}'],
    { '{"a":1,"b":2}': ['/b is not defined in the contract'] },
  ],
  'additionalProperties schema': [
    { type: 'object', properties: { a: {} }, additionalProperties: { type: 'integer' } },
    ['{"a":"x","b":2}'],
    { '{"b":"x"}': ['/b must be an integer'] },
  ],
  'minProperties, maxProperties': [
    { type: 'object', minProperties: 1, maxProperties: 2 },
    ['{"a":1}'],
    {
      '{}': ['must have at least 1 member'],
      '{"a":1,"b":2,"c":3}': ['must have at most 2 members'],
    },
  ],
  allOf: [
    { allOf: [{ type: 'integer' }, { minimum: 2 }, { maximum: 3 }] },
    ['2', '3'],
    { 1: ['must be at least 2'], 4: ['must be at most 3'] },
  ],
  anyOf: [
    { anyOf: [{ type: 'integer' }, { type: 'string', minLength: 2 }] },
    ['1', '"ab"'],
    {
      '"a"': [
        one('must be an integer'),
        one('must have at least 2 characters'),
        'must match one of the schemas',
      ],
    },
  ],
  oneOf: [
    { oneOf: [{ type: 'integer' }, { minimum: 5 }] },
    ['4', '5.5', '"a"'],
    {
      6: ['must match only one of the schemas'],
      4.5: [one('must be an integer'), one('must be at least 5'), 'must match one of the schemas'],
    },
  ],
  not: [
    { not: { type: 'integer' } },
    ['"a"', '1.5'],
    { 1: ['must not match the excluded schema'] },
  ],
};

describe.each(Object.entries(cases))('%s', (_, [schema, good, bad]) => {
  const check = checker(schema as Record<string, unknown>);

  test('takes what fits', () => {
    for (const text of good) expect([text, check(text)]).toEqual([text, []]);
  });

  test('refuses what does not', () => {
    for (const [text, faults] of Object.entries(bad))
      expect([text, check(text)]).toEqual([text, faults]);
  });
});

test.each([
  [2n ** 63n - 1n, []],
  [2n ** 63n, ['must have the format int64']],
  [-(2n ** 63n), []],
  [-(2n ** 63n) - 1n, ['must have the format int64']],
])('int64 and %d: %j', (integer, faults) => {
  const check = checker({ type: 'integer', format: 'int64' });
  expect(check(String(integer))).toEqual(faults);
  const any = checker({ type: 'integer', format: 'int64' }, {}, { integers: 'any' });
  expect(any(`${integer}.0`)).toEqual(faults);
});

describe('references', () => {
  const tree = {
    type: 'object',
    required: ['value'],
    properties: {
      value: { type: 'integer' },
      children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
    },
  };

  test('may be recursive', () => {
    const check = checker({ $ref: '#/components/schemas/Tree' }, { Tree: tree });
    expect(check('{"value":1,"children":[{"value":2,"children":[]}]}')).toEqual([]);
    expect(check('{"value":1,"children":[{"children":[{"value":"x"}]}]}')).toEqual([
      '/children/0/value is required',
      '/children/0/children/0/value must be an integer',
    ]);
  });

  test('make what stands beside them count for nothing', () => {
    const schema = { $ref: '#/components/schemas/A', minLength: 5, nullable: true };
    const check = checker(schema, { A: { type: 'string' } });
    expect(check('"a"')).toEqual([]);
    expect(check('null')).toEqual(['must be a string']);
    const content = { 'application/json': { schema } };
    const contract = load(
      { '/': { post: { requestBody: { content }, responses: done } } },
      { schemas: { A: { type: 'string' } } },
    );
    expect(notesOf(contract)).toEqual([
      'minLength beside $ref is ignored, as OpenAPI 3.0 says',
      'nullable beside $ref is ignored, as OpenAPI 3.0 says',
    ]);
  });

  test('may lead anywhere in the document, in several steps', () => {
    const check = checker(
      { $ref: '#/components/schemas/A/properties/x~1y' },
      {
        A: { type: 'object', properties: { 'x/y': { $ref: '#/components/schemas/B' } } },
        B: { $ref: '#/components/schemas/C' },
        C: { type: 'integer' },
      },
    );
    expect(check('1')).toEqual([]);
    expect(check('"a"')).toEqual(['must be an integer']);
  });

  test('that never go deeper are refused', () => {
    const use = (schemas: object) => () =>
      load(
        {
          '/': {
            post: {
              requestBody: {
                content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } },
              },
              responses: done,
            },
          },
        },
        schemas as never,
      );
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    expect(problemsOf(use({ schemas: { A: ref('B'), B: ref('A') } }))).toContainEqual(
      expect.stringContaining('refers to itself'),
    );
    expect(
      problemsOf(
        use({
          schemas: { A: { allOf: [ref('B')] }, B: { anyOf: [{ type: 'integer' }, ref('A')] } },
        }),
      ),
    ).toEqual([
      expect.stringContaining(
        '/components/schemas/A: the schema refers to itself without going deeper',
      ),
      expect.stringContaining(
        '/components/schemas/B: the schema refers to itself without going deeper',
      ),
    ]);
    const deep = { A: { type: 'object', properties: { b: ref('B') } }, B: { allOf: [ref('A')] } };
    expect(problemsOf(use({ schemas: deep }))).toEqual([]);
    const late = {
      A: { properties: { x: ref('B') }, allOf: [ref('B')] },
      B: { allOf: [ref('A')] },
    };
    expect(problemsOf(use({ schemas: late }))).toHaveLength(2);
  });
});

describe('readOnly and writeOnly', () => {
  const account = {
    type: 'object',
    required: ['id', 'name', 'secret'],
    properties: {
      id: { type: 'integer', readOnly: true },
      name: { type: 'string' },
      secret: { type: 'string', writeOnly: true },
    },
  };

  test('readOnly properties are required in answers, and may be sent back in requests', () => {
    const check = checker(account);
    expect(check('{"name":"a","secret":"b"}')).toEqual([]);
    expect(check('{"id":1,"name":"a","secret":"b"}')).toEqual([]);
    expect(check('{"id":"1","name":"a"}')).toEqual([
      '/secret is required',
      '/id must be an integer',
    ]);
  });

  test('readOnly properties are refused in requests if the setting says so', () => {
    const check = checker(account, {}, { readOnly: 'refuse' });
    expect(check('{"name":"a","secret":"b"}')).toEqual([]);
    expect(check('{"id":1,"name":"a"}')).toEqual([
      '/secret is required',
      '/id is read-only: it must not be sent',
    ]);
  });

  test('writeOnly properties are required in requests and refused in answers', () => {
    const check = responseChecker(account);
    expect(check('{"id":1,"name":"a"}')).toEqual([]);
    expect(check('{"name":"a","secret":"b"}')).toEqual([
      '/id is required',
      '/secret is write-only: it must not be in a response',
    ]);
  });

  test('count wherever an allOf requires them', () => {
    const base = { type: 'object', required: ['id'], properties: { name: { type: 'string' } } };
    const schema = {
      allOf: [
        { $ref: '#/components/schemas/Base' },
        { properties: { id: { $ref: '#/components/schemas/Id' } } },
      ],
    };
    const schemas = { Base: base, Id: { type: 'integer', readOnly: true } };
    expect(checker(schema, schemas)('{}')).toEqual([]);
    expect(checker(schema, schemas, { readOnly: 'refuse' })('{"id":1}')).toEqual([
      '/id is read-only: it must not be sent',
    ]);
    expect(checker({ $ref: '#/components/schemas/Base' }, schemas)('{}')).toEqual([
      '/id is required',
    ]);
    expect(responseChecker(schema, schemas)('{}')).toEqual(['/id is required']);
  });
});

describe('an integer', () => {
  const integer = { type: 'integer' };
  const schemas = {
    Whole: integer,
    Pair: {
      type: 'object',
      properties: { a: { $ref: '#/components/schemas/Whole' } },
      additionalProperties: integer,
    },
    Either: { oneOf: [{ type: 'string' }, { allOf: [integer, { minimum: 0 }] }] },
  };
  const all = {
    type: 'object',
    properties: {
      one: integer,
      list: { type: 'array', items: { $ref: '#/components/schemas/Whole' } },
      pair: { $ref: '#/components/schemas/Pair' },
      either: { $ref: '#/components/schemas/Either' },
      price: { type: 'number' },
      any: {},
    },
  };
  const text =
    '{"one":1.0,"list":[1,2.0,3],"pair":{"a":1e1,"b":2},"either":1.0,"price":1.0,"any":[1.0]}';

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
    expect(check(text.replaceAll('.0,"', ',"').replaceAll('2.0', '2').replace('1e1', '1'))).toEqual(
      [],
    );
    expect(check('{"pair":{"b":1.0}}')).toEqual(['/pair/b must be an integer']);
  });

  test('may have a fraction of zero or an exponent where the operator says so, in parameters too', () => {
    const post = {
      parameters: [{ name: 'q', in: 'query', schema: integer }],
      requestBody: { content: { 'application/json': { schema: all } } },
      responses: done,
    };
    const operation = load({ '/': { post } }, { schemas }, { integers: 'any' }).operations[0]!;
    expect(operation.body!.media('application/json')!.check(Buffer.from(text))).toEqual([]);
    for (const good of ['q=1', 'q=1.0', 'q=1e2'])
      expect(operation.checkParameters([], good, [])).toEqual([]);
    for (const bad of ['q=1.5', 'q=x', 'q='])
      expect(operation.checkParameters([], bad, [])).toHaveLength(1);
  });

  test('of one text says nothing about the next', () => {
    const operation = load({
      '/': {
        post: {
          parameters: [{ name: 'q', in: 'query', schema: integer }],
          requestBody: { content: { 'application/json': { schema: integer } } },
          responses: done,
        },
      },
    }).operations[0]!;
    const check = (json: string) =>
      operation.body!.media('application/json')!.check(Buffer.from(json)).length;
    expect([
      check('1.0'),
      check('1'),
      check('1.0 x'),
      operation.checkParameters([], 'q=1', []).length,
      check('1'),
    ]).toEqual([1, 0, 1, 0, 0]);
  });
});

describe('many faults', () => {
  const pet = {
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'integer' } },
    additionalProperties: false,
  };

  test('are reported up to fifty, however many exist', () => {
    const check = checker(
      { type: 'array', items: { $ref: '#/components/schemas/Pet' } },
      { Pet: pet },
    );
    expect(check(JSON.stringify(Array(3).fill({})))).toEqual([
      '/0/id is required',
      '/1/id is required',
      '/2/id is required',
    ]);
    expect(check(JSON.stringify(Array(100_000).fill({})))).toHaveLength(50);
    expect(
      check(
        JSON.stringify([
          Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, i])),
        ]),
      ),
    ).toHaveLength(50);
  });

  test('are reported up to fifty if each value has alternatives', () => {
    const list = (items: object) => ({ 'application/json': { schema: { type: 'array', items } } });
    const post = (schema: object) => ({
      post: { requestBody: { content: schema }, responses: done },
    });
    const either = { oneOf: [{ type: 'integer' }, { type: 'boolean' }] };
    const contract = load(
      {
        '/a': post(list(pet)),
        '/b': post(list(either)),
        '/c': post(list({ $ref: '#/components/schemas/A' })),
      },
      {
        schemas: { A: { properties: { a: either } } },
      },
    );
    const faults = contract.operations.map(({ body }) =>
      body!
        .media('application/json')!
        .check(Buffer.from(JSON.stringify(Array(60).fill({ a: 'x' })))),
    );
    expect(faults.map(({ length }) => length)).toEqual([50, 50, 50]);
  });

  test('behind alternatives are not mistaken for faults of the form that fits', () => {
    const schema = {
      type: 'object',
      properties: {
        list: {
          oneOf: [
            { type: 'array', items: { type: 'integer' } },
            { type: 'array', items: { type: 'string' } },
          ],
        },
        n: { type: 'integer' },
      },
    };
    const text = JSON.stringify({ list: Array(100).fill('a'), n: 'x' });
    expect(checker(schema)(text)).toEqual([
      '/n must be an integer',
      'may have more faults than are listed',
    ]);
  });

  test('behind alternatives inside each other are reported from the innermost value on', () => {
    const next = { $ref: '#/components/schemas/Node' };
    const form = (tag: string) => ({
      type: 'object',
      properties: { next, [tag]: { type: 'integer' } },
    });
    const node = { anyOf: [form('a'), form('b'), { type: 'integer' }] };
    const text = `${'{"next":'.repeat(60)}1${',"a":"","b":""}'.repeat(60)}`;
    const faults = checker({ $ref: '#/components/schemas/Node' }, { Node: node })(text);
    expect(faults.slice(0, 2)).toEqual([
      one(`${'/next'.repeat(59)}/a must be an integer`),
      one(`${'/next'.repeat(59)}/b must be an integer`),
    ]);
    expect(new Set(faults).size).toBe(faults.length);
    expect(faults).toHaveLength(50);
  });

  test('behind alternatives inside each other are reported as far as they are kept, and that there may be more', () => {
    const next = { $ref: '#/components/schemas/Node' };
    const form = (tag: string) => ({
      type: 'object',
      properties: { next, [tag]: { type: 'integer' } },
    });
    const node = { anyOf: [form('a'), form('b'), { type: 'integer' }] };
    const faults = checker(next, { Node: node })(`${'{"next":'.repeat(60)}"x"${'}'.repeat(60)}`);
    expect(faults[0]).toBe(one(`${'/next'.repeat(60)} must be an object`));
    expect(faults.at(-1)).toBe('may have more faults than are listed');
    expect(faults.length).toBeLessThanOrEqual(50);
  });
});

test('defaults are not written into a body, and types are not coerced', () => {
  const check = checker({
    type: 'object',
    required: ['a'],
    properties: { a: { type: 'integer', default: 1 } },
  });
  expect(check('{}')).toEqual(['/a is required']);
  expect(check('{"a":"1"}')).toEqual(['/a must be an integer']);
});

test('what has no effect is noted', () => {
  const schema = {
    type: 'object',
    properties: {
      a: { nullable: true },
      b: { type: 'string', nullable: true, enum: ['x'] },
      c: { type: 'string', format: 'iban' },
      d: { type: 'string', format: 'int64' },
      e: { type: 'string', const: 'x' },
      f: { type: 'object', discriminator: { propertyName: 'x' } },
    },
  };
  const content = { 'application/json': { schema } };
  expect(notesOf(load({ '/': { post: { requestBody: { content }, responses: done } } }))).toEqual([
    'nullable has no effect without a type, as OpenAPI 3.0.3 says',
    'nullable has no effect: enum does not list null',
    'format iban of type string is not known: it is not enforced',
    'format int64 of type string is not known: it is not enforced',
    'const is not a field that OpenAPI 3.0 has here: it is ignored',
    'discriminator has no effect without oneOf or anyOf: what inherits from a schema is not looked for',
  ]);
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

describe.each(['anyOf', 'oneOf'])('alternatives of %s by name', (keyword) => {
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
  const named = alternatives.map((_, i) => ({ $ref: `#/components/schemas/A${i}` }));
  const inPlace = checker({ type: 'array', items: { [keyword]: alternatives } });
  const byName = checker({ type: 'array', items: { [keyword]: named } }, schemas);

  test.each([
    '1',
    '5',
    '6.5',
    '9.5',
    '5.0',
    '12345678901234567890',
    'null',
    'true',
    '"ab"',
    '"abc"',
    '[]',
    '[true]',
    '[1]',
    '{}',
    '{"a":"x"}',
    '{"a":1}',
    '{"a":1,"b":2}',
    '{"c":1}',
    '{"c":1,"d":2,"e":3}',
    '{"a":"x","c":1}',
  ])('judge %s like those in place', (value) => {
    expect(byName(`[${value}]`)).toEqual(inPlace(`[${value}]`));
  });
});

describe.each(['anyOf', 'oneOf'])('faults of alternatives of %s', (keyword) => {
  const member = (name: string) => ({ type: 'object', required: [name] });
  const none = 'must match one of the schemas';

  test('are not reported as if all had to be corrected', () => {
    const check = checker({ [keyword]: [member('a'), member('b')], required: ['c'] });
    expect(new Set(check('{}'))).toEqual(
      new Set(['/c is required', one('/a is required'), one('/b is required'), none]),
    );
    expect(check('{"a":1,"c":1}')).toEqual([]);
  });

  test('differ from equal faults of the whole value and of other values', () => {
    const schemas = { A: member('a'), B: member('b') };
    const [a, b] = ['A', 'B'].map((name) => ({ $ref: `#/components/schemas/${name}` }));
    const check = checker(
      { allOf: [a], properties: { inner: a, either: { [keyword]: [a, b] } } },
      schemas,
    );
    expect(new Set(check('{"inner":{},"either":{}}'))).toEqual(
      new Set([
        '/a is required',
        '/inner/a is required',
        one('/either/a is required'),
        one('/either/b is required'),
        `/either ${none}`,
      ]),
    );
    expect(checker({ allOf: [a, { [keyword]: [a, b] }] }, schemas)('{}')).toEqual(
      expect.arrayContaining(['/a is required', one('/b is required'), none]),
    );
  });

  test('of a single alternative are faults', () => {
    expect(checker({ [keyword]: [member('a')] })('{}')).toContain('/a is required');
  });
});
