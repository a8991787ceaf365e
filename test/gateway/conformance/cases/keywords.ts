import { type Json, json, type Sent, type Subject } from '../subject.ts';

const wright = (section: string) => `JSON Schema Validation (wright-00), ${section}`;
const OBJECT = 'OpenAPI 3.0.3, Schema Object';
const TYPES = 'OpenAPI 3.0.3, Data Types';
const deep = (levels: number, inside: string) => '['.repeat(levels) + inside + ']'.repeat(levels);
const check = (
  group: string,
  schema: Json,
  source: string,
  good: Sent[],
  bad: Sent[],
  schemas = {},
): Subject => json(`bodies: ${group}`, schema, { source, good, bad }, schemas);
const array = (more: Json): Json => ({ type: 'array', items: {}, ...more });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const types: readonly Subject[] = [
  check(
    'types',
    { type: 'integer' },
    TYPES,
    ['7', '-7', '0'],
    ['1.5', '"7"', 'true', 'null', '1.0', '1e2'],
  ),
  check('types', { type: 'number' }, TYPES, ['1.5', '7', '1e2', '-0.0'], ['"1.5"', 'true', 'null']),
  check('types', { type: 'boolean' }, TYPES, ['true', 'false'], ['"true"', '1', '0', 'null']),
  check('types', { type: 'string' }, TYPES, ['"a"', '""'], ['1', 'null', 'true', '["a"]']),
  check('types', { type: 'object' }, TYPES, ['{}', '{"a":1}'], ['[]', 'null', '"{}"']),
  check('types', array({}), TYPES, ['[]', '[1]'], ['{}', '1', '"[]"']),
  check('types', { type: 'string', nullable: true }, OBJECT, ['null', '"a"'], ['1']),
  check(
    'types',
    { type: 'object', nullable: true, properties: { a: { type: 'integer' } } },
    OBJECT,
    ['null', '{"a":1}'],
    ['{"a":null}', '[]'],
  ),
  check(
    'types',
    {
      type: 'object',
      properties: { a: { type: 'array', nullable: true, items: { type: 'integer' } } },
    },
    OBJECT,
    ['{"a":null}', '{"a":[1]}'],
    ['{"a":[null]}'],
  ),
];

const numbers: readonly Subject[] = [
  check(
    'numbers',
    { type: 'integer', format: 'int32' },
    TYPES,
    ['2147483647', '-2147483648'],
    ['2147483648', '-2147483649'],
  ),
  check(
    'numbers',
    { type: 'integer', format: 'int64' },
    TYPES,
    ['9223372036854775807', '-9223372036854775808'],
    ['9223372036854775808', '-9223372036854775809', '1e30'],
  ),
  check(
    'numbers',
    { type: 'integer', minimum: 1, maximum: 3 },
    wright('5.3 and 5.5'),
    ['1', '3'],
    ['0', '4'],
  ),
  check(
    'numbers',
    { type: 'number', minimum: 1, exclusiveMinimum: true },
    wright('5.4'),
    ['1.001'],
    ['1', '1.0'],
  ),
  check(
    'numbers',
    { type: 'number', maximum: 1, exclusiveMaximum: true },
    wright('5.4'),
    ['0.999'],
    ['1'],
  ),
  check(
    'numbers',
    { type: 'integer', maximum: 9007199254740992 },
    wright('5.3'),
    ['9007199254740992'],
    ['9007199254740993'],
  ),
  check(
    'numbers',
    { type: 'integer', enum: [9007199254740991] },
    wright('5.20'),
    ['9007199254740991'],
    ['9007199254740990'],
  ),
  check(
    'numbers',
    { type: 'number', multipleOf: 0.01 },
    wright('5.1'),
    ['19.99', '4.35', '0.07', '1'],
    ['0.001', '19.995'],
  ),
  check('numbers', { type: 'number', multipleOf: 0.1 }, wright('5.1'), ['0.3', '1.1'], ['0.35']),
  check(
    'numbers',
    { type: 'integer', multipleOf: 3 },
    wright('5.1'),
    ['9', '0', '-3', '9007199254740993'],
    ['10', '9007199254740992'],
  ),
];

