import { parameter, type Subject } from '../subject.ts';

const STYLES = 'OpenAPI 3.0.3, Parameter Object, Style Examples';
const FIXED = 'OpenAPI 3.0.3, Parameter Object, Fixed Fields';
const TYPES = 'OpenAPI 3.0.3, Data Types';
const integer = { type: 'integer' };
const string = { type: 'string', enum: ['blue', 'black'] };
const list = { type: 'array', items: integer };
const object = {
  type: 'object',
  required: ['R'],
  properties: { R: integer, G: integer },
  additionalProperties: false,
};
const styled = (
  place: string,
  style: string,
  explode: boolean,
  schema: object,
  good: string[],
  bad: string[],
): Subject =>
  parameter(
    `parameters: ${place}`,
    { in: place, style, explode, required: true, schema },
    { source: STYLES, good, bad },
  );

/** The table "Style Examples", row by row, with a wrong text for each. */
const table: readonly Subject[] = [
  styled('path', 'simple', false, string, ['blue', '%62lue'], ['red', 'blue,black']),
  styled('path', 'simple', false, integer, ['7', '-7'], ['x', '7x', '1.5', '0x10', '%207']),
  styled('path', 'simple', false, list, ['1', '1,2,3'], ['1,x', '1;2']),
  styled('path', 'simple', false, object, ['R,1,G,2', 'R,1'], ['R=1,G=2', 'G,2', 'R,x', 'R,1,B,2']),
  styled('path', 'simple', true, object, ['R=1,G=2', 'R=1'], ['R,1,G,2', 'G=2', 'R=x', 'R=1,B=2']),
  styled('path', 'label', false, string, ['.blue'], ['blue', '.red']),
  styled('path', 'label', false, list, ['.1.2.3', '.1'], ['1.2.3', '.1.x']),
  styled('path', 'label', true, list, ['.1.2.3'], ['.1,x']),
  styled('path', 'label', false, object, ['.R.1.G.2'], ['.R=1.G=2', 'R.1.G.2', '.G.2']),
  styled('path', 'label', true, object, ['.R=1.G=2'], ['.R.1.G.2', '.R=x']),
  styled('path', 'matrix', false, string, [';p=blue'], ['blue', ';p=red', ';q=blue']),
  styled('path', 'matrix', true, list, [';p=1;p=2'], ['1,2', ';p=1;p=x']),
  styled('path', 'matrix', true, object, [';R=1;G=2'], [';p=R,1,G,2', ';R=x']),
  styled(
    'query',
    'form',
    true,
    string,
    ['p=blue', 'p=%62lue', '%70=blue'],
    ['p=red', '', 'p', 'P=blue'],
  ),
  styled('query', 'form', true, list, ['p=1&p=2', 'p=1'], ['p=1,2', 'p=x', 'p=1&p=x']),
  styled('query', 'form', false, list, ['p=1,2,3', 'p=1'], ['p=1,x', 'p=1|2']),
  styled('query', 'form', true, object, ['R=1&G=2', 'R=1'], ['R=x', 'G=2', 'R=1&G=x']),
  styled('query', 'form', false, object, ['p=R,1,G,2'], ['p=R,x', 'p=G,2', 'p=R=1,G=2']),
  styled('query', 'spaceDelimited', false, list, ['p=1%202%203', 'p=1'], ['p=1%20x', 'p=1,2']),
  styled('query', 'pipeDelimited', false, list, ['p=1|2|3', 'p=1%7C2', 'p=1'], ['p=1|x', 'p=1,2']),
  styled(
    'query',
    'deepObject',
    true,
    object,
    ['p[R]=1&p[G]=2', 'p%5BR%5D=1'],
    ['p[R]=x', 'p[G]=2', 'p=R,1', 'p[R]=1&p[B]=2'],
  ),
  styled('header', 'simple', false, string, ['blue'], ['red']),
  styled('header', 'simple', false, integer, ['7'], ['x', '1.5', '']),
  styled('header', 'simple', false, list, ['1,2,3', '1'], ['1,x']),
  styled('header', 'simple', false, object, ['R,1,G,2'], ['R,x', 'G,2']),
  styled('header', 'simple', true, object, ['R=1,G=2'], ['R=x', 'R,1,G,2']),
  styled('cookie', 'form', false, string, ['p=blue', 'a=b; p=blue; c=d'], ['p=red', 'q=blue', '']),
  styled('cookie', 'form', false, integer, ['p=7'], ['p=x']),
  styled('cookie', 'form', false, list, ['p=1,2,3'], ['p=1,x']),
  styled('cookie', 'form', false, object, ['p=R,1,G,2'], ['p=R,x']),
];

