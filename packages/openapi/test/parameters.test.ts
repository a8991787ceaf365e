import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Reading } from '../src/index.ts';
import { asking, done, load, notesOf, only, queryChecker, short } from './documents.ts';

type Json = Record<string, unknown>;

const query = (schema: object, rest: object = {}) => ({ name: 'q', in: 'query', schema, ...rest });

const ask = (parameter: object, text: string) => queryChecker(asking([parameter]))(text);

const fits = (schema: object) => (text: string) => ask(query(schema), text).length === 0;

test.each<[type: string, fault: string, valid: string[], invalid: string[]]>([
  [
    'integer',
    'an integer',
    ['0', '-12', '123456789012345678901234567890'],
    ['01', '%2B1', '1.0', '1e2', '%201', '', '0x1', '٣'],
  ],
  ['number', 'a number', ['1.5e-3'], ['.5', 'NaN', 'Infinity', '1e999']],
  ['boolean', 'true or false', ['true'], ['True', '1']],
  ['string', '', ['1', 'true', ''], []],
])('text becomes a value of the type %s, or is not %s', (type, fault, valid, invalid) => {
  const check = (text: string) => ask(query({ type }), `q=${text}`);
  for (const text of valid) expect([text, check(text)]).toEqual([text, []]);
  for (const text of invalid) expect([text, check(text)]).toEqual([text, [`/q must be ${fault}`]]);
});

const five = { type: 'integer', maximum: 5 };
const digits = { oneOf: [five, { type: 'string', pattern: '^[0-9]{6}$' }] };
const allOf = { allOf: [{ type: 'integer' }, { minimum: 3 }] };
const oneOf = { oneOf: [{ type: 'boolean' }, five] };
const patches = { type: 'array', items: { type: 'string', enum: ['patch'] } };
const patchesOrNumber = { oneOf: [patches, { type: 'integer' }] };
const patchesOrText = { oneOf: [patches, { type: 'string', minLength: 7 }] };

test.each<[schema: object, valid: string[], invalid: string[]]>([
  [allOf, ['q=3'], ['q=2']],
  [oneOf, ['q=5', 'q=false'], ['q=6']],
  // It stays text where it may be.
  [digits, ['q=123456', 'q=5'], ['q=12']],
  [{ enum: ['1', 'a'] }, ['q=1'], []],
  [{ enum: ['a=b'] }, ['q=a=b'], []],
  [{}, ['q=1'], []],
  // A value alone is a list of one, or what else the schema allows.
  [patchesOrNumber, ['q=patch', 'q=patch&q=patch', 'q=17'], ['q=low', 'q=17&q=17']],
  [patchesOrText, ['q=patch', 'q=patch&q=patch', 'q=severity'], ['q=low', 'q=severity&q=severity']],
  // An enum without a type says the type.
  [{ enum: [1, 2] }, ['q=1'], ['q=3']],
])('text becomes what %j says', (schema, valid, invalid) => {
  expect([valid, invalid].map((texts) => texts.filter(fits(schema)))).toEqual([valid, []]);
});

test('a 64-bit integer is in its range', () => {
  const schema = { type: 'integer', format: 'int64' };
  const id = { name: 'id', in: 'path', required: true, schema };
  const operation = only(asking([id], {}, '/{id}'));
  const faults = (text: string) => operation.checkParameters([text], '', []).length;
  const valid = ['9223372036854775807', '-9223372036854775808', '9007199254740993'];
  const long = ['1e400'.padEnd(400, '0'), '9'.repeat(400)];
  const invalid = ['9223372036854775808', '-9223372036854775809', ...long];
  expect(valid.map(faults)).toEqual([0, 0, 0]);
  expect(invalid.map(faults)).toEqual([1, 1, 1, 1]);
});

