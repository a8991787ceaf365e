/** A contract with small operations, and one for each kind of body that is expensive to check. */

const SIZE = 2 ** 20;

export interface HeavyBody {
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

const JSON_TYPE = 'application/json';

function heavy(path: string, schema: object, text: () => string, type = JSON_TYPE): HeavyBody {
  return { path, type, schema, text };
}

export const HEAVY_BODIES: Readonly<Record<string, HeavyBody>> = {
  'not anyOf of 30': heavy('/not', array({ not: { anyOf: integers } }), json(SIZE, '1')),
  '400 alternatives': heavy(
    '/alternatives',
    array({ anyOf: objects }),
    json(16 * 1_024, '{"a399":0}'),
  ),
  'a form': heavy(
    '/form',
    { type: 'object', additionalProperties: { type: 'string' } },
    () => Array.from(numbered(115_000), (i) => `n${i}=1`).join('&'),
    'application/x-www-form-urlencoded',
  ),
  XML: heavy(
    '/xml',
    {},
    () => `<a>${repeated(SIZE - 7, '<b>12345678901234</b>', '')}</a>`,
    'application/xml',
  ),
  unevaluatedItems: heavy(
    '/unevaluated',
    { type: 'array', allOf: contains, unevaluatedItems: { type: 'integer' } },
    json(SIZE, '0,1,2,3,4,5,6,7,8,9'),
  ),
};

function repeated(size: number, item: string, separator: string): string {
  const count = Math.floor((size + separator.length) / (item.length + separator.length));
  return Array.from({ length: count }, () => item).join(separator);
}

const done = { responses: { 200: { description: 'Done.' }, 201: { description: 'Created.' } } };
const post = (schema: object, more: object = {}, type = JSON_TYPE) => {
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
    post(schema, {}, type),
  ]);
  const paths = {
    '/small': { get: done },
    '/large': { get: done },
    '/public': {
      get: { ...done, security: [] },
      ...post(array(item), { security: [] }),
    },
    '/items': post(array(item)),
    '/upload': post({}),
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
