import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { done, load, notesOf, only, short } from './documents.ts';

const operation = (parameters: object[], options = {}, path = '/') =>
  only(load({ [path]: { get: { parameters, responses: done } } }, {}, options));

const query = (schema: object, rest: object = {}) => ({ name: 'q', in: 'query', schema, ...rest });

const ask = (parameter: object, text: string): string[] =>
  short(operation([parameter]).checkParameters([], text, []));

describe('text becomes a value of the type', () => {
  test.each([
    ['integer', '0', true],
    ['integer', '-12', true],
    ['integer', '123456789012345678901234567890', true],
    ['integer', '01', false],
    ['integer', '%2B1', false],
    ['integer', '1.0', false],
    ['integer', '1e2', false],
    ['integer', '%201', false],
    ['integer', '', false],
    ['integer', '0x1', false],
    ['integer', '٣', false],
    ['number', '1.5e-3', true],
    ['number', '.5', false],
    ['number', 'NaN', false],
    ['number', 'Infinity', false],
    ['number', '1e999', false],
    ['boolean', 'true', true],
    ['boolean', 'True', false],
    ['boolean', '1', false],
    ['string', '1', true],
    ['string', 'true', true],
    ['string', '', true],
  ])('%s of %j: %s', (type, text, good) => {
    const article =
      type === 'integer' ? 'an integer' : type === 'boolean' ? 'true or false' : 'a number';
    expect(ask(query({ type }), `q=${text}`)).toEqual(good ? [] : [`/q must be ${article}`]);
  });

  test('also through references and combinations', () => {
    const allOf = { allOf: [{ type: 'integer' }, { minimum: 3 }] };
    expect(ask(query(allOf), 'q=3')).toEqual([]);
    expect(ask(query(allOf), 'q=2')).toEqual(['/q must be at least 3']);
    const oneOf = { oneOf: [{ type: 'boolean' }, { type: 'integer', maximum: 5 }] };
    expect(ask(query(oneOf), 'q=5')).toEqual([]);
    expect(ask(query(oneOf), 'q=false')).toEqual([]);
    expect(ask(query(oneOf), 'q=6')).not.toEqual([]);
  });

  test('and stays text where it may be', () => {
    const either = {
      oneOf: [
        { type: 'integer', maximum: 5 },
        { type: 'string', pattern: '^[0-9]{6}$' },
      ],
    };
    expect(ask(query(either), 'q=123456')).toEqual([]);
    expect(ask(query(either), 'q=5')).toEqual([]);
    expect(ask(query(either), 'q=12')).not.toEqual([]);
    expect(ask(query({ enum: ['1', 'a'] }), 'q=1')).toEqual([]);
    expect(ask(query({}), 'q=1')).toEqual([]);
  });

  test('and a value alone is a list of one, or what else the schema allows', () => {
    const list = { type: 'array', items: { type: 'string', enum: ['patch'] } };
    for (const other of [{ type: 'integer' }, { type: 'string', minLength: 7 }]) {
      const either = query({ oneOf: [list, other] });
      const longOrNumber = other.type === 'integer' ? '17' : 'severity';
      for (const text of ['q=patch', 'q=patch&q=patch', `q=${longOrNumber}`])
        expect(ask(either, text)).toEqual([]);
      expect(ask(either, 'q=low')).not.toEqual([]);
      expect(ask(either, `q=${longOrNumber}&q=${longOrNumber}`)).not.toEqual([]);
    }
  });

  test('an enum without a type says the type', () => {
    expect(ask(query({ enum: [1, 2] }), 'q=1')).toEqual([]);
    expect(ask(query({ enum: [1, 2] }), 'q=3')).toEqual(['/q must be one of: 1, 2']);
  });
});

describe('64-bit integers', () => {
  const int64 = operation(
    [{ name: 'id', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } }],
    {},
    '/{id}',
  );
  const check = (text: string) => short(int64.checkParameters([text], '', []));

  test.each(['9223372036854775807', '-9223372036854775808', '9007199254740993'])(
    '%s is one',
    (text) => {
      expect(check(text)).toEqual([]);
    },
  );

  test.each([
    '9223372036854775808',
    '-9223372036854775809',
    '1e400'.padEnd(400, '0'),
    '9'.repeat(400),
  ])('%s is not one', (text) => {
    expect(check(text)).toHaveLength(1);
  });
});

