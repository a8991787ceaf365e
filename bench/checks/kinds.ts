const SIZE = 2 ** 20;

export interface Kind {
  readonly type: string;
  /** The Content-Type, if it has parameters. */
  readonly sent?: string;
  readonly schema: object;
  readonly encoding?: object;
  readonly ends: readonly [string, string];
  readonly separator: string;
  readonly item: (i: number) => string;
  readonly most?: number;
  /** In bytes. */
  readonly size?: number;
  readonly faults?: number;
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
const list = (items: object, more: object = {}) => ({ type: 'array', items, ...more });
const json = {
  type: 'application/json',
  ends: ['[', ']'],
  separator: ',',
  item: (i: number) => `${i % 10}`,
} as const;
const object = { ...json, ends: ['{', '}'], item: (i: number) => `"n${i}":0` } as const;
const text = { ...json, ends: ['["', '"]'], separator: '', item: () => 'abcdefgh' } as const;
const xml = { type: 'application/xml', ends: ['<a>', '</a>'], separator: '' } as const;
const last = { type: 'integer' };
const objects = (count: number) =>
  numbers(count).map((i) => ({ type: 'object', required: [`a${i}`] }));
const strings = (count: number) =>
  numbers(count).map((i) => ({ type: 'string', minLength: i + 9 }));
const shapes = (count: number) =>
  numbers(count).map((i) => ({
    type: 'object',
    required: ['kind'],
    properties: { kind: { enum: [`k${i}`] }, a: last, b: { type: 'string' } },
  }));
const named = (count: number) =>
  numbers(count).map((i) => ({ $ref: `#/components/schemas/S${i}` }));
const refused = { pattern: '^x{3,40}y' };
const never = (count: number) => numbers(count).map((i) => ({ ...refused, minLength: i }));

const constants = (name: string, count: number) =>
  numbers(count).map((i) => ({ const: `${name}${i}` }));
const pairs = (depth: number): string =>
  depth === 0 ? '[]' : `[${pairs(depth - 1)},${pairs(depth - 1)}]`;
const tree = { $ref: '#/components/schemas/Alternatives' };

export const SCHEMAS: Readonly<Record<string, object>> = {
  ...Object.fromEntries(shapes(400).map((schema, i) => [`S${i}`, schema])),
  Alternatives: { anyOf: [list(tree, { minItems: 11 }), list(tree), { type: 'object' }] },
  Tree: { type: ['array', 'object', 'integer'], items: { $ref: '#/components/schemas/Tree' } },
};

const multipart = 'multipart/form-data';
const parts = (type: string) => ({
  type: multipart,
  sent: `${multipart}; boundary=b`,
  separator: '',
  ...partOf(type),
});

function partOf(type: string) {
  const head = `\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: ${type}\r\n\r\n`;
  return { ends: [`--b${head}[`, '0]\r\n--b--'], item: () => '1,' } as const;
}

export const KINDS: Readonly<Record<string, Kind>> = {
  numbers: { ...json, schema: list(last) },
  'not anyOf of 30': { ...json, schema: list({ not: { anyOf: objects(30) } }) },
  'anyOf of 30, the last matches': { ...json, schema: list({ anyOf: [...objects(29), last] }) },
  'oneOf of 30': { ...json, schema: list({ oneOf: [...objects(29), last] }) },
  'anyOf of 30 strings': {
    ...json,
    schema: list({ anyOf: [...strings(29), { type: 'string' }] }),
    item: () => '"abc"',
  },
  'anyOf of 30, invalid at the end': {
    ...json,
    ends: ['[', ',""]'],
    schema: list({ anyOf: [...objects(29), last] }),
    faults: 3,
  },
  '16 KiB, anyOf of 100': {
    ...json,
    size: 2 ** 14,
    schema: list({ anyOf: [...objects(99), last] }),
  },
  '16 KiB, anyOf of 200': {
    ...json,
    size: 2 ** 14,
    schema: list({ anyOf: [...objects(199), last] }),
  },
  '16 KiB, anyOf of 400': {
    ...json,
    size: 2 ** 14,
    schema: list({ anyOf: [...objects(399), last] }),
  },
  '16 KiB, anyOf of 1,000': {
    ...json,
    size: 2 ** 14,
    schema: list({ anyOf: [...objects(999), last] }),
  },
  '16 KiB, anyOf of 400 names': {
    ...json,
    size: 2 ** 14,
    schema: list({ anyOf: named(400) }),
    item: () => '{"kind":"k399","a":1}',
  },
  '16 KiB, oneOf of 400 names, discriminator': {
    ...json,
    size: 2 ** 14,
    schema: list({ oneOf: named(400), discriminator: { propertyName: 'kind' } }),
    item: () => '{"kind":"k399","a":1}',
  },
  '1 MiB, oneOf of 400 names, discriminator': {
    ...json,
    schema: list({ oneOf: named(400), discriminator: { propertyName: 'kind' } }),
    item: () => '{"kind":"k399","a":1}',
  },
  'contains of 10, unevaluatedItems': {
    ...json,
    schema: {
      allOf: numbers(10).map((i) => ({ contains: { enum: [i] } })),
      unevaluatedItems: false,
    },
  },
  unevaluatedProperties: {
    ...object,
    schema: { anyOf: [{ required: ['n0'] }], unevaluatedProperties: last },
  },
  'minContains of 10': {
    ...json,
    schema: { allOf: numbers(10).map((i) => ({ contains: { enum: [i] }, minContains: 40_000 })) },
  },
  'uniqueItems, numbers': { ...json, schema: { uniqueItems: true }, item: (i) => `${i}` },
  'uniqueItems, objects': { ...json, schema: { uniqueItems: true }, item: (i) => `{"a":${i}}` },
  'uniqueItems, a wide object': {
    ...object,
    ends: ['[{', '},{}]'],
    schema: { uniqueItems: true },
  },
  'enum of an object': { ...object, schema: { enum: [{ a: 1 }] }, faults: 1 },
  'a wide object': { ...object, schema: {} },
  additionalProperties: { ...object, schema: { additionalProperties: last } },
  'additionalProperties in anyOf of 30': {
    ...object,
    ends: ['{', ',"x":""}'],
    schema: {
      anyOf: [...numbers(29).map((i) => ({ minProperties: i, additionalProperties: last })), {}],
    },
  },
  'patternProperties of 20': {
    ...object,
    schema: {
      patternProperties: Object.fromEntries(numbers(20).map((i) => [`^[a-z]+${i}`, last])),
    },
  },
  propertyNames: { ...object, schema: { propertyNames: { pattern: '^n[0-9]+$' } } },
  dependentSchemas: {
    ...object,
    schema: { dependentSchemas: { n0: { additionalProperties: last } } },
  },
  'a tree': {
    ...json,
    schema: { $ref: '#/components/schemas/Tree' },
    item: () => '[[[[1],[2]],[[3],[4]]],[[5]]]',
  },
  'long text, 30 patterns': { ...text, schema: list({ not: { anyOf: never(30) } }) },
  'long text, 30 lengths': {
    ...text,
    schema: list({
      not: { anyOf: numbers(30).map((i) => ({ minLength: 900_000, maxLength: 600_000 + i })) },
    }),
  },
  'long text, uri': { ...text, schema: list({ format: 'uri' }), ends: ['["a:', '"]'] },
  'long text, escapes': { ...text, schema: {}, item: () => '\\u0041' },
  'a list of faults': { ...json, schema: list({ type: 'string' }), faults: 50 },
  'U+FFFD, then not UTF-8': {
    ...text,
    schema: {},
    item: () => '\ufffd',
    ends: ['["', '\u0080'],
    faults: 1,
  },
  'a form': form({ additionalProperties: { type: 'string' } }),
  'a form of known names': {
    ...form({ properties: Object.fromEntries(numbers(200).map((i) => [`n${i}`, {}])) }),
  },
  '300 KB, a map of oneOf with 48 constants': {
    ...object,
    schema: {
      additionalProperties: {
        oneOf: [...constants('a', 3), { oneOf: constants('b', 45) }],
      },
    },
    ends: ['{', ',"last":0}'],
    item: (i) => `"name-${i}":"a0"`,
    size: 300_000,
    faults: 49,
  },
  'lists in alternatives': { ...json, schema: tree, item: () => '[[],[]]' },
  'lists in lists, `uniqueItems`': {
    ...json,
    schema: list({ type: 'array', uniqueItems: true }),
    item: () => `[${pairs(12)},[]]`,
  },
  'a form, one list': {
    ...form({ properties: { a: list({ type: 'string' }) } }),
    item: () => 'a=1',
  },
  'a form, one list with commas': {
    ...form({ properties: { a: list({ type: 'string' }) } }),
    encoding: { a: { explode: false } },
    ends: ['a=', ''],
    separator: ',',
    item: () => '1',
  },
  'multipart, JSON': {
    ...parts('application/json'),
    schema: { type: 'object', properties: { a: { type: 'object' } } },
    faults: 1,
  },
  'multipart, parts': {
    ...parts('text/plain'),
    schema: { type: 'object', properties: { a: list({ type: 'string' }) } },
    ends: ['', '--b--'],
    most: 1_000,
    item: () =>
      '--b\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: text/plain\r\n\r\n1\r\n',
  },
  'XML, elements': { ...xml, schema: {}, item: () => '<b>12345678901</b>', most: 49_999 },
  'XML, names': { ...xml, schema: { type: 'object' }, item: (i) => `<n${i}/>`, most: 49_999 },
  'XML, attributes': { ...xml, schema: {}, item: () => `<b ${attributes(40)}/>` },
  'XML, text': { ...xml, schema: {}, item: () => 'x&lt;' },
};

function form(more: object): Kind {
  const type = 'application/x-www-form-urlencoded';
  return {
    type,
    schema: { type: 'object', ...more },
    ends: ['', ''],
    separator: '&',
    item: (i) => `n${i}=1`,
  };
}

function attributes(count: number): string {
  return Array.from({ length: count }, (_, i) => `c${i}=""`).join(' ');
}

export function bodyOf(kind: Kind): Buffer {
  const { ends, separator, item, most = Number.POSITIVE_INFINITY, size = SIZE } = kind;
  const [start, end] = ends;
  const items: string[] = [];
  let length = start.length + end.length;
  for (let i = 0; i < most; i++) {
    const next = item(i);
    length += Buffer.byteLength(next) + separator.length;
    if (length > size) break;
    items.push(next);
  }
  // U+0080 stands for a byte that is not UTF-8.
  const body = Buffer.from(start + items.join(separator) + end);
  return end === '\u0080' ? body.subarray(0, -1) : body;
}
