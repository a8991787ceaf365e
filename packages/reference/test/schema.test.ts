import { describe, expect, test } from '@jest/globals';
import { createApi } from '../src/browser/model/api.ts';
import type { Schema, SchemaNode } from '../src/browser/model/document.ts';
import { exampleText, mediaText, sample } from '../src/browser/model/example.ts';
import { factsOf, membersOf, typeText } from '../src/browser/model/schema.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const NAMED: Record<string, SchemaNode> = {
  Pet: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } },
  Status: { type: 'string', enum: ['sold', 'pending'] },
  Node: { type: 'object', properties: { name: { type: 'string' }, next: ref('Node') } },
  Loop: { allOf: [ref('Loop')], type: 'object' },
  Self: ref('Self'),
  Tree: { type: 'array', items: ref('Tree') },
  'a/b~c': { type: 'boolean' },
};

const apiOf = (openapi = '3.1.0', schemas = NAMED) =>
  createApi({ openapi, info: {}, components: { schemas } });
const api = apiOf();

const membersIn = (node: SchemaNode, other = api) =>
  membersOf(other, node).map(({ name, required }) => (required ? `${name} *` : name));

describe('a schema', () => {
  test.each<[string, SchemaNode | undefined, string]>([
    ['nothing', undefined, 'any'],
    ['true', true, 'any'],
    ['false', false, 'any'],
    ['a list of types', { type: ['string', 'null'] }, 'string | null'],
    ['a nullable type', { type: 'string', nullable: true }, 'string | null'],
    ['a list', { type: 'array', items: { type: 'integer' } }, 'array<integer>'],
    ['a list of components', { items: ref('Pet') }, 'array<Pet>'],
    ['a component', ref('Pet'), 'Pet'],
    ['a component in allOf', { allOf: [ref('Pet')], description: 'Mine.' }, 'Pet'],
    ['a component that is text', ref('Status'), 'string'],
    ['alternatives', { oneOf: [ref('Pet'), { type: 'integer' }] }, 'Pet | integer'],
    ['members without a type', { properties: {} }, 'object'],
    ['a pointer with escapes', ref('a~1b~0c'), 'boolean'],
    ['a reference to nothing', ref('Missing'), 'any'],
    ['a reference to itself', ref('Self'), 'any'],
  ])('of %s has a type', (_what, node, text) => {
    expect(typeText(api, node)).toBe(text);
  });

  test.each<[Schema, string[]]>([
    [{ minimum: 1, exclusiveMaximum: 9 }, ['≥ 1', '< 9']],
    [{ minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: false }, ['> 1', '≤ 3']],
    [{ enum: ['a', 2, null], default: false }, ['one of a, 2, null', 'default false']],
    [{ const: 0 }, ['always 0']],
    [{ pattern: '^$&', minLength: 2 }, ['matches ^$&', '≥ 2 characters']],
    [{ readOnly: true, writeOnly: false, deprecated: true }, ['only in responses', 'deprecated']],
  ])('%j names its constraints', (schema, facts) => {
    expect(factsOf(schema)).toEqual(facts);
  });

  test.each<[SchemaNode, string[]]>([
    [ref('Pet'), ['id *']],
    [{ type: 'array', items: ref('Pet') }, ['id *']],
    [{ allOf: [ref('Pet'), { required: ['b'], properties: { b: true } }] }, ['id *', 'b *']],
    [{ patternProperties: { '^x-': true } }, ['names that match ^x-']],
    [{ prefixItems: [true, true], items: { type: 'integer' } }, ['item 1', 'item 2', 'each item']],
    [{ not: { type: 'string' }, additionalProperties: false }, ['not']],
    [{ anyOf: [{ title: 'Cat' }, { type: 'string' }] }, ['any of: Cat', 'any of: string']],
    [ref('Loop'), []],
    [{ type: 'string' }, []],
  ])('%j has members', (node, names) => {
    expect(membersIn(node)).toEqual(names);
  });

  test('names the value of the discriminator that selects an alternative', () => {
    const discriminator = { propertyName: 'kind', mapping: { cat: '#/components/schemas/Pet' } };
    expect(membersIn({ oneOf: [ref('Pet'), ref('Node')], discriminator })).toEqual([
      'one of: Pet (kind: cat)',
      'one of: Node (kind: Node)',
    ]);
  });

  test('has what stands beside its reference, from OpenAPI 3.1 on', () => {
    const node = { ...ref('Pet'), properties: { name: { type: 'string' } } };
    expect(membersIn(node)).toEqual(['id *', 'name']);
    expect(membersIn(node, apiOf('3.0.3'))).toEqual(['id *']);
  });
});