describe('a query', () => {
  const two = operation([
    query({ type: 'integer' }),
    { name: 'long name', in: 'query', required: true, schema: { type: 'string' } },
  ]);
  const check = (text: string) => short(two.checkParameters([], text, []));

  test('is read by name, in any order, with + for a space', () => {
    expect(check('long+name=a&q=1')).toEqual([]);
    expect(check('q=1&&long%20name=a&')).toEqual([]);
  });

  test('reports what is missing, repeated and unknown, all at once', () => {
    expect(check('')).toEqual(['/long name is required']);
    expect(check('q=x&q=y&z=1&z=2&%2F~=1')).toEqual([
      '/q is given more than once',
      '/long name is required',
      '/z is not a parameter of this operation',
      '/~1~0 is not a parameter of this operation',
    ]);
  });

  test('must be valid percent-encoding of UTF-8', () => {
    for (const bad of ['%', '%4', '%zz', '%ff', '%c0%af', '%ed%a0%80']) {
      expect(check(`long+name=${bad}`)).toEqual([
        '/long name must be UTF-8 in valid percent-encoding',
      ]);
      expect(check(`long+name=a&${bad}=1`)).toEqual([
        'has a name that is not UTF-8 in valid percent-encoding',
      ]);
    }
  });

  test('may have unknown names if the gateway is configured to pass them', () => {
    const lenient = operation([query({ type: 'integer' })], { unknownQuery: 'pass' });
    expect(lenient.checkParameters([], 'a=1&%ff=2&q=1', [])).toEqual([]);
    expect(short(lenient.checkParameters([], 'a=1&q=x', []))).toEqual(['/q must be an integer']);
    expect(operation([], { unknownQuery: 'pass' }).checkParameters([], 'a=1', [])).toEqual([]);
    expect(short(operation([]).checkParameters([], 'a=1', []))).toEqual([
      '/a is not a parameter of this operation',
    ]);
  });

  test('shows unknown names shortened and escaped', () => {
    const [fault] = two.checkParameters([], `long+name=a&${'x'.repeat(500)}%0A=1`, []);
    expect(fault!.pointer).toBe(`/${'x'.repeat(63)}…`);
    expect(two.checkParameters([], 'long+name=a&a%0Ab=1', [])[0]!.pointer).toBe('/a\\u{a}b');
  });

  test('never gives more than fifty faults', () => {
    const many = Array.from({ length: 5000 }, (_, i) => `x${i}=1`).join('&');
    expect(two.checkParameters([], many, [])).toHaveLength(50);
  });

  test('with allowEmptyValue an empty text is a parameter that is not used', () => {
    expect(
      ask(query({ type: 'integer' }, { allowEmptyValue: true, required: true }), 'q='),
    ).toEqual([]);
    expect(ask(query({ type: 'integer' }, { allowEmptyValue: true, required: true }), 'q')).toEqual(
      [],
    );
    expect(ask(query({ type: 'integer' }, { allowEmptyValue: true, required: true }), '')).toEqual([
      '/q is required',
    ]);
    expect(ask(query({ type: 'integer' }), 'q=')).toEqual(['/q must be an integer']);
  });

  test('with allowReserved a + is itself', () => {
    const plus = { type: 'string', enum: ['a+b/c?d'] };
    expect(ask(query(plus, { allowReserved: true }), 'q=a+b/c?d')).toEqual([]);
    expect(ask(query(plus), 'q=a+b/c?d')).not.toEqual([]);
    expect(ask(query(plus), 'q=a%2Bb/c?d')).toEqual([]);
  });

  test('has = in values', () => {
    expect(ask(query({ enum: ['a=b'] }), 'q=a=b')).toEqual([]);
  });
});

describe('headers', () => {
  const header = (schema: object, rest: object = {}) => ({
    name: 'X-Thing',
    in: 'header',
    schema,
    ...rest,
  });
  const check = (parameter: object, ...headers: string[]) =>
    short(operation([parameter]).checkParameters([], '', headers));

  test('are found whatever their case', () => {
    expect(check(header({ type: 'integer' }), 'Host', 'a', 'x-THING', '7')).toEqual([]);
    expect(check(header({ type: 'integer' }), 'x-thing', 'seven')).toEqual([
      '/X-Thing must be an integer',
    ]);
    expect(check(header({}, { required: true }), 'Thing', 'a')).toEqual(['/X-Thing is required']);
  });

  test('are one list when they are repeated, or one too many', () => {
    const list = { type: 'array', items: { type: 'integer' }, maxItems: 3 };
    expect(check(header(list), 'x-thing', '1, 2', 'X-Thing', '3')).toEqual([]);
    expect(check(header(list), 'x-thing', '1,2', 'X-Thing', '3,4')).toEqual([
      '/X-Thing must have at most 3 entries',
    ]);
    expect(check(header({ type: 'integer' }), 'x-thing', '1', 'x-thing', '1')).toEqual([
      '/X-Thing is given more than once',
    ]);
  });

  test('are not percent-decoded', () => {
    expect(check(header({ enum: ['%41'] }), 'x-thing', '%41')).toEqual([]);
    expect(check(header({ type: 'string' }), 'x-thing', '%zz')).toEqual([]);
  });

  test.each(['Accept', 'content-type', 'Authorization'])(
    'named %s are ignored, and noted',
    (name) => {
      const parameter = { name, in: 'header', required: true, schema: { type: 'integer' } };
      const contract = load({ '/': { get: { parameters: [parameter], responses: done } } });
      expect(only(contract).checkParameters([], '', [])).toEqual([]);
      expect(notesOf(contract)).toEqual([
        `a header parameter ${name} is ignored, as OpenAPI 3.0 says`,
      ]);
    },
  );
});

