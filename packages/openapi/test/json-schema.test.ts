import { describe, expect, test } from '@jest/globals';
import { type Reading, RULES } from '../src/index.ts';
import { checker, json, notesOf, only, problemsOf, ref, taking } from './documents.ts';

const check = (schema: object, schemas: object = {}, reading?: Reading) =>
  checker({ ...schema }, { ...schemas }, reading, '3.1.0');
const contractOf = (schema: unknown) => taking(json(schema).content, { openapi: '3.1.1' });

test.each<[schema: object, text: string, rule: string, ...limit: unknown[]]>([
  [{ type: ['integer', 'string'] }, 'true', 'type', ['integer', 'string']],
  [{ const: 5 }, '6', 'const', 5],
  [{ exclusiveMinimum: 5 }, '5', 'exclusiveMinimum', 5],
  [{ items: false }, '[1]', 'items'],
  [{ contains: { const: 1 } }, '[]', 'contains'],
  [{ contains: { const: 1 }, minContains: 2 }, '[1]', 'minContains', 2],
  [{ contains: { const: 1 }, maxContains: 1 }, '[1,1]', 'maxContains', 1],
  [{ propertyNames: { maxLength: 1 } }, '{"ab":1}', 'propertyNames'],
  [{ dependentRequired: { a: ['b'] } }, '{"a":1}', 'dependentRequired', 'a'],
  [{ unevaluatedProperties: false }, '{"a":1}', 'unevaluatedProperties'],
  [{ unevaluatedItems: false }, '[1]', 'unevaluatedItems'],
])('%j and %s: the rule is %s', (schema, text, rule, ...[limit]) => {
  const media = only(contractOf(schema)).body!.media('application/json')!;
  const faults = media.check(Buffer.from(text));
  expect(faults.map((fault) => [fault.rule, fault.limit])).toEqual([[rule, limit]]);
  expect(RULES).toHaveProperty(rule);
});

test('a name that was sent is cut and made printable', () => {
  const name = `${'\u0000'.repeat(5)}${'x'.repeat(500)}`;
  const [fault] = check({ propertyNames: { maxLength: 5 } })(JSON.stringify({ [name]: 1 }));
  expect(fault!.length).toBeLessThan(200);
  expect(fault).not.toContain('\u0000');
});

describe('what is not evaluated', () => {
  const closed = (properties: object, more: object = {}) => ({
    properties,
    unevaluatedProperties: false,
    ...more,
  });

  test('costs the same at each level of a recursive schema', () => {
    const leaf = { properties: { leaf: {} }, required: ['leaf'] };
    const anyOf = [{ properties: { child: ref('node') } }, leaf];
    const faultsOf = check(ref('node'), { node: closed({}, { type: 'object', anyOf }) });
    const nested = (inner: string) => `${'{"child":'.repeat(60)}${inner}${'}'.repeat(60)}`;
    expect(faultsOf(nested('{"leaf":1}'))).toEqual([]);
    expect(faultsOf(nested('{"x":1}')).length).toBeGreaterThan(0);
  });

  test('does not multiply what is compiled for levels of alternatives', () => {
    let schema: object = closed({ a: {} });
    for (let i = 0; i < 24; i++) schema = closed({}, { anyOf: [schema, { required: ['never'] }] });
    expect(check(schema)('{"a":1}')).toEqual([]);
  });

  test('of an alternative is looked for, whatever is wrong with those before it', () => {
    const faultsOf = check({
      properties: { q: { type: 'integer' } },
      oneOf: [{ required: ['z'] }, closed({ a: {} }), { required: ['b'] }],
    });
    expect(faultsOf('{"q":1,"b":1}')).toEqual([]);
    expect(faultsOf('{"q":"x","b":1}')).toEqual(['/q must be an integer']);
    // The faults of the schema that does not match do not help.
    expect(faultsOf('{"q":"x","b":1,"z":1}')).toEqual([
      'must match only one of the schemas',
      '/q must be an integer',
    ]);
  });

  test('is not reported of an alternative with another fault', () => {
    const form = (kind: string) => closed({ [kind]: {} }, { required: [kind] });
    expect(check({ anyOf: [form('a'), form('b')] })('{"b":1,"c":1}').sort()).toEqual([
      '/a is required (in one of the schemas)',
      '/c is not defined in the contract (in one of the schemas)',
      'must match one of the schemas',
    ]);
  });

  test('of a list of many entries is looked for at once', () => {
    const faultsOf = check({ contains: { type: 'string' }, unevaluatedItems: false });
    expect(faultsOf(JSON.stringify(Array(100_000).fill(1))).length).toBeGreaterThan(0);
    expect(faultsOf(JSON.stringify(Array(1_000).fill('a')))).toEqual([]);
  });
});

describe('members for one direction', () => {
  const refuse = { readOnly: 'refuse' } as const;
  const sent = ['/id is read-only: it must not be sent'];

  test.each<[where: string, id: object, schema: object]>([
    ['beside its reference', { type: 'string' }, { ...ref('id'), readOnly: true }],
    ['behind its reference', { readOnly: true }, { ...ref('id'), maxLength: 3 }],
  ])('must not be sent if that is refused: %s', (_where, id, schema) => {
    const faultsOf = check({ required: ['id'], properties: { id: schema } }, { id }, refuse);
    expect(faultsOf('{}')).toEqual([]);
    expect(faultsOf('{"id":"a"}')).toEqual(sent);
  });

  test('are not required beside a reference to the schema that has them', () => {
    const schemas = { A: { properties: { id: { type: 'string', readOnly: true } } } };
    const faultsOf = check({ ...ref('A'), required: ['id', 'name'] }, schemas);
    expect(faultsOf('{"name":1}')).toEqual([]);
    expect(faultsOf('{}')).toEqual(['/name is required']);
  });

  test('are not required because of others', () => {
    const dependentRequired = { a: ['id', 'b'] };
    const faultsOf = check({ properties: { id: { readOnly: true } }, dependentRequired });
    expect(faultsOf('{"a":1,"b":1}')).toEqual([]);
    expect(faultsOf('{"a":1}')).toEqual(['/b is required if a is present']);
  });
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
  const found = problemsOf(() => contractOf(schema));
  expect(found).toEqual([expect.stringContaining(problem)]);
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