const strings: readonly Subject[] = [
  check(
    'strings',
    { type: 'string', maxLength: 1 },
    wright('5.6: characters, not bytes'),
    ['"a"', '"ä"', '"🐈"', '"\\ud83d\\udc08"'],
    ['"ab"'],
  ),
  check('strings', { type: 'string', minLength: 2 }, wright('5.7'), ['"ab"'], ['"a"', '"🐈"']),
  check(
    'strings',
    { type: 'string', pattern: 'b+' },
    wright('5.8: not anchored'),
    ['"abba"'],
    ['"a"'],
  ),
  check(
    'strings',
    { type: 'string', pattern: '^[a-z]+$' },
    wright('5.8'),
    ['"abc"'],
    ['"abc\\n"', '"Abc"', '""'],
  ),
  check(
    'strings',
    { type: 'string', enum: ['a', ''] },
    wright('5.20'),
    ['"a"', '""'],
    ['"A"', '"b"'],
  ),
  check(
    'strings',
    { type: 'string', format: 'date' },
    TYPES,
    ['"2024-02-29"'],
    ['"2023-02-29"', '"2024-13-01"', '"2024-02-29T00:00:00Z"'],
  ),
  check(
    'strings',
    { type: 'string', format: 'date-time' },
    TYPES,
    ['"2024-02-29T12:00:00Z"', '"2024-02-29t12:00:00.5-03:30"'],
    ['"2024-02-29 12:00"', '"2024-02-29T12:00:00"', '"2024-04-31T12:00:00Z"'],
  ),
  check(
    'strings',
    { type: 'string', format: 'byte' },
    TYPES,
    ['"aGVsbG8="', '""'],
    ['"a"', '"aGVsbG8*"'],
  ),
  check(
    'strings',
    { type: 'string', format: 'ipv4' },
    wright('7.3.4'),
    ['"192.0.2.1"'],
    ['"256.0.0.1"', '"1.2.3"'],
  ),
  check(
    'strings',
    { type: 'string', format: 'ipv6' },
    wright('7.3.5'),
    ['"::1"'],
    ['":::1"', '"12345::"'],
  ),
  check(
    'strings',
    { type: 'string', format: 'email' },
    wright('7.3.2'),
    ['"a@example.com"'],
    ['"example.com"', '"@example.com"'],
  ),
  check(
    'strings',
    { type: 'string', format: 'anything' },
    'OpenAPI 3.0.3, Data Types: format is open',
    ['"a"'],
    ['1'],
  ),
];

const lists: readonly Subject[] = [
  check(
    'lists',
    array({ items: { type: 'integer' } }),
    wright('5.9'),
    ['[1,2]'],
    ['[1,"2"]', '[null]'],
  ),
  check(
    'lists',
    array({ minItems: 1, maxItems: 2 }),
    wright('5.10 and 5.11'),
    ['[1]', '[1,2]'],
    ['[]', '[1,2,3]'],
  ),
  check(
    'lists',
    array({ uniqueItems: true }),
    wright('5.12'),
    ['[1,2]', '[1,true]', '[0,false]', '["1",1]', '[[1],[2]]'],
    ['[1,1]', '[1,1.0]', '[{"a":1,"b":2},{"b":2,"a":1}]', '[[1],[1]]'],
  ),
  check('lists', array({ enum: [[1, 2]] }), wright('5.20'), ['[1,2]'], ['[2,1]', '[1]']),
];

const objects: readonly Subject[] = [
  check(
    'objects',
    { type: 'object', required: ['a'] },
    wright('5.15'),
    ['{"a":1}', '{"a":null}'],
    ['{}', '{"A":1}'],
  ),
  check(
    'objects',
    { type: 'object', required: ['toString', 'constructor'] },
    wright('5.15'),
    ['{"toString":1,"constructor":2}'],
    ['{}', '{"toString":1}'],
  ),
  check(
    'objects',
    { type: 'object', properties: { a: { type: 'integer' } } },
    wright('5.16'),
    ['{"a":1}', '{"b":"x"}'],
    ['{"a":"1"}'],
  ),
  check(
    'objects',
    { type: 'object', properties: { a: {} }, additionalProperties: false },
    OBJECT,
    ['{"a":1}', '{}'],
    ['{"b":1}', '{"a":1,"toString":1}', '{"__proto__":1}'],
  ),
  check(
    'objects',
    { type: 'object', additionalProperties: { type: 'integer' } },
    OBJECT,
    ['{"a":1,"b":2}'],
    ['{"a":"1"}', '{"__proto__":"x"}'],
  ),
  check(
    'objects',
    { type: 'object', minProperties: 1, maxProperties: 2 },
    wright('5.13 and 5.14'),
    ['{"a":1}'],
    ['{}', '{"a":1,"b":2,"c":3}'],
  ),
  check(
    'objects',
    {
      type: 'object',
      required: ['id', 'a'],
      properties: { id: { type: 'integer', readOnly: true }, a: {} },
    },
    `${OBJECT}, readOnly: required for answers only`,
    ['{"a":1}'],
    ['{}'],
  ),
  check(
    'objects',
    { type: 'object', required: ['p'], properties: { p: { type: 'string', writeOnly: true } } },
    `${OBJECT}, writeOnly`,
    ['{"p":"x"}'],
    ['{}', '{"p":1}'],
  ),
  check(
    'objects',
    { type: 'object', properties: { a: { type: 'string', default: 'x' } } },
    `${OBJECT}, default`,
    ['{}', '{"a":"y"}'],
    ['{"a":1}'],
  ),
  check(
    'objects',
    { type: 'object', properties: { a: { type: 'string', deprecated: true } } },
    `${OBJECT}, deprecated`,
    ['{"a":"y"}'],
    [],
  ),
];

