/** A contract with small operations, and one for each kind of body that is expensive to check. */

const SIZE = 2 ** 20;

interface HeavyBody {
  readonly path: string;
  readonly type: string;
  readonly schema: object;
  readonly text: () => string;
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => i);
const array = (items: object) => ({ type: 'array', items });
const json = (size: number, item: string) => () => `[${repeated(size - 2, item, ',')}]`;

const integers = numbered(30).map((i) => ({ type: 'integer', minimum: i + 9 }));
const objects = numbered(400).map((i) => ({ type: 'object', required: [`a${i}`] }));
const contains = numbered(10).map((i) => ({ contains: { const: i } }));

export const HEAVY_BODIES: Readonly<Record<string, HeavyBody>> = {
  'not anyOf of 30': {
    path: '/not',
    type: 'application/json',
    schema: array({ not: { anyOf: integers } }),
    text: json(SIZE, '1'),
  },
  '400 alternatives': {
    path: '/alternatives',
    type: 'application/json',
    schema: array({ anyOf: objects }),
    text: json(16 * 1_024, '{"a399":0}'),
  },
  'a form': {
    path: '/form',
    type: 'application/x-www-form-urlencoded',
    schema: { type: 'object', additionalProperties: { type: 'string' } },
    text: () =>
      numbered(115_000)
        .map((i) => `n${i}=1`)
        .join('&'),
  },
  XML: {
    path: '/xml',
    type: 'application/xml',
    schema: {},
    text: () => `<a>${repeated(SIZE - 7, '<b>12345678901234</b>', '')}</a>`,
  },
  unevaluatedItems: {
    path: '/unevaluated',
    type: 'application/json',
    schema: { type: 'array', allOf: contains, unevaluatedItems: { type: 'integer' } },
    text: json(SIZE, '0,1,2,3,4,5,6,7,8,9'),
  },
};

function repeated(size: number, item: string, separator: string): string {
  const count = Math.floor((size + separator.length) / (item.length + separator.length));
  return Array.from({ length: count }, () => item).join(separator);
}

const done = { responses: { 200: { description: 'Done.' }, 201: { description: 'Created.' } } };
const post = (type: string, schema: object, more: object = {}) => {
  const requestBody = { required: true, content: { [type]: { schema } } };
  return { post: { requestBody, ...done, ...more } };
};

export function contract(): string {
  const item = {
    type: 'object',
    required: ['id', 'name'],
    properties: { id: { type: 'integer' }, name: { type: 'string', maxLength: 100 } },
  };
  const heavy = Object.values(HEAVY_BODIES).map(({ path, type, schema }) => [
    path,
    post(type, schema),
  ]);
  const paths = {
    '/small': { get: done },
    '/large': { get: done },
    '/public': {
      get: { ...done, security: [] },
      ...post('application/json', array(item), { security: [] }),
    },
    '/items': post('application/json', array(item)),
    '/upload': post('application/json', {}),
    ...Object.fromEntries(heavy),
  };
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Neighbours', version: '1' },
    security: [{ key: [] }],
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
    paths,
  });
}