describe('a query', () => {
  const long = { name: 'long name', in: 'query', required: true, schema: { type: 'string' } };
  const check = queryChecker(asking([query({ type: 'integer' }), long]));
  const unused = query({ type: 'integer' }, { allowEmptyValue: true, required: true });
  const plus = { type: 'string', enum: ['a+b/c?d'] };
  const unknown = 'is not a parameter of this operation';

  test.each<[text: string, ...faults: string[]]>([
    // In any order, with + for a space.
    ['long+name=a&q=1'],
    ['q=1&&long%20name=a&'],
    ['', '/long name is required'],
    [
      'q=x&q=y&z=1&z=2&%2F~=1',
      '/q is given more than once',
      '/long name is required',
      `/z ${unknown}`,
      `/~1~0 ${unknown}`,
    ],
    [`long+name=a&${'x'.repeat(500)}%0A=1`, `/${'x'.repeat(63)}… ${unknown}`],
    ['long+name=a&a%0Ab=1', `/a\\u{a}b ${unknown}`],
    ...['%', '%4', '%zz', '%ff', '%c0%af', '%ed%a0%80'].flatMap((bad): [string, string][] => [
      [`long+name=${bad}`, '/long name must be UTF-8 in valid percent-encoding'],
      [`long+name=a&${bad}=1`, 'has a name that is not UTF-8 in valid percent-encoding'],
    ]),
  ])('%s has all faults of it: %s', (text, ...faults) => {
    expect(check(text)).toEqual(faults);
  });

  test('never gives more than fifty faults', () => {
    const many = Array.from({ length: 5000 }, (_, i) => `x${i}=1`).join('&');
    expect(check(many)).toHaveLength(50);
  });

  test('may have unknown names if the gateway is configured to pass them', () => {
    const reading = { unknownQuery: 'pass' } as const;
    const lenient = queryChecker(asking([query({ type: 'integer' })], { reading }));
    expect(lenient('a=1&%ff=2&q=1')).toEqual([]);
    expect(lenient('a=1&q=x')).toEqual(['/q must be an integer']);
    expect(queryChecker(asking([], { reading }))('a=1&b[]=1')).toEqual([]);
    // Rails, PHP and qs read q.
    expect(lenient('_method=DELETE')).toEqual([`/_method ${unknown}`]);
    expect(lenient('q[]=99')).toEqual([`/q[] ${unknown}: did you mean q?`]);
    expect(queryChecker(asking([]))('a=1')).toEqual([`/a ${unknown}`]);
  });

  test('has no raw semicolon, because Rack 2 reads another parameter behind it', () => {
    const text = { name: 'text', in: 'query', schema: { type: 'string' } };
    const digit = query({ type: 'integer', maximum: 9 });
    const faultsWith = (reading: Reading, sent: string) =>
      queryChecker(asking([text, digit], { reading }))(sent);
    const fault = 'has a ";", which some servers read as "&": send it as %3B';
    for (const unknownQuery of ['refuse', 'pass'] as const)
      expect(faultsWith({ unknownQuery }, 'text=a;q=50')).toEqual([fault]);
    expect(faultsWith({}, 'text=a%3Bq=50')).toEqual([]);
    expect(faultsWith({ semicolon: 'pass' }, 'text=a;q=50')).toEqual([]);
  });

  test.each<[what: string, parameter: object, text: string, ...faults: string[]]>([
    ['an empty text', unused, 'q='],
    ['a name alone', unused, 'q'],
    ['nothing', unused, '', '/q is required'],
    [
      'an empty text without allowEmptyValue',
      query({ type: 'integer' }),
      'q=',
      '/q must be an integer',
    ],
    ['a + with allowReserved, which is itself', query(plus, { allowReserved: true }), 'q=a+b/c?d'],
    ['a + that is a space', query(plus), 'q=a+b/c?d', '/q must be a+b/c?d'],
    ['a + that is encoded', query(plus), 'q=a%2Bb/c?d'],
    ['a number of a combination', query(allOf), 'q=2', '/q must be at least 3'],
    ['a number of an enum', query({ enum: [1, 2] }), 'q=3', '/q must be one of: 1, 2'],
  ])('may have %s', (_what, parameter, text, ...faults) => {
    expect(ask(parameter, text)).toEqual(faults);
  });
});

const list = { type: 'array', items: { type: 'integer' }, maxItems: 3 };

test.each<[place: 'header' | 'cookie', parameter: Json, sent: string[], ...faults: string[]]>([
  ['header', { schema: { type: 'integer' } }, ['Host', 'a', 'x-THING', '7']],
  ['header', { schema: { type: 'integer' } }, ['x-thing', 'a'], '/X-Thing must be an integer'],
  ['header', { schema: {}, required: true }, ['Thing', 'a'], '/X-Thing is required'],
  ['header', { schema: list }, ['x-thing', '1, 2', 'X-Thing', '3']],
  [
    'header',
    { schema: list },
    ['x-thing', '1,2', 'X-Thing', '3,4'],
    '/X-Thing must have at most 3 entries',
  ],
  [
    'header',
    { schema: { type: 'integer' } },
    ['x-thing', '1', 'x-thing', '1'],
    '/X-Thing is given more than once',
  ],
  // Not percent-decoded.
  ['header', { schema: { enum: ['%41'] } }, ['x-thing', '%41']],
  ['header', { schema: { type: 'string' } }, ['x-thing', '%zz']],
  // Others may be anything.
  ['cookie', { schema: { type: 'integer' } }, ['a=1; X-Thing=7; b=%zz; c; d=1&2']],
  ['cookie', { schema: { type: 'integer' } }, ['a=1', 'X-Thing=7']],
  ['cookie', { schema: { type: 'integer' } }, ['X-Thing=x'], '/X-Thing must be an integer'],
  ['cookie', { schema: {}, required: true }, ['a=1'], '/X-Thing is required'],
  ['cookie', { schema: {}, required: true }, [], '/X-Thing is required'],
  ['cookie', { schema: {} }, ['X-Thing=1; X-Thing=2'], '/X-Thing is given more than once'],
  // As the most lenient servers read them.
  ['cookie', { schema: { type: 'integer' } }, ['X-Thing \t=x'], '/X-Thing must be an integer'],
  ['cookie', { schema: { type: 'integer' } }, ['X-Thing =1; b']],
  ['cookie', { schema: {} }, ['X-Thing=1; X-Thing =2'], '/X-Thing is given more than once'],
  ['cookie', { schema: {} }, ['a=1 X-Thing=2'], '/X-Thing must follow a ";"'],
  ['cookie', { schema: {} }, ['a=1  X-Thing = 2'], '/X-Thing must follow a ";"'],
  ['cookie', { schema: { enum: ['b c X-Thing'] } }, ['X-Thing=b c X-Thing; a=b d=e']],
  ['cookie', { schema: { type: 'integer' } }, ['a&X-Thing=x; b&X-Thing']],
  // & and + are kept.
  ['cookie', { schema: { enum: ['a&b+c=d'] } }, ['X-Thing=a&b+c=d']],
])('a %s %j of %j', (place, parameter, sent, ...faults) => {
  const operation = only(asking([{ name: 'X-Thing', in: place, ...parameter }]));
  const headers = place === 'cookie' ? sent.flatMap((value) => ['Cookie', value]) : sent;
  expect(short(operation.checkParameters([], '', headers))).toEqual(faults);
});

