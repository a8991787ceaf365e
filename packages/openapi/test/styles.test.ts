import { describe, expect, test } from '@jest/globals';
import type { Contract } from '../src/index.ts';
import { done, load, notesOf, only, problemsOf, short } from './documents.ts';

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

function contractFor({ in: place, style, explode }: Cell, schema: object): Contract {
  const parameters = [{ name: 'color', in: place, required: true, style, explode, schema }];
  return load({ [place === 'path' ? '/{color}' : '/']: { get: { parameters, responses: done } } });
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

test.each([
  [
    'color=blue%2Cblack',
    [],
    'form',
    false,
    { type: 'array', items: { type: 'string', enum: ['blue,black'] } },
  ],
  ['color=blue+black', [], 'spaceDelimited', false, list('string', { minItems: 2 })],
  ['color=blue%7Cblack', [], 'pipeDelimited', false, list('string', { minItems: 2 })],
  ['color=1&color=2', [], 'spaceDelimited', true, list('integer', { minItems: 2 })],
  ['color=1&color=2', [], 'pipeDelimited', true, list('integer', { minItems: 2 })],
  ['color=', ['/color must have at least 1 entry'], 'form', false, list('string', { minItems: 1 })],
  ['color=1,2&color=3', ['/color is given more than once'], 'form', false, list('integer')],
  ['color=1,x,3', ['/color/1 must be an integer'], 'form', false, list('integer')],
  [
    'color%5BR%5D=100',
    [],
    'deepObject',
    true,
    { type: 'object', required: ['R'], properties: { R: { type: 'integer' } } },
  ],
  [
    'color[R]=1&color[R]=2',
    ['/color/R is given more than once'],
    'deepObject',
    true,
    { type: 'object' },
  ],
  [
    'color[R]=1&color[R]=2',
    [],
    'deepObject',
    true,
    {
      type: 'object',
      properties: { R: list('integer', { minItems: 2 }) },
    },
  ],
  ['color[a][b]=1', [], 'deepObject', true, { type: 'object' }],
  [
    'color[R]=x',
    ['/color/R must be an integer'],
    'deepObject',
    true,
    { type: 'object', properties: { R: { type: 'integer' } } },
  ],
  [
    'color[__proto__]=1',
    ['/color/__proto__ is not defined in the contract'],
    'deepObject',
    true,
    { type: 'object', additionalProperties: false },
  ],
  ['color[]=1&color[]=2', [], 'deepObject', true, list('integer', { minItems: 2 })],
  ['color[0]=1&color%5B1%5D=2', [], 'deepObject', true, list('integer', { minItems: 2 })],
  ['color[]=x', ['/color/0 must be an integer'], 'deepObject', true, list('integer')],
  [
    'color[1]=1&color[0]=2',
    ['/color must be written like color[]=x&color[]=y'],
    'deepObject',
    true,
    list('integer'),
  ],
  [
    'color=1',
    ['/color is required', '/color is not a parameter of this operation'],
    'deepObject',
    true,
    list('integer'),
  ],
  ['color=1', [], 'deepObject', true, { anyOf: [{ type: 'object' }, { type: 'integer' }] }],
  ['color[R]=1', [], 'deepObject', true, { anyOf: [{ type: 'object' }, { type: 'integer' }] }],
  [
    'color=1&color=2',
    ['/color is given more than once'],
    'deepObject',
    true,
    { anyOf: [{ type: 'object' }, { type: 'integer' }] },
  ],
  [
    'color=1&color[R]=1',
    ['/color must be written like color[a]=x&color[b]=y'],
    'deepObject',
    true,
    { anyOf: [{ type: 'object' }, { type: 'integer' }] },
  ],
  [
    'x=1&y=2',
    [],
    'form',
    true,
    { type: 'object', additionalProperties: { type: 'integer' }, minProperties: 2 },
  ],
  [
    'x=1&y=b',
    ['/color/y must be an integer'],
    'form',
    true,
    { type: 'object', additionalProperties: { type: 'integer' } },
  ],
  [
    'R=1&R=2',
    ['/color/R is given more than once'],
    'form',
    true,
    { type: 'object', properties: { R: {} }, additionalProperties: false },
  ],
  [
    'R=1&S=2',
    ['/S is not a parameter of this operation'],
    'form',
    true,
    { type: 'object', properties: { R: {} }, additionalProperties: false },
  ],
  ['color=R,1,R,2', ['/color/R is given more than once'], 'form', false, { type: 'object' }],
] as const)(
  'the query %s gives %j as %s, explode: %s',
  (query, expected, style, explode, schema) => {
    const cell: Cell = { in: 'query', style, explode };
    expect(send(contractFor(cell, schema), cell, query)).toEqual(expected);
  },
);

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
  const contract = load({ '/': { get: { parameters, responses: done } } }, { schemas: { Range } });
  const ask = (query: string) => short(only(contract).checkParameters([], query, []));

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
    const both = load(
      { '/': { get: { parameters: [...parameters, literal], responses: done } } },
      { schemas: { Range } },
    );
    expect(short(only(both).checkParameters([], 'f[where]=x&f[name]=x', []))).toEqual([
      '/f[where] must be an integer',
    ]);
  });

  test('that no request can have are a note', () => {
    const nested = (levels: number): object =>
      levels === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(levels - 1) } };
    const notes = (levels: number) => {
      const deep = { name: 'f', in: 'query', style: 'deepObject', schema: nested(levels) };
      return notesOf(load({ '/': { get: { parameters: [deep], responses: done } } }));
    };
    expect(notes(5)).toEqual([]);
    expect(notes(6)).toEqual([
      'has members below five levels of brackets, which no request can have',
    ]);
  });
});

