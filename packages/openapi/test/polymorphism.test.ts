import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { checker, load, notesOf, ref, responseChecker } from './documents.ts';

const animal = (property: string, kind: object = { type: 'string' }) => ({
  type: 'object',
  required: ['kind'],
  properties: { kind, [property]: { type: 'integer' } },
});

describe('a discriminator whose alternatives list their values', () => {
  const message = (more: object, ...roles: string[]) => ({
    type: 'object',
    required: ['role', 'content'],
    properties: { role: { type: 'string', enum: roles }, content: { type: 'string' }, ...more },
  });
  const schemas = {
    UserMessage: message({ name: { type: 'string' } }, 'user'),
    SystemMessage: {
      allOf: [message({}, 'system', 'developer'), { properties: { name: { type: 'boolean' } } }],
    },
    ToolMessage: {
      ...message({ tool: { type: 'integer' } }, 'tool', 'user'),
      allOf: [ref('Tool')],
    },
    Tool: { type: 'object', properties: { role: { allOf: [ref('ToolRole')] } } },
    ToolRole: { enum: ['tool'] },
  };
  const alternatives = [ref('UserMessage'), ref('SystemMessage'), ref('ToolMessage')];
  const unknown = '/role must be one of: user, system, developer, tool';

  test.each<[text: string, ...faults: string[]]>([
    ['{"role":"user","content":"hi"}'],
    ['{"role":"system","content":"hi"}'],
    ['{"role":"developer","content":"hi"}'],
    ['{"role":"tool","content":"hi"}'],
    ['{"role":"user","content":"hi","name":true,"tool":"x"}', '/name must be a string'],
    ['{"role":"developer","content":"hi","name":"x"}', '/name must be true or false'],
    [
      '{"role":"tool","content":1,"tool":"x"}',
      '/content must be a string',
      '/tool must be an integer',
    ],
    ['{"role":"cow"}', unknown],
    ['{"content":"hi"}', '/role is required'],
    ['[]', 'must be an object'],
  ])(
    'selects by them without a mapping, and faults are of the selected one: %s',
    (text, ...faults) => {
      for (const keyword of ['oneOf', 'anyOf']) {
        const schema = { [keyword]: alternatives, discriminator: { propertyName: 'role' } };
        expect(checker(schema, schemas)(text)).toEqual(faults);
      }
    },
  );

  test('selects by them whatever the mapping says', () => {
    const mapping = { user: 'ToolMessage', tool: 'UserMessage', x: 'SystemMessage' };
    const discriminator = { propertyName: 'role', mapping };
    const check = checker({ oneOf: alternatives, discriminator }, schemas);
    expect(check('{"role":"user","content":"hi"}')).toEqual([]);
    expect(check('{"role":"x","content":"hi"}')).toEqual([unknown]);
  });

  test('selects by a const, and also behind a reference with keywords beside it', () => {
    const kinds = {
      cat: animal('lives', { const: 'cat' }),
      dog: animal('tail', { enum: ['dog'] }),
      any: { oneOf: [ref('cat'), ref('dog')], discriminator: { propertyName: 'kind' } },
    };
    const check = checker({ ...ref('any'), maxProperties: 2 }, kinds, undefined, '3.1.0');
    expect(check('{"kind":"cat","lives":9}')).toEqual([]);
    expect(check('{"kind":"cat","lives":"9"}')).toEqual(['/lives must be an integer']);
    expect(check('{"kind":"dog","tail":"x"}')).toEqual(['/tail must be an integer']);
  });
});