const query = (
  schema: object,
  source: string,
  good: string[],
  bad: string[],
  more: object = {},
): Subject =>
  parameter('parameters: values', { in: 'query', schema, ...more }, { source, good, bad });

const values: readonly Subject[] = [
  query({ type: 'boolean' }, TYPES, ['p=true', 'p=false'], ['p=1', 'p=TRUE', 'p=yes']),
  query(
    { type: 'number' },
    TYPES,
    ['p=1.5', 'p=-2', 'p=1e3'],
    ['p=x', 'p=1.5.2', 'p=0x1F', 'p=Infinity', 'p=NaN'],
  ),
  query(
    { type: 'integer', format: 'int32' },
    TYPES,
    ['p=2147483647', 'p=-2147483648'],
    ['p=2147483648'],
  ),
  query(
    { type: 'integer', format: 'int64' },
    TYPES,
    ['p=9223372036854775807', 'p=-9223372036854775808'],
    ['p=9223372036854775808', 'p=1.5'],
  ),
  query(
    { type: 'integer', maximum: 9007199254740992 },
    'JSON Schema Validation (wright-00), 5.3',
    ['p=9007199254740992'],
    ['p=9007199254740993'],
  ),
  query(
    { type: 'string', format: 'date' },
    TYPES,
    ['p=2024-02-29'],
    ['p=2023-02-29', 'p=2024-2-9', 'p=today'],
  ),
  query(
    { type: 'string', format: 'date-time' },
    TYPES,
    ['p=2024-02-29T12:00:00Z', 'p=2024-02-29T12:00:00.5%2B02:00'],
    ['p=2024-02-29', 'p=2024-02-29T25:00:00Z', 'p=2024-02-30T12:00:00Z'],
  ),
  query(
    { type: 'string', minLength: 2, maxLength: 3 },
    'JSON Schema Validation (wright-00), 5.6',
    ['p=ab', 'p=%C3%A4%C3%A4', 'p=%F0%9F%90%88%F0%9F%90%88%F0%9F%90%88'],
    ['p=a', 'p=abcd', 'p=%F0%9F%90%88'],
  ),
  query(
    { type: 'string', pattern: 'b.d' },
    'JSON Schema Validation (wright-00), 5.8',
    ['p=bad', 'p=abide%20bod'],
    ['p=bd'],
  ),
  query(
    { type: 'array', items: { type: 'string' }, minItems: 2, uniqueItems: true },
    'JSON Schema Validation (wright-00), 5.11 and 5.12',
    ['p=a&p=b'],
    ['p=a', 'p=a&p=a'],
  ),
  query(
    { type: 'array', items: { type: 'string', maxLength: 3 } },
    'RFC 6570, 3.2.1: an encoded comma is data',
    ['p=a%2Cb,c'],
    ['p=a%2Cb%2Cc'],
    { style: 'form', explode: false },
  ),
  query(integer, FIXED, ['', 'p=1'], ['p=x']),
  query(integer, FIXED, ['p='], ['p=x'], { allowEmptyValue: true }),
  query(integer, FIXED, ['p=1'], ['', 'q=1'], { required: true }),
  query({ type: 'string', maxLength: 7 }, FIXED, ['p=a/b?c:d', 'p=a%2Fb'], ['p=a/b?c:d@'], {
    allowReserved: true,
  }),
  query(
    { anyOf: [{ type: 'integer' }, { enum: ['all'] }] },
    'OpenAPI 3.0.3, Schema Object',
    ['p=7', 'p=all'],
    ['p=some'],
  ),
  query({ type: 'string' }, STYLES, ['p=true', 'p=12', 'p=null'], []),
  parameter(
    'parameters: values',
    { in: 'query', content: { 'application/json': { schema: object } } },
    {
      source: FIXED,
      good: ['p=%7B%22R%22%3A1%7D'],
      bad: ['p=%7B%22R%22%3A%22x%22%7D', 'p=R', 'p=%7B'],
    },
  ),
  parameter(
    'parameters: values',
    { in: 'path', schema: { type: 'string' } },
    {
      source: 'RFC 3986, 2.2: encoded, they are data',
      good: ['a%2Fb', 'a%3Bb', 'a%20b', '%C3%A4'],
      bad: [],
    },
  ),
];

export const parameters = [...table, ...values];
