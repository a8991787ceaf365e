import { describe, expect, test } from '@jest/globals';
import { type Fault, RULES } from '../src/index.ts';
import { asking, json, load, only, taking } from './documents.ts';
import { BOUNDARY, body, field, file, part } from './forms.ts';

const rules = (faults: readonly Fault[]) =>
  faults.map(({ rule, limit }) => (limit === undefined ? rule : [rule, limit]));

function broken(schema: object, text: string, type = 'application/json'): unknown[] {
  const contract = taking({ [type]: { schema } }, { reading: { readOnly: 'refuse' } });
  const media = only(contract).body!.media(type)!;
  const faults = media.check(Buffer.from(text));
  for (const { rule } of faults) expect(Object.keys(RULES)).toContain(rule);
  return rules(faults);
}

describe('a fault of a value has its rule and the limit of the contract', () => {
  const id = (values: unknown[]) => ({ type: 'string', enum: values });

  test.each<[schema: object, text: string, expected: unknown[]]>([
    [{ type: 'object', required: ['a'] }, '{}', ['required']],
    [{ type: 'string' }, '1', [['type', 'string']]],
    [{ type: 'string', nullable: true }, '1', [['type', ['string', 'null']]]],
    [{ type: 'integer' }, '1.5', [['type', 'integer']]],
    [{ type: 'number', nullable: true }, '"x"', [['type', ['number', 'null']]]],
    [{ minimum: 2 }, '1', [['minimum', 2]]],
    [{ maximum: 1.5 }, '2', [['maximum', 1.5]]],
    [{ minimum: 2, exclusiveMinimum: true }, '2', [['exclusiveMinimum', 2]]],
    [
      { maximum: 9223372036854775807n, exclusiveMaximum: true },
      '1e30',
      [['exclusiveMaximum', '9223372036854775807']],
    ],
    [{ multipleOf: 0.5 }, '0.7', [['multipleOf', 0.5]]],
    [{ type: 'integer', format: 'int32' }, '2147483648', [['format', 'int32']]],
    [{ type: 'string', format: 'uuid' }, '"x"', [['format', 'uuid']]],
    [id(['a', 'b']), '"c"', [['enum', ['a', 'b']]]],
    [{ enum: [1, null, 9007199254740993n] }, '"c"', [['enum', [1, null, '9007199254740993']]]],
    [{ enum: [[1], { a: 1 }] }, '1', ['enum']],
    [id(Array.from({ length: 100 }, (_, i) => `value ${i}`)), '"c"', ['enum']],
    [{ pattern: '^a$' }, '"b"', [['pattern', '^a$']]],
    [{ minLength: 2 }, '"a"', [['minLength', 2]]],
    [{ maxLength: 1 }, '"ab"', [['maxLength', 1]]],
    [{ type: 'array', items: {}, minItems: 1 }, '[]', [['minItems', 1]]],
    [{ type: 'array', items: {}, maxItems: 1 }, '[1,2]', [['maxItems', 1]]],
    [{ type: 'array', items: {}, uniqueItems: true }, '[1,1]', ['uniqueItems']],
    [{ type: 'object', minProperties: 1 }, '{}', [['minProperties', 1]]],
    [{ type: 'object', maxProperties: 1 }, '{"a":1,"b":2}', [['maxProperties', 1]]],
    [{ type: 'object', additionalProperties: false }, '{"a":1}', ['additionalProperties']],
    [{ type: 'object', properties: { a: { readOnly: true } } }, '{"a":1}', ['readOnly']],
    [{ oneOf: [{ minimum: 1 }, { maximum: 3 }] }, '2', ['oneOf']],
    [{ anyOf: [{ type: 'string' }] }, '1', [['type', 'string'], 'anyOf']],
    [{ not: { type: 'string' } }, '"x"', ['not']],
  ])('%j and %s', (schema, text, expected) => {
    expect(broken(schema, text)).toEqual(expected);
  });

  test.each<[text: string | Buffer, expected: unknown[]]>([
    ['{', ['syntax']],
    ['{"a":1,"a":2}', ['repeated']],
    ['\ufeff1', ['encoding']],
    ['"\\ud800"', ['encoding']],
    ['1e400', ['precision']],
    ['['.repeat(65), [['depth', 64]]],
  ])('the JSON text %j', (text, expected) => {
    expect(broken({}, text as string)).toEqual(expected);
  });

  test('a form and a text', () => {
    const form = { type: 'object', properties: { a: { type: 'string' }, o: { type: 'object' } } };
    const type = 'application/x-www-form-urlencoded';
    expect(broken(form, 'a=1&a=2', type)).toEqual(['repeated']);
    expect(broken(form, 'a=%ff', type)).toEqual(['encoding']);
    expect(broken(form, 'o=x', type)).toEqual(['syntax']);
    expect(broken({ type: 'integer' }, 'x', 'text/plain')).toEqual([['type', 'integer']]);
  });

  describe('a form with files', () => {
    const type = `multipart/form-data; boundary=${BOUNDARY}`;
    const a = (schema: object) => ({ type: 'object', properties: { a: schema } });
    const binary = { type: 'string', format: 'binary' };
    const png = (headers: string) =>
      part(`Content-Disposition: form-data; name="a"${headers}`, 'x');

    test.each<[schema: object, text: string, expected: unknown[]]>([
      [{ type: 'string' }, 'x', ['syntax']],
      [{ type: 'string' }, body(...Array<string>(1001).fill(field('b', ''))), ['complexity']],
      [{ type: 'string' }, body(part('X: y', 'x')), ['headers']],
      [{ type: 'string' }, body(png('; filename="f"')), ['headers']],
      [binary, body(png('')), ['headers']],
      [{ type: 'string' }, body(png('\nContent-Type: image/png')), [['mediaType', ['text/plain']]]],
      [{ type: 'string' }, body(png('\nContent-Type: multipart/mixed')), ['mediaType']],
      [{ type: 'string' }, body(png('\nContent-Type: text/plain; charset=utf-16')), ['encoding']],
      [{ type: 'string' }, body(field('_charset_', 'utf-16')), ['encoding']],
      [{ type: 'string' }, body(field('a', '1'), field('a', '2')), ['repeated']],
      [{ type: 'object' }, body(field('a', '{')), ['syntax']],
      [{ ...binary, minLength: 2 }, body(file('a', 'x')), [['minLength', 2]]],
      [{ ...binary, maxLength: 2 }, body(file('a', 'xxx')), [['maxLength', 2]]],
    ])('%j and %j', (schema, text, expected) => {
      expect(broken(a(schema), text, type)).toEqual(expected);
    });

    test('without a boundary', () => {
      expect(broken(a({}), 'x', 'multipart/form-data')).toEqual(['mediaType']);
    });
  });

  test.each<[text: string, expected: unknown[]]>([
    ['<a', ['syntax']],
    ['<!DOCTYPE r><r/>', ['syntax']],
    ['<?xml version="1.0" encoding="latin1"?><r/>', ['encoding']],
    ['<x/>', ['style']],
    ['<r><a>1</a><a>2</a></r>', ['repeated']],
    ['<r><a>x</a></r>', [['type', 'integer']]],
    ['<r>'.repeat(65), [['depth', 64]]],
    [`<r ${Array.from({ length: 65 }, (_, i) => `a${i}=""`).join(' ')}/>`, ['complexity']],
  ])('the XML %j', (text, expected) => {
    const schema = { type: 'object', xml: { name: 'r' }, properties: { a: { type: 'integer' } } };
    expect(broken(schema, text, 'application/xml')).toEqual(expected);
  });

  test('bytes', () => {
    const image = { type: 'string', format: 'binary', nullable: true };
    expect(broken(image, '1')).toEqual([['type', ['string', 'null']]]);
    expect(broken({ type: 'string', pattern: 'a' }, '\ufeffa', 'image/png')).toEqual(['encoding']);
  });

  test('where not all are known, it says so', () => {
    const list = { oneOf: [{ type: 'array', items: { type: 'integer' } }, { type: 'boolean' }] };
    expect(broken(list, JSON.stringify(Array(60).fill('x'))).at(-1)).toBe('more');
    expect(broken(list, '["x"]')).not.toContain('more');
  });
});