describe('an example', () => {
  test('of a media type is what the author wrote, in this order', () => {
    const schema = { type: 'string', example: 'c' };
    const examples = { first: { value: 'b' } };
    expect(mediaText(api, { example: 'a', examples, schema }, 'text/plain', 'response')).toBe('a');
    expect(mediaText(api, { examples, schema }, 'text/plain', 'response')).toBe('b');
    expect(mediaText(api, { schema }, 'text/plain', 'response')).toBe('c');
  });

  test.each<[SchemaNode, unknown]>([
    [{ type: 'string', format: 'date' }, '2026-01-31'],
    [{ type: 'string', minLength: 8 }, 'string..'],
    [{ type: 'string', maxLength: 3 }, 'str'],
    [{ type: 'integer', minimum: 5 }, 5],
    [{ type: ['boolean', 'null'] }, true],
    [{ type: 'array', items: ref('Status') }, ['sold']],
    [{ prefixItems: [{ const: 1 }, { default: 'x' }] }, [1, 'x']],
    [
      { oneOf: [ref('Pet')], properties: { b: { const: 2 } } },
      { b: 2, id: 0 },
    ],
    [{ additionalProperties: { type: 'integer' } }, { name: 0 }],
    [{ type: 'string', examples: ['mine'] }, 'mine'],
    [{}, null],
  ])('is made from %j', (node, value) => {
    expect(sample(api, node, 'request')).toEqual(value);
  });

  test('omits what is read-only in requests and write-only in responses', () => {
    const node = {
      properties: { id: { const: 1, readOnly: true }, secret: { const: 2, writeOnly: true } },
    };
    expect(sample(api, node, 'request')).toEqual({ secret: 2 });
    expect(sample(api, node, 'response')).toEqual({ id: 1 });
  });

  test('of a schema that contains itself ends', () => {
    expect(JSON.stringify(sample(api, ref('Node'), 'request')).length).toBeLessThan(500);
    expect(sample(api, ref('Loop'), 'request')).toEqual({});
    expect(JSON.stringify(sample(api, ref('Tree'), 'request'))).toBe('[[[[[[]]]]]]');
    expect(membersIn(ref('Tree'))).toEqual(['each item']);
  });

  test('of schemas that all contain each other stays small', () => {
    const names = [...Array(40).keys()].map((index) => `S${index}`);
    const all = Object.fromEntries(names.map((name) => [name, ref(name)]));
    const mesh = names.map((name) => [name, { type: 'object', properties: all }] as const);
    const value = sample(apiOf('3.1.0', Object.fromEntries(mesh)), ref('S0'), 'request');
    expect(JSON.stringify(value).length).toBeLessThan(1_000_000);
  });

  test('of a long text is cut', () => {
    const text = sample(api, { type: 'string', minLength: 1e9 }, 'request');
    expect(text).toHaveLength(10_000);
  });

  test('is text of its media type', () => {
    expect(exampleText('a', 'application/json')).toBe('"a"');
    expect(exampleText('{"a":1}', 'application/json')).toBe('{"a":1}');
    expect(exampleText({ a: 1 }, 'application/json')).toBe('{\n  "a": 1\n}');
    expect(exampleText('<a/>', 'application/xml')).toBe('<a/>');
    expect(exampleText({ a: [1, '<&'], b: { c: null } }, 'application/xml', 'Pet')).toBe(
      '<Pet>\n  <a>1</a>\n  <a>&lt;&amp;</a>\n  <b>\n    <c></c>\n  </b>\n</Pet>',
    );
  });
});