const combined: readonly Subject[] = [
  check(
    'combined',
    {
      allOf: [
        { type: 'object', required: ['a'] },
        { type: 'object', required: ['b'] },
      ],
    },
    wright('5.22'),
    ['{"a":1,"b":2}'],
    ['{"a":1}', '{"b":1}'],
  ),
  check(
    'combined',
    {
      oneOf: [
        { type: 'integer', multipleOf: 2 },
        { type: 'integer', multipleOf: 3 },
      ],
    },
    wright('5.24'),
    ['2', '3'],
    ['6', '5'],
  ),
  check(
    'combined',
    { anyOf: [{ type: 'string' }, { type: 'integer', minimum: 5 }] },
    wright('5.23'),
    ['"a"', '5'],
    ['4', 'true'],
  ),
  check('combined', { not: { type: 'string' } }, wright('5.25'), ['1', '{}'], ['"a"']),
  check(
    'combined',
    {
      allOf: [
        { $ref: '#/components/schemas/Named' },
        { type: 'object', properties: { n: { type: 'integer' } } },
      ],
    },
    OBJECT,
    ['{"name":"a","n":1}'],
    ['{"n":1}', '{"name":"a","n":"1"}'],
    { Named: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
  ),
  check(
    'combined',
    ref('Tree'),
    OBJECT,
    ['{"children":[{"children":[]}]}', '{}'],
    ['{"children":[{"children":1}]}'],
    {
      Tree: { type: 'object', properties: { children: { type: 'array', items: ref('Tree') } } },
    },
  ),
  check(
    'combined',
    { type: 'object', properties: { 'a/b~c%d': { type: 'integer' } } },
    OBJECT,
    ['{"a/b~c%d":1}'],
    ['{"a/b~c%d":"1"}'],
  ),
  check(
    'combined',
    {},
    `${OBJECT}: an empty schema allows any value`,
    ['1', '"a"', 'null', '{}', ['60 levels', deep(60, '1')]],
    [],
  ),
  check(
    'combined',
    { allOf: [ref('Lists')] },
    OBJECT,
    [['20 levels', deep(20, '')]],
    [['20 levels, wrong inside', deep(20, '1')]],
    { Lists: { type: 'array', items: ref('Lists') } },
  ),
];

const pet = (name: string, more: Json): Json => ({
  type: 'object',
  required: ['kind'],
  properties: { kind: { type: 'string' }, ...more },
  title: name,
});
const pets = {
  Cat: pet('Cat', { lives: { type: 'integer' } }),
  Dog: { ...pet('Dog', { bark: { type: 'string' } }), required: ['kind', 'bark'] },
};
const base = {
  Base: {
    type: 'object',
    required: ['type'],
    properties: { type: { type: 'string' } },
    discriminator: { propertyName: 'type' },
  },
};
const car = {
  Car: {
    allOf: [
      ref('Base'),
      { type: 'object', required: ['doors'], properties: { doors: { type: 'integer' } } },
    ],
  },
};
/** Only what 3.0.3 and 3.0.4 judge alike. */
const DISCRIMINATOR = 'OpenAPI 3.0.3 and 3.0.4, Discriminator Object';
const discriminators: readonly Subject[] = [
  check(
    'discriminator',
    { oneOf: [ref('Cat'), ref('Dog')], discriminator: { propertyName: 'kind' } },
    DISCRIMINATOR,
    ['{"kind":"Cat","lives":9}'],
    ['{"kind":"Cat","lives":"9"}', '{"lives":9}'],
    pets,
  ),
  check(
    'discriminator',
    {
      oneOf: [ref('Cat'), ref('Dog')],
      discriminator: {
        propertyName: 'kind',
        mapping: { c: '#/components/schemas/Cat', d: '#/components/schemas/Dog' },
      },
    },
    DISCRIMINATOR,
    ['{"kind":"c"}'],
    ['{"kind":"e","bark":"x"}', '{"kind":"c","lives":"x"}'],
  ),
  check(
    'discriminator',
    { anyOf: [ref('Base'), ref('Car')], discriminator: { propertyName: 'type' } },
    DISCRIMINATOR,
    ['{"type":"Car","doors":4}'],
    ['{"doors":4}'],
    { ...base, ...car },
  ),
];

export const keywords = [
  ...types,
  ...numbers,
  ...strings,
  ...lists,
  ...objects,
  ...combined,
  ...discriminators,
];
