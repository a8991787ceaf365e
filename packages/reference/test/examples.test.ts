import { describe, expect, test } from '@jest/globals';
import { loadContract } from '@storegate/openapi';
import { createApi } from '../src/browser/model/api.ts';
import type { ApiDocument, Schema } from '../src/browser/model/document.ts';
import { mediaText } from '../src/browser/model/example.ts';
import { faultsIn } from '../src/browser/model/faults.ts';

const integer = { type: 'integer' };
const text = { type: 'string' };
const cat = {
  type: 'object',
  required: ['kind', 'lives'],
  properties: { kind: { type: 'string', enum: ['cat'] }, lives: integer },
};
const dog = {
  type: 'object',
  required: ['kind'],
  properties: { kind: { type: 'string', enum: ['dog'] }, lives: integer },
};
const node = {
  type: 'object',
  required: ['name'],
  properties: { name: text, next: { $ref: '#/components/schemas/Node' } },
};

const DOCUMENT = (schema: object, openapi: string) => ({
  openapi,
  info: { title: 'Test', version: '1' },
  paths: {
    '/': {
      post: {
        requestBody: { content: { 'application/json': { schema } } },
        responses: { 200: { description: 'Done.' } },
      },
    },
  },
  components: { schemas: { Cat: cat, Dog: dog, Node: node } },
});

/** What the gateway and the page say about the example that the page makes. */
function judge(schema: Schema, openapi = '3.0.3') {
  const document = DOCUMENT(schema, openapi);
  const api = createApi(document as unknown as ApiDocument);
  const example = mediaText(api, { schema }, 'application/json', 'request');
  const { faults } = loadContract(document).validateRequest({
    method: 'POST',
    url: '/',
    headers: { 'content-type': 'application/json' },
    body: example,
  });
  const missing = faultsIn(api, schema, 'request', JSON.parse(example));
  return { example, refused: faults, missing };
}

const schemas = '#/components/schemas';

describe('an example that the page makes', () => {
  test.each<[string, Schema]>([
    ['a long text', { type: 'string', minLength: 300 }],
    ['a date', { type: 'string', format: 'date', maxLength: 10 }],
    ['a pattern of digits', { type: 'string', pattern: '^[0-9]{4}$' }],
    ['a pattern of a country', { type: 'string', pattern: '^[A-Z]{2}$' }],
    ['a number above a limit', { type: 'number', minimum: 5, exclusiveMinimum: true }],
    ['a negative number', { ...integer, maximum: -3 }],
    ['a multiple', { ...integer, minimum: 5, multipleOf: 4 }],
    ['a narrow number', { type: 'number', minimum: 1, maximum: 1.9, exclusiveMinimum: true }],
    ['a list with a size', { type: 'array', items: integer, minItems: 3 }],
    ['a list without doubles', { type: 'array', items: text, minItems: 3, uniqueItems: true }],
    [
      'a list of enum values without doubles',
      { type: 'array', items: { ...text, enum: ['a', 'b'] }, minItems: 2, uniqueItems: true },
    ],
    ['an empty list', { type: 'array', items: text, maxItems: 0 }],
    ['a required member without a schema', { type: 'object', required: ['a'] }],
    [
      'a required member of the others',
      { type: 'object', required: ['a'], additionalProperties: { ...integer, minimum: 7 } },
    ],
    ['alternatives', { oneOf: [{ $ref: `${schemas}/Cat` }, { $ref: `${schemas}/Dog` }] }],
    [
      'alternatives that share values',
      { oneOf: [integer, { type: 'number', minimum: 10 }, { ...integer, minimum: 20 }] },
    ],
    [
      'alternatives of which the first has no value here',
      {
        type: 'object',
        properties: { a: text },
        anyOf: [{ required: ['b'] }, {}],
        additionalProperties: false,
      },
    ],
    ['an invalid example of the author', { ...integer, example: 'seven', minimum: 2 }],
    ['an invalid default', { type: 'string', default: 7 }],
    ['a schema that contains itself', { $ref: `${schemas}/Node` }],
    ['parts with their own limits', { allOf: [{ ...text, minLength: 9 }, { maxLength: 12 }] }],
    ['a nullable enum', { ...text, nullable: true, enum: [null, 'a'] }],
    ['a map', { type: 'object', minProperties: 1, additionalProperties: integer }],
    [
      'a read-only member that is required',
      { type: 'object', required: ['id'], properties: { id: { ...integer, readOnly: true } } },
    ],
  ])('of %s is valid', (_, schema) => {
    expect(judge(schema)).toMatchObject({ refused: [], missing: [] });
  });

  test.each<[string, Schema, string]>([
    ['a short date and time', { type: 'string', format: 'date-time', maxLength: 5 }, ''],
    ['a rare pattern', { ...text, pattern: '^[XY]{7}-[QZ]$' }, ''],
    [
      'a rare pattern inside',
      {
        type: 'object',
        properties: { a: { type: 'array', items: { ...text, pattern: '^Q{9}$' } } },
      },
      '/a/0',
    ],
    [
      'a list of objects without doubles',
      { type: 'array', items: cat, minItems: 2, uniqueItems: true },
      '',
    ],
    ['what is excluded', { ...integer, not: { minimum: 0 } }, ''],
  ])('of %s is not valid, and the page has the place', (_, schema, pointer) => {
    const { refused, missing } = judge(schema);
    expect(refused).not.toEqual([]);
    expect(missing.map((fault) => fault.pointer)).toEqual([pointer]);
  });
});

test('the page shows what a value needs', () => {
  const api = createApi(DOCUMENT({}, '3.1.0') as unknown as ApiDocument);
  const schema = {
    type: 'object',
    required: ['a/b'],
    properties: { c: { ...integer, exclusiveMaximum: 3 }, d: { const: 'x' }, e: false },
    patternProperties: { '^n': { type: 'null' } },
    additionalProperties: false,
    maxProperties: 4,
  };
  const faults = faultsIn(api, schema, 'request', { c: 3, d: 'y', e: 1, n: 0, o: 1 });
  expect(faults.map(({ pointer, need }) => `${pointer} ${need}`)).toEqual([
    ' ≤ 4 members',
    '/a~1b a value',
    '/c < 3',
    '/d always x',
    '/e no value',
    '/n null',
    '/o no value',
  ]);
});
