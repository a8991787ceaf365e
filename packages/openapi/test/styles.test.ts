import { describe, expect, test } from '@jest/globals';
import type { Contract, Reading } from '../src/index.ts';
import { asking, done, load, notesOf, only, problemsOf, queryChecker, short } from './documents.ts';

const list = (type: string, more: object = {}) => ({ type: 'array', items: { type }, ...more });

/** Table "Style Examples" of OpenAPI 3.0.3, without `matrix`; `empty` is for the string ''. */
interface Cell {
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly style: string;
  readonly explode: boolean;
  readonly empty?: string | undefined;
  readonly string?: string | undefined;
  readonly array?: string | undefined;
  readonly object?: string | undefined;
}

const table = `
  path   label          false .      .blue      .blue.black.brown .R.100.G.200.B.150
  path   label          true  .      .blue      .blue.black.brown .R=100.G=200.B=150
  query  form           false color= color=blue color=blue,black,brown color=R,100,G,200,B,150
  query  form           true  color= color=blue color=blue&color=black&color=brown R=100&G=200&B=150
  cookie form           false color= color=blue color=blue,black,brown color=R,100,G,200,B,150
  cookie form           true  color= color=blue color=blue&color=black&color=brown R=100&G=200&B=150
  path   simple         false -      blue       blue,black,brown R,100,G,200,B,150
  path   simple         true  -      blue       blue,black,brown R=100,G=200,B=150
  header simple         false -      blue       blue,black,brown R,100,G,200,B,150
  header simple         true  -      blue       blue,black,brown R=100,G=200,B=150
  query  spaceDelimited false -      -          color=blue%20black%20brown color=R%20100%20G%20200%20B%20150
  query  pipeDelimited  false -      -          color=blue|black|brown color=R|100|G|200|B|150
  query  deepObject     true  -      -          - color[R]=100&color[G]=200&color[B]=150
`
  .trim()
  .split('\n')
  .map((line): Cell => {
    const [where, style, explode, ...texts] = line.trim().split(/\s+/) as [Cell['in'], ...string[]];
    const [empty, string, array, object] = texts.map((text) => (text === '-' ? undefined : text));
    return { in: where, style: style!, explode: explode === 'true', empty, string, array, object };
  });

const integer = (value: number) => ({ type: 'integer', enum: [value] });

const schemas = {
  empty: { type: 'string', enum: [''] },
  string: { type: 'string', enum: ['blue'] },
  array: { type: 'array', items: { type: 'string' }, enum: [['blue', 'black', 'brown']] },
  object: {
    type: 'object',
    required: ['R', 'G', 'B'],
    properties: { R: integer(100), G: integer(200), B: integer(150) },
    additionalProperties: false,
  },
};

function contractFor({ in: place, style, explode }: Cell, schema: object, reading?: Reading) {
  const parameter = { name: 'color', in: place, required: true, style, explode, schema };
  return asking([parameter], { reading }, place === 'path' ? '/{color}' : '/');
}

function send(contract: Contract, { in: place }: Cell, text: string): string[] {
  const operation = only(contract);
  if (place === 'path') return short(operation.checkParameters([text], '', []));
  if (place === 'query') return short(operation.checkParameters([], text, []));
  return short(
    operation.checkParameters(
      [],
      '',
      place === 'cookie' ? ['Cookie', `a=b; ${text}; c=d`] : ['Color', text],
    ),
  );
}

describe.each(table)('$in $style, explode: $explode', (cell) => {
  const kinds = (['empty', 'string', 'array', 'object'] as const).filter(
    (kind) => cell[kind] !== undefined,
  );

  test.each(kinds)('reads %s', (kind) => {
    expect(send(contractFor(cell, schemas[kind]), cell, cell[kind]!)).toEqual([]);
  });

  test.each(kinds.filter((kind) => kind !== 'empty'))('sees a difference in %s', (kind) => {
    const contract = contractFor(cell, schemas[kind]);
    const other = cell[kind]!.replace('blue', 'red').replace('100', '101');
    expect(send(contract, cell, other)).not.toEqual([]);
  });
});