describe('a discriminator whose alternatives list no values', () => {
  const schemas = {
    Cat: animal('lives'),
    Dog: animal('tricks'),
    Fish: { ...animal('fins'), maxProperties: 2 },
  };
  const discriminator = {
    propertyName: 'kind',
    mapping: { hund: '#/components/schemas/Dog', nemo: 'Fish' },
  };
  const alternatives = ['Cat', 'Dog', 'Fish'].map(ref);

  test.each(['oneOf', 'anyOf'])(
    'leaves it to %s what fits, and faults are of the one that it names',
    (keyword) => {
      const check = checker({ [keyword]: alternatives, discriminator }, schemas);
      const faultsOf = (kind: string) =>
        check(`{"kind":"${kind}","lives":"x","tricks":"y","fins":"z"}`);
      expect(faultsOf('Cat')).toEqual(['/lives must be an integer']);
      expect(faultsOf('Dog')).toEqual(['/tricks must be an integer']);
      expect(faultsOf('hund')).toEqual(['/tricks must be an integer']);
      expect(faultsOf('nemo')).toEqual(['must have at most 2 members', '/fins must be an integer']);
      expect(faultsOf('Cow')).toContain('must match one of the schemas');
      expect(check('{"kind":"Cat","lives":"x","fins":"y"}')).toEqual([]);
      const both = keyword === 'oneOf' ? ['must match only one of the schemas'] : [];
      expect(check('{"kind":"Cat","lives":1}')).toEqual(both);
    },
  );

  test('is noted where an ambiguous value does not fit oneOf', () => {
    const notes = (keyword: string, kind?: object) => {
      const Pet = { [keyword]: [ref('Cat')], discriminator: { propertyName: 'kind' } };
      return notesOf(load({}, { schemas: { Cat: animal('lives', kind), Pet } }));
    };
    expect(notes('oneOf')).toEqual([
      'oneOf decides without the discriminator: an enum or const of kind in each schema would let it choose',
    ]);
    expect(notes('anyOf')).toEqual([]);
    expect(notes('oneOf', { enum: ['cat'] })).toEqual([]);
  });
});

describe('a discriminator without alternatives', () => {
  const schemas = {
    Pet: { ...animal('age'), discriminator: { propertyName: 'kind', mapping: { kitty: 'Cat' } } },
    Cat: { allOf: [ref('Pet'), animal('lives')] },
  };

  test('has no effect, which is noted', () => {
    const check = checker(ref('Pet'), schemas);
    expect(check('{"kind":"anything","lives":"x"}')).toEqual([]);
    expect(check('{"kind":"Cat","age":"x"}')).toEqual(['/age must be an integer']);
    expect(notesOf(load({}, { schemas }))).toEqual([
      'discriminator has no effect without oneOf or anyOf: what inherits from a schema is not looked for',
    ]);
  });

  test('has none on heirs', () => {
    expect(checker(ref('Cat'), schemas)('{"kind":"anything","lives":"x"}')).toEqual([
      '/lives must be an integer',
    ]);
  });
});

describe('a schema that lists its own heirs', () => {
  const kind = (name: string) => ({ properties: { kind: { enum: [name] } } });
  const schemas = {
    Pet: {
      ...animal('age'),
      oneOf: [ref('Cat'), ref('Dog')],
      discriminator: { propertyName: 'kind' },
    },
    Feline: { allOf: [ref('Pet')], properties: { paws: { type: 'integer' } } },
    Cat: { allOf: [ref('Feline'), animal('lives'), kind('cat')] },
    Dog: { allOf: [ref('Pet'), animal('tricks'), kind('dog')] },
    Order: { allOf: [ref('Pet'), { required: ['price'] }] },
  };

  test('does not go round in circles', () => {
    const check = checker(ref('Pet'), schemas);
    expect(check('{"kind":"cat","lives":7,"age":1}')).toEqual([]);
    expect(check('{"kind":"cat","lives":"x","age":"y","paws":"z","tricks":"z"}')).toEqual([
      '/age must be an integer',
      '/paws must be an integer',
      '/lives must be an integer',
    ]);
    expect(check('{"kind":"cow"}')).toEqual(['/kind must be one of: cat, dog']);
    expect(checker(ref('Cat'), schemas)('{"kind":"cat","lives":"x"}')).toEqual([
      '/lives must be an integer',
    ]);
    expect(responseChecker(ref('Pet'), schemas)('{"kind":"dog","tricks":"x"}')).toEqual([
      '/tricks must be an integer',
    ]);
  });

  test('has them also where another schema than an heir inherits from it', () => {
    const check = checker(ref('Order'), schemas);
    expect(check('{"kind":"dog","tricks":1,"price":1}')).toEqual([]);
    expect(check('{"kind":"dog","tricks":"x","price":1}')).toEqual(['/tricks must be an integer']);
    expect(check('{"kind":"cow","price":1}')).toEqual(['/kind must be one of: cat, dog']);
  });
});

