import { describe, expect, test } from '@jest/globals';
import { checker, load, notesOf, responseChecker } from './documents.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const animal = (property: string) => ({
  type: 'object',
  required: ['kind'],
  properties: { kind: { type: 'string' }, [property]: { type: 'integer' } },
});

describe('a discriminator among alternatives', () => {
  const schemas = { Cat: animal('lives'), Dog: animal('tricks'), Fish: animal('fins') };
  const discriminator = { propertyName: 'kind', mapping: { hund: '#/components/schemas/Dog', nemo: 'Fish' } };

  test.each(['oneOf', 'anyOf'])('in %s decides by name or mapping, and faults are of the one it chose', (keyword) => {
    const check = checker({ [keyword]: [ref('Cat'), ref('Dog'), ref('Fish')], discriminator }, schemas);
    expect(check('{"kind":"Cat","lives":7}')).toEqual([]);
    expect(check('{"kind":"Cat","lives":"x","tricks":"y"}')).toEqual(['/lives must be an integer']);
    expect(check('{"kind":"hund","lives":"x","tricks":"y"}')).toEqual(['/tricks must be an integer']);
    expect(check('{"kind":"Dog","tricks":"y"}')).toEqual(['/tricks must be an integer']);
    expect(check('{"kind":"nemo","fins":"y"}')).toEqual(['/fins must be an integer']);
  });

  test('refuses values it does not know, and a missing one', () => {
    const check = checker({ oneOf: [ref('Cat'), ref('Dog'), ref('Fish')], discriminator }, schemas);
    expect(check('{"kind":"Cow"}')).toEqual(['/kind must be one of: Cat, Dog, hund, Fish, nemo']);
    expect(check('{}')).toEqual(['/kind is required']);
    expect(check('[]')).toEqual(['must be an object']);
    expect(check('{"kind":1}')).toEqual(['/kind must be one of: Cat, Dog, hund, Fish, nemo']);
  });
});

test('a discriminator that no value can satisfy is noted', () => {
  const kind = (...values: string[]) => ({ type: 'object', properties: { kind: { enum: values } } });
  const schemas = {
    Cat: kind('cat'),
    Dog: kind('Dog', 'dog'),
    Fish: { allOf: [kind('fish')] },
    Bird: {},
    Cow: kind('cow'),
    Pet: {
      oneOf: ['Cat', 'Dog', 'Fish', 'Bird', 'Cow'].map(ref),
      discriminator: { propertyName: 'kind', mapping: { cow: 'Cow' } },
    },
  };
  expect(notesOf(load({}, { schemas }))).toEqual([
    'no value leads to /components/schemas/Cat: kind must be Cat for it, which its enum does not list',
    'no value leads to /components/schemas/Fish: kind must be Fish for it, which its enum does not list',
  ]);
});

describe('a discriminator of a parent', () => {
  const schemas = {
    Pet: { ...animal('age'), discriminator: { propertyName: 'kind', mapping: { kitty: 'Cat' } } },
    Cat: { allOf: [ref('Pet'), animal('lives')] },
    Lion: { allOf: [ref('Cat'), animal('mane')] },
    Rock: animal('weight'),
  };

  test('chooses among all heirs, where the parent is asked for', () => {
    const check = checker({ type: 'array', items: ref('Pet') }, schemas);
    expect(check('[{"kind":"Pet"},{"kind":"Cat","lives":7},{"kind":"kitty"},{"kind":"Lion","mane":1}]')).toEqual([]);
    expect(check('[{"kind":"Pet","lives":"x"}]')).toEqual([]);
    expect(check('[{"kind":"Cat","lives":"x","age":"y"}]')).toEqual([
      '/0/age must be an integer',
      '/0/lives must be an integer',
    ]);
    expect(check('[{"kind":"Lion","mane":"x","lives":"x"}]')).toEqual([
      '/0/lives must be an integer',
      '/0/mane must be an integer',
    ]);
    expect(check('[{"kind":"Rock"}]')).toEqual(['/0/kind must be one of: Pet, Cat, kitty, Lion']);
  });

  test('does not choose again where an heir is asked for', () => {
    const check = checker(ref('Cat'), schemas);
    expect(check('{"kind":"anything","lives":1,"age":2}')).toEqual([]);
    expect(check('{"kind":"anything","lives":"x"}')).toEqual(['/lives must be an integer']);
  });

  test('works in answers too', () => {
    expect(responseChecker(ref('Pet'), schemas)('{"kind":"Cat","lives":"x"}')).toEqual(['/lives must be an integer']);
  });

  test('that lists its heirs in oneOf as well does not go round in circles', () => {
    const circular = {
      Pet: { ...animal('age'), oneOf: [ref('Cat')], discriminator: { propertyName: 'kind' } },
      Cat: { allOf: [ref('Pet'), animal('lives')] },
    };
    const check = checker(ref('Pet'), circular);
    expect(check('{"kind":"Cat","lives":7,"age":1}')).toEqual([]);
    expect(check('{"kind":"Cat","lives":"x","age":"y"}')).toEqual([
      '/age must be an integer',
      '/lives must be an integer',
    ]);
  });
});
