import { describe, expect, test } from '@jest/globals';
import { nearest } from '../src/nearest.ts';
import { asking, checker, queryChecker } from './documents.ts';

test.each<[name: string, meant: string | null]>([
  ['nmae', 'name'],
  ['Name', 'name'],
  ['names', 'name'],
  ['name', null],
  ['id', 'ids'],
  ['x', null],
  ['postalcode', 'postalCode'],
  ['postal_code', 'postalCode'],
  ['zip', null],
  ['n'.repeat(65), null],
])('a name such as %s stands for %s', (name, meant) => {
  expect(nearest(name, ['name', 'postalCode', 'ids'])).toBe(meant);
});

const fill = (count: number) => Array.from({ length: count }, (_, i) => `${i}`.padStart(9, '#'));

test.each<[limit: string, name: string, names: readonly string[], meant: string | null]>([
  ['at most two characters differ', 'description', ['descripxxxn'], null],
  ['two characters may differ', 'description', ['descriptxxn'], 'descriptxxn'],
  ['at most a third of a name differs', 'nxye', ['name'], null],
  ['an exchange counts once', 'ab12cd', ['ba21cd'], 'ba21cd'],
  ['the most similar name is meant', 'userName', ['userNxxe', 'userNamf', 'userNxme'], 'userNamf'],
  ['a name has at most 64 characters', 'n'.repeat(64), ['n'.repeat(65)], 'n'.repeat(65)],
  ['a longer name is not compared', 'n'.repeat(65), ['n'.repeat(64)], null],
  ['200 names are compared', 'nmae', [...fill(199), 'name'], 'name'],
  ['further names are not compared', 'nmae', [...fill(200), 'name'], null],
])('%s', (_limit, name, names, meant) => {
  expect(nearest(name, names)).toBe(meant);
});

describe('a misspelt name is reported with the one that may be meant', () => {
  const properties = { name: { type: 'string' }, age: { type: 'integer' } };
  const unknown = 'is not defined in the contract';

  test('for members of a body, at any depth', () => {
    const inner = { type: 'object', additionalProperties: false, properties };
    const check = checker({
      type: 'object',
      additionalProperties: false,
      properties: { owner: inner, pets: {} },
    });
    expect(check('{"Owner":{}}')).toEqual([`/Owner ${unknown}: did you mean owner?`]);
    expect(check('{"owner":{"nmae":"x","colour":1}}')).toEqual([
      `/owner/nmae ${unknown}: did you mean name?`,
      `/owner/colour ${unknown}`,
    ]);
  });

  test('for members that no schema evaluates', () => {
    const all = {
      allOf: [{ properties: { name: {} } }],
      properties: { age: {} },
      unevaluatedProperties: false,
    };
    const check = checker(all, {}, undefined, '3.1.0');
    expect(check('{"nme":1,"Age":1}')).toEqual([
      `/nme ${unknown}: did you mean name?`,
      `/Age ${unknown}: did you mean age?`,
    ]);
  });

  test('for query parameters', () => {
    const parameters = ['limit', 'offset'].map((name) => ({ name, in: 'query', schema: {} }));
    const ask = queryChecker(asking(parameters));
    expect(ask('limt=1')).toEqual([
      '/limt is not a parameter of this operation: did you mean limit?',
    ]);
    expect(ask('page=1')).toEqual(['/page is not a parameter of this operation']);
  });
});