describe('a required exploded object', () => {
  const ask = (schema: object, query: string) => {
    const parameters = [{ name: 'p', in: 'query', required: true, schema }];
    return short(
      only(load({ '/': { get: { parameters, responses: done } } })).checkParameters([], query, []),
    );
  };
  const optional = { type: 'object', properties: { q: { type: 'integer' } } };

  test('may be empty, which leaves the query empty', () => {
    expect(ask(optional, '')).toEqual([]);
    expect(ask(optional, 'q=1')).toEqual([]);
    expect(ask(optional, 'q=x')).toEqual(['/p/q must be an integer']);
  });

  test.each<object>([
    { ...optional, required: ['q'] },
    { ...optional, minProperties: 1 },
  ])('is missing if %j needs a member', (schema) => {
    expect(ask(schema, '')).toEqual(['/p is required']);
  });
});

test.each([
  ['query', 'form', 'color=a%2Cb%2cc,d', 1, 4],
  ['path', 'simple', 'a%2Cb', 1, 2],
  ['header', 'simple', 'a%2Cb', 1, 1],
  ['cookie', 'form', 'color=a%2Cb', 1, 2],
] as const)(
  'a comma that is encoded in %s %s separates where it may',
  (place, style, text, data, separators) => {
    for (const [encodedCommas, entries] of [
      ['data', data],
      ['separators', separators],
    ] as const) {
      const schema = {
        type: 'array',
        items: { type: 'string' },
        minItems: entries,
        maxItems: entries,
      };
      const cell: Cell = { in: place, style, explode: false };
      const parameters = [
        { name: 'color', in: place, required: true, style, explode: false, schema },
      ];
      const path = place === 'path' ? '/{color}' : '/';
      const contract = load(
        { [path]: { get: { parameters, responses: done } } },
        {},
        { encodedCommas },
      );
      const found = send(
        contract,
        cell,
        place === 'query' && encodedCommas === 'data' ? text.replace(',d', '') : text,
      );
      expect([encodedCommas, found]).toEqual([encodedCommas, []]);
    }
  },
);

test('a style is refused where it has no place', () => {
  const parameter = (place: string, style: string, schema: object) => ({
    name: 'x',
    in: place,
    required: true,
    style,
    schema,
  });
  const problems = (...all: object[]) =>
    problemsOf(() => load({ '/': { get: { parameters: all, responses: done } } }));
  expect(problems(parameter('query', 'matrix', {}), parameter('header', 'form', {}))).toEqual([
    expect.stringContaining('must be form, spaceDelimited, pipeDelimited, deepObject in query'),
    expect.stringContaining('must be simple in header'),
  ]);
});

test('a number or text of style deepObject is noted, and read as form', () => {
  const schema = { anyOf: [{ type: 'integer' }, { type: 'string', enum: ['now'] }] };
  const parameters = [{ name: 'x', in: 'query', style: 'deepObject', explode: true, schema }];
  const contract = load({ '/': { get: { operationId: 'a', parameters, responses: done } } });
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