test.each([
  ['label', false, 'string', 'blue', '/color must be written like .x'],
  ['label', false, 'object', '.R.100.G', '/color must be written like .a.x.b.y'],
  ['label', true, 'object', '.R.100', '/color must be written like .a=x.b=y'],
  ['simple', false, 'object', 'R,100,G', '/color must be written like a,x,b,y'],
  ['simple', true, 'object', 'R=100,G', '/color must be written like a=x,b=y'],
] as const)('says how %s, explode: %s, %s is written', (style, explode, kind, text, expected) => {
  const cell: Cell = { in: 'path', style, explode };
  expect(send(contractFor(cell, schemas[kind]), cell, text)).toEqual([expected]);
});

const object = (properties: object, more: object = {}) => ({
  type: 'object',
  properties,
  ...more,
});
const closed = { additionalProperties: false };
const integers = { additionalProperties: { type: 'integer' } };
const either = { anyOf: [{ type: 'object' }, { type: 'integer' }] };
const colors = { type: 'array', items: { type: 'string', enum: ['blue,black'] } };
const two = { minItems: 2 };
const R = { type: 'integer' };
const members = '/color must be written like color[a]=x&color[b]=y';

/** Of a style without and with explode. */
const QUERIES: Readonly<Record<string, readonly [string, object, ...faults: string[]][]>> = {
  'form false': [
    ['color=blue%2Cblack', colors],
    ['color=', list('string', { minItems: 1 }), '/color must have at least 1 entry'],
    ['color=1,2&color=3', list('integer'), '/color is given more than once'],
    ['color=1,x,3', list('integer'), '/color/1 must be an integer'],
    ['color=R,1,R,2', object({}), '/color/R is given more than once'],
  ],
  'form true': [
    ['x=1&y=2', object({}, { ...integers, minProperties: 2 })],
    ['x=1&y=b', object({}, integers), '/color/y must be an integer'],
    ['R=1&R=2', object({ R: {} }, closed), '/color/R is given more than once'],
    ['R=1&S=2', object({ R: {} }, closed), '/S is not a parameter of this operation'],
  ],
  'spaceDelimited false': [['color=blue+black', list('string', two)]],
  'spaceDelimited true': [['color=1&color=2', list('integer', two)]],
  'pipeDelimited false': [['color=blue%7Cblack', list('string', two)]],
  'pipeDelimited true': [['color=1&color=2', list('integer', two)]],
  'deepObject true': [
    ['color%5BR%5D=100', object({ R }, { required: ['R'] })],
    ['color[R]=1&color[R]=2', object({}), '/color/R is given more than once'],
    ['color[R]=1&color[R]=2', object({ R: list('integer', two) })],
    ['color[a][b]=1', object({})],
    ['color[R]=x', object({ R }), '/color/R must be an integer'],
    ['color[__proto__]=1', object({}, closed), '/color/__proto__ is not defined in the contract'],
    ['color[]=1&color[]=2', list('integer', two)],
    ['color[0]=1&color%5B1%5D=2', list('integer', two)],
    ['color[]=x', list('integer'), '/color/0 must be an integer'],
    ['color[1]=1&color[0]=2', list('integer'), '/color must be written like color[]=x&color[]=y'],
    ['color=1', list('integer'), '/color must be written like color[]=x&color[]=y'],
    ['color=1', object({}), members],
    ['color=1', either],
    ['color[R]=1', either],
    ['color=1&color=2', either, '/color is given more than once'],
    ['color=1&color[R]=1', either, members],
  ],
};

describe.each(Object.entries(QUERIES))('a query of style and explode %s', (how, rows) => {
  test.each(rows)('%s as %j', (query, schema, ...faults) => {
    const [style, explode] = how.split(' ') as [string, string];
    const cell: Cell = { in: 'query', style, explode: explode === 'true' };
    expect(send(contractFor(cell, schema), cell, query)).toEqual(faults);
  });
});

function written(name: string, value: unknown, entry: (index: number) => string): string[] {
  if (Array.isArray(value))
    return value.flatMap((inner, i) => written(name + entry(i), inner, entry));
  if (typeof value !== 'object') return [`${name}=${encodeURIComponent(String(value))}`];
  return Object.entries(value as object).flatMap(([key, inner]) =>
    written(`${name}[${key}]`, inner, entry),
  );
}