test('a fault of a parameter has its rule', () => {
  const parameters = [
    { name: 'q', in: 'query', required: true, schema: { type: 'integer', maximum: 3 } },
    { name: 'd', in: 'query', style: 'deepObject', schema: { type: 'array', items: {} } },
    { name: 'X-H', in: 'header', schema: { type: 'string' } },
  ];
  const operation = only(asking(parameters));
  expect(rules(operation.checkParameters([], '', []))).toEqual(['required']);
  expect(rules(operation.checkParameters([], 'q=4&r=1', []))).toEqual([['maximum', 3], 'unknown']);
  expect(rules(operation.checkParameters([], 'q=1&q=2', ['X-H', 'a', 'X-H', 'b']))).toEqual([
    'repeated',
    'repeated',
  ]);
  expect(rules(operation.checkParameters([], 'q=%ff&d[3]=1&%ff=1', []))).toEqual([
    'encoding',
    ['style', 'd[]=x&d[]=y'],
    'encoding',
  ]);
});

test('a fault of an answer has its rule', () => {
  const responses = { 200: { description: 'Done.', ...json({ type: 'object' }) } };
  const operation = only(load({ '/': { get: { responses } } }));
  expect(rules(operation.checkResponse(201, undefined, Buffer.from('')))).toEqual(['status']);
  expect(rules(operation.checkResponse(200, 'text/plain', Buffer.from('x')))).toEqual([
    ['mediaType', ['application/json']],
  ]);
});