test.each(['Accept', 'content-type', 'Authorization'])(
  'a header named %s is ignored, and noted',
  (name) => {
    const contract = asking([{ name, in: 'header', required: true, schema: { type: 'integer' } }]);
    expect(only(contract).checkParameters([], '', [])).toEqual([]);
    expect(notesOf(contract)).toEqual([
      `a header parameter ${name} is ignored, as OpenAPI 3.0 says`,
    ]);
  },
);

describe('a parameter described by content', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'integer' } },
    additionalProperties: false,
  };
  const described = (type: string) => ({ name: 'q', in: 'query', content: { [type]: { schema } } });

  test.each<[text: string, ...faults: string[]]>([
    ['{"a":1}'],
    ['{"a":"x","b":1}', '/q/b is not defined in the contract', '/q/a must be an integer'],
    ['{"a":1', "/q/a is not valid JSON: ',' or '}' is expected"],
  ])('is a JSON text: %s', (text, ...faults) => {
    expect(ask(described('application/json'), `q=${encodeURIComponent(text)}`)).toEqual(faults);
  });

  test('is passed and noted if it is something else', () => {
    const contract = asking([described('application/xml')]);
    expect(queryChecker(contract)('q=<a/>')).toEqual([]);
    expect(notesOf(contract)).toEqual(['application/xml in a parameter is not checked']);
  });
});

test('parameters of the operation replace those of the path', () => {
  const get = { parameters: [query({ type: 'string' })], responses: done };
  const put = { responses: done };
  const contract = load({ '/': { parameters: [query({ type: 'integer' })], get, put } });
  expect(contract.operations.map((one) => short(one.checkParameters([], 'q=x', [])))).toEqual([
    [],
    ['/q must be an integer'],
  ]);
});

test('nothing to check costs no list', () => {
  const none = only(asking([]));
  const found = none.checkParameters([], '', []);
  expect(none.checkParameters([], '', ['Host', 'a'])).toBe(found);
  expect(Object.isFrozen(found)).toBe(true);
  expect(only(asking([query({ type: 'integer' })])).checkParameters([], 'q=1', [])).toBe(found);
});

test('no fault repeats what was sent', () => {
  const uuids = { type: 'array', items: { type: 'string', format: 'uuid' } };
  const booleans = { type: 'object', additionalProperties: { type: 'boolean' } };
  const integers = { content: { 'application/json': { schema: { type: 'integer' } } } };
  const parameters = [
    { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
    query({ type: 'string', enum: ['a'] }),
    { name: 'list', in: 'query', explode: false, schema: uuids },
    { name: 'deep', in: 'query', style: 'deepObject', schema: booleans },
    { name: 'json', in: 'query', ...integers },
    { name: 'x-h', in: 'header', schema: { type: 'string', pattern: '^[0-9]+$' } },
    { name: 'c', in: 'cookie', schema: { type: 'string', maxLength: 2 } },
  ];
  const strict = only(asking(parameters, {}, '/{id}'));
  const places = ['path', ...Array(6).fill('query'), 'header', 'cookie'];
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Z]{9}$/), (secret) => {
      const text = `q=${secret}&list=${secret},${secret}&deep[x]=${secret}&json=${secret}&other=${secret}`;
      const headers = ['X-H', secret, 'Cookie', `c=${secret}`];
      const faults = strict.checkParameters([secret], text, headers);
      expect(faults.map(({ in: place }) => place)).toEqual(places);
      expect(JSON.stringify(faults)).not.toContain(secret);
    }),
  );
});