describe('brackets of deep objects', () => {
  const filter = {
    type: 'object',
    additionalProperties: false,
    properties: {
      where: {
        type: 'object',
        properties: { x: { type: 'integer' }, y: { $ref: '#/components/schemas/Range' } },
      },
      tags: list('integer', { maxItems: 3 }),
      name: { type: 'string' },
      order: {
        type: 'array',
        items: { type: 'object', required: ['by'], properties: { by: { type: 'string' } } },
      },
      free: {},
    },
  };
  const Range = {
    type: 'object',
    properties: { from: { type: 'integer' }, to: { type: 'integer' } },
  };
  const parameters = [{ name: 'f', in: 'query', style: 'deepObject', schema: filter }];
  const ask = queryChecker(asking(parameters, { schemas: { Range } }));

  test.each<object>([
    { where: { x: 1 } },
    { where: { x: 1, y: { from: 1, to: 2 } }, name: 'a b&c=[d]' },
    { tags: [1] },
    { tags: [1, 2, 3] },
    { tags: [1, 2], where: { y: { to: 3 } } },
  ])('are taken as qs, axios, Rails and PHP send them: %j', (value) => {
    for (const entry of [(i: number) => `[${i}]`, () => '[]', () => '']) {
      const pairs = written('f', value, entry);
      expect(ask(pairs.join('&'))).toEqual([]);
      expect(ask(pairs.join('&').replaceAll('[', '%5B').replaceAll(']', '%5D'))).toEqual([]);
    }
  });

  test('are taken for lists of objects, with indexes', () => {
    expect(ask('f[order][0][by]=a&f[order][0][x]=1&f[order][1][by]=b')).toEqual([]);
    expect(ask('f[order][0][by]=a&f[order][1][x]=b')).toEqual(['/f/order/1/by is required']);
  });

  test.each<[query: string, ...faults: string[]]>([
    ['f[where][x]=a', '/f/where/x must be an integer'],
    ['f[where][y][to]=a', '/f/where/y/to must be an integer'],
    ['f[tags][]=1&f[tags][]=a', '/f/tags/1 must be an integer'],
    ['f[tags][]=1&f[tags][]=2&f[tags][]=3&f[tags][]=4', '/f/tags must have at most 3 entries'],
    ['f[tags][1]=1&f[tags][0]=2', '/f/tags must be written like a[]=x&a[]=y or a[0]=x&a[1]=y'],
    ['f[tags][x]=1', '/f/tags must be written like a[]=x&a[]=y or a[0]=x&a[1]=y'],
    ['f[tags]=1&f[tags][]=2', '/f/tags is given more than once'],
    ['f[order][][by]=a', '/f/order must be written like a[]=x&a[]=y or a[0]=x&a[1]=y'],
    ['f[name][x]=a', '/f/name must be a string'],
    ['f[name]=a&f[name][x]=a', '/f/name is given more than once'],
    ['f[where]=a', '/f/where must be an object'],
    ['f[other][x]=a', '/f/other is not defined in the contract'],
    ['f[free][__proto__][x]=1'],
    ['f[free][a][b][c][d]=1'],
    ['f[free][a][b][c][d][e]=1', '/f[free][a][b][c][d][e] is not a parameter of this operation'],
    ['f[where][x=1', '/f[where][x is not a parameter of this operation'],
    ['f[where]x]=1', '/f[where]x] is not a parameter of this operation'],
    ['f[where]x[y]=1', '/f[where]x[y] is not a parameter of this operation'],
    ['f[[x]]=1', '/f[[x]] is not a parameter of this operation'],
    ['f[free][%ff]=1', 'has a name that is not UTF-8 in valid percent-encoding'],
  ])('have their faults at their place: %s', (query, ...faults) => {
    expect(ask(query)).toEqual(faults);
  });

  test('are refused beyond a number that takes too long', () => {
    const pairs = Array.from({ length: 4_097 }, (_, i) => `f[free][a][m${i}]=1`);
    expect(ask(pairs.slice(1).join('&'))).toEqual([]);
    expect(ask(pairs.join('&'))).toEqual(['/f has more than 4096 members in brackets']);
  });

  test('hold a name with brackets that the contract has for itself', () => {
    const literal = { name: 'f[where]', in: 'query', schema: { type: 'integer' } };
    const both = queryChecker(asking([...parameters, literal], { schemas: { Range } }));
    expect(both('f[where]=x&f[name]=x')).toEqual(['/f[where] must be an integer']);
  });

  test('that no request can have are a note', () => {
    const nested = (levels: number): object =>
      levels === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(levels - 1) } };
    const notes = (levels: number) => {
      const deep = { name: 'f', in: 'query', style: 'deepObject', schema: nested(levels) };
      return notesOf(asking([deep]));
    };
    expect(notes(5)).toEqual([]);
    expect(notes(6)).toEqual([
      'has members below five levels of brackets, which no request can have',
    ]);
  });
});