describe('cookies', () => {
  const cookie = (schema: object, rest: object = {}) => ({
    name: 'session',
    in: 'cookie',
    schema,
    ...rest,
  });
  const check = (parameter: object, ...values: string[]) =>
    short(
      operation([parameter]).checkParameters(
        [],
        '',
        values.flatMap((value) => ['Cookie', value]),
      ),
    );

  test('are found among others, which may be anything', () => {
    expect(check(cookie({ type: 'integer' }), 'a=1; session=7; b=%zz; c; d=1&2')).toEqual([]);
    expect(check(cookie({ type: 'integer' }), 'a=1', 'session=7')).toEqual([]);
    expect(check(cookie({ type: 'integer' }), 'session=x')).toEqual([
      '/session must be an integer',
    ]);
    expect(check(cookie({}, { required: true }), 'a=1')).toEqual(['/session is required']);
    expect(check(cookie({}, { required: true }))).toEqual(['/session is required']);
    expect(check(cookie({ type: 'string' }), 'session=1; session=2')).toEqual([
      '/session is given more than once',
    ]);
  });

  test('keep & and + as they are', () => {
    expect(check(cookie({ enum: ['a&b+c=d'] }), 'session=a&b+c=d')).toEqual([]);
  });
});

describe('a parameter described by content', () => {
  const content = {
    'application/json': {
      schema: {
        type: 'object',
        properties: { a: { type: 'integer' } },
        additionalProperties: false,
      },
    },
  };
  const check = (text: string) =>
    short(
      operation([{ name: 'q', in: 'query', content }]).checkParameters(
        [],
        `q=${encodeURIComponent(text)}`,
        [],
      ),
    );

  test('is a JSON text', () => {
    expect(check('{"a":1}')).toEqual([]);
    expect(check('{"a":"x","b":1}')).toEqual([
      '/q/b is not defined in the contract',
      '/q/a must be an integer',
    ]);
    expect(check('{"a":1')).toEqual(["/q/a is not valid JSON: ',' or '}' is expected"]);
  });

  test('is passed and noted if it is something else', () => {
    const xml = {
      name: 'q',
      in: 'query',
      content: { 'application/xml': { schema: { type: 'object' } } },
    };
    const contract = load({ '/': { get: { parameters: [xml], responses: done } } });
    expect(only(contract).checkParameters([], 'q=<a/>', [])).toEqual([]);
    expect(notesOf(contract)).toEqual(['application/xml in a parameter is not checked']);
  });
});

test('parameters of the operation replace those of the path', () => {
  const parameter = (type: string) => ({ name: 'q', in: 'query', schema: { type } });
  const contract = load({
    '/': {
      parameters: [parameter('integer')],
      get: { parameters: [parameter('string')], responses: done },
      put: { responses: done },
    },
  });
  const check = (method: string) =>
    short(contract.operations.find((o) => o.method === method)!.checkParameters([], 'q=x', []));
  expect(check('GET')).toEqual([]);
  expect(check('PUT')).toEqual(['/q must be an integer']);
});

test('nothing to check costs no list', () => {
  const none = operation([]);
  expect(none.checkParameters([], '', ['Host', 'a'])).toBe(none.checkParameters([], '', []));
  expect(Object.isFrozen(none.checkParameters([], '', []))).toBe(true);
  expect(operation([query({ type: 'integer' })]).checkParameters([], 'q=1', [])).toBe(
    none.checkParameters([], '', []),
  );
});

test('no fault repeats what was sent', () => {
  const parameters = [
    { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
    { name: 'q', in: 'query', schema: { type: 'string', enum: ['a'] } },
    {
      name: 'list',
      in: 'query',
      explode: false,
      schema: { type: 'array', items: { type: 'string', format: 'uuid' } },
    },
    {
      name: 'deep',
      in: 'query',
      style: 'deepObject',
      schema: { type: 'object', additionalProperties: { type: 'boolean' } },
    },
    { name: 'json', in: 'query', content: { 'application/json': { schema: { type: 'integer' } } } },
    { name: 'x-h', in: 'header', schema: { type: 'string', pattern: '^[0-9]+$' } },
    { name: 'c', in: 'cookie', schema: { type: 'string', maxLength: 2 } },
  ];
  const strict = operation(parameters, {}, '/{id}');
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Z]{9}$/), (secret) => {
      const text = `q=${secret}&list=${secret},${secret}&deep[x]=${secret}&json=${secret}&other=${secret}`;
      const faults = strict.checkParameters([secret], text, [
        'X-H',
        secret,
        'Cookie',
        `c=${secret}`,
      ]);
      expect(faults.map(({ in: place }) => place)).toEqual([
        'path',
        'query',
        'query',
        'query',
        'query',
        'query',
        'query',
        'header',
        'cookie',
      ]);
      expect(JSON.stringify(faults)).not.toContain(secret);
    }),
  );
});