test('no discriminator changes what fits', () => {
  const values = fc.subarray(['cat', 'dog', 'A', 1, null, true], { minLength: 1 });
  const kind = fc.oneof(
    values.map((all) => ({ enum: all })),
    fc.constantFrom('cat', 'dog', 1, 'A').map((one) => ({ enum: [one] })),
    fc.constantFrom('cat', 'dog', 1, 'A').map((one) => ({ enum: [one] })),
    fc.constant({ enum: ['cat'], nullable: true, type: 'string' }),
    fc.constant({ allOf: [ref('Kind')] }),
    fc.constant({ type: 'string' }),
    fc.constant({ type: 'string', readOnly: true, enum: ['cat'] }),
  );
  const own = fc.record(
    {
      type: fc.constantFrom('object', 'object', 'object', 'array'),
      nullable: fc.constantFrom(true, false, false, false),
      required: fc.constantFrom(['kind'], ['kind'], ['a']),
      properties: fc.record(
        { kind, a: fc.constantFrom({ type: 'integer' }, {}) },
        { requiredKeys: [] },
      ),
      additionalProperties: fc.constant(false),
    },
    { requiredKeys: [] },
  );
  const schema = fc.oneof(
    own,
    fc.tuple(own, own).map(([a, b]) => ({ allOf: [a, b] })),
  );
  const cases = fc.record({
    alternatives: fc.array(schema, { minLength: 1, maxLength: 3 }),
    keyword: fc.constantFrom('oneOf', 'anyOf'),
    named: fc.boolean(),
    mapping: fc.dictionary(
      fc.constantFrom('cat', 'dog', 'x'),
      fc.constantFrom('A', 'B', 'C', 'Kind'),
      { maxKeys: 3 },
    ),
    base: fc.oneof(fc.constant({}), own),
  });
  const value = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record(
        { kind: fc.constantFrom('cat', 'dog', 'A', 'x', 1, null), a: fc.constantFrom(1, 'x') },
        { requiredKeys: [] },
      ),
    },
    { weight: 1, arbitrary: fc.constantFrom(null, 'cat', 1, [], ['kind']) },
  );
  let fits = 0;
  let all = 0;
  fc.assert(
    fc.property(cases, fc.array(value, { minLength: 20, maxLength: 20 }), (one, sent) => {
      const names = one.alternatives.map((_, i) => 'ABC'[i]!);
      const schemas = {
        A: {},
        B: {},
        C: {},
        ...Object.fromEntries(names.map((name, i) => [name, one.alternatives[i]])),
      };
      const whole = { ...one.base, [one.keyword]: one.named ? names.map(ref) : one.alternatives };
      const plain = checker(whole, { ...schemas, Kind: { enum: ['dog'] } });
      const discriminator = { propertyName: 'kind', mapping: one.mapping };
      const check = checker({ ...whole, discriminator }, { ...schemas, Kind: { enum: ['dog'] } });
      for (const text of sent.map((value) => JSON.stringify(value))) {
        const expected = plain(text).length === 0;
        expect([text, check(text).length === 0]).toEqual([text, expected]);
        all++;
        if (expected) fits++;
      }
    }),
    { numRuns: 400 },
  );
  expect(fits / all).toBeGreaterThan(0.03);
  expect(fits / all).toBeLessThan(0.9);
});