test.each<[what: string, more: object, query: string, ...faults: string[]]>([
  ['may be empty', {}, ''],
  ['may have its members', {}, 'q=1'],
  ['has faults of its members', {}, 'q=x', '/p/q must be an integer'],
  ['is missing if it needs a member', { required: ['q'] }, '', '/p is required'],
  ['is missing if it needs any member', { minProperties: 1 }, '', '/p is required'],
])('a required exploded object %s', (_what, more, query, ...faults) => {
  const schema = object({ q: { type: 'integer' } }, more);
  const ask = queryChecker(asking([{ name: 'p', in: 'query', required: true, schema }]));
  expect(ask(query)).toEqual(faults);
});

test.each<[Cell['in'], style: string, as: 'data' | 'separators', text: string, entries: number]>([
  ['query', 'form', 'data', 'color=a%2Cb%2cc', 1],
  ['query', 'form', 'separators', 'color=a%2Cb%2cc,d', 4],
  ['path', 'simple', 'data', 'a%2Cb', 1],
  ['path', 'simple', 'separators', 'a%2Cb', 2],
  ['header', 'simple', 'data', 'a%2Cb', 1],
  ['header', 'simple', 'separators', 'a%2Cb', 1],
  ['cookie', 'form', 'data', 'color=a%2Cb', 1],
  ['cookie', 'form', 'separators', 'color=a%2Cb', 2],
])('encoded commas in %s %s are %s: %s has %i entries', (place, style, as, text, entries) => {
  const schema = list('string', { minItems: entries, maxItems: entries });
  const cell: Cell = { in: place, style, explode: false };
  expect(send(contractFor(cell, schema, { encodedCommas: as }), cell, text)).toEqual([]);
});

test('a style is refused where it has no place', () => {
  const parameter = { name: 'x', required: true, schema: {} };
  const query = { ...parameter, in: 'query', style: 'matrix' };
  const header = { ...parameter, in: 'header', style: 'form' };
  expect(problemsOf(() => asking([query, header]))).toEqual([
    expect.stringContaining('must be form, spaceDelimited, pipeDelimited, deepObject in query'),
    expect.stringContaining('must be simple in header'),
  ]);
});

test('a number or text of style deepObject is noted, and read as form', () => {
  const schema = { anyOf: [{ type: 'integer' }, { type: 'string', enum: ['now'] }] };
  const contract = asking([{ name: 'x', in: 'query', style: 'deepObject', explode: true, schema }]);
  expect(notesOf(contract)).toEqual([
    'deepObject is for objects and lists: the parameter is read as form',
  ]);
  const statusOf = (query: string) =>
    contract.validateRequest({ method: 'GET', url: `/?${query}`, headers: {} }).status;
  expect(['x=7', 'x=now', 'x=then', 'x[y]=7', 'x=7&x=8'].map(statusOf)).toEqual([
    200, 200, 400, 400, 400,
  ]);
});

test('an operation with the style matrix is a mistake, which says that no path has a semicolon', () => {
  const x = { name: 'x', in: 'path', required: true, style: 'matrix', schema: { type: 'string' } };
  const paths = {
    '/a{x}': { get: { parameters: [x], responses: done } },
    '/b': { get: { responses: done } },
  };
  expect(problemsOf(() => load({ '/a;b': { get: { responses: done } } }))).toEqual([
    expect.stringContaining('has a semicolon, which servers read in different ways'),
  ]);
  const message = expect.stringContaining(
    'matrix cannot be used: servers read a semicolon in a path in different ways',
  );
  expect(problemsOf(() => load(paths))).toEqual([message]);
  const { operations, exempted } = load(paths, {}, { onUnsupported: 'omit' });
  expect(operations.map(({ path }) => path)).toEqual(['/b']);
  expect(exempted).toMatchObject([{ path: '/a{x}', treatment: 'omit', problems: [{ message }] }]);
});
