import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bodyChecker, json, only, ref, taking } from './documents.ts';
import { checkOf, counted, numbers, readsOf } from './reads.ts';

type Json = Record<string, unknown>;

const integer = { type: 'integer' };
const SEED = 20_261_127;

const COUNT = 12_000;
const list = numbers(COUNT);
const names = Object.fromEntries(list.map((i) => [`n${i}`, i]));
const pairs = (depth: number, leaf: unknown): unknown =>
  depth === 0 ? leaf : [pairs(depth - 1, leaf), pairs(depth - 1, [leaf])];
const branches = (count: number) =>
  numbers(count).map((i) => ({ type: 'object', required: [`a${i}`] }));

/** A step may read each part of a value of 12,000 parts less than once. */
const LONG: Readonly<Record<string, readonly [schema: Json, value: unknown]>> = {
  items: [{ items: integer }, list],
  prefixItems: [{ prefixItems: [integer], items: integer }, list],
  'lists in lists': [{ items: { items: integer } }, numbers(200).map(() => numbers(150))],
  not: [{ items: { not: { anyOf: branches(10) } } }, list],
  anyOf: [{ items: { anyOf: [...branches(10), integer] } }, list],
  'anyOf for the whole': [
    { anyOf: branches(3).map(({ required }) => ({ items: { required }, minItems: 1 })) },
    list,
  ],
  'anyOf of many': [{ items: { anyOf: [...branches(100), integer] } }, list],
  contains: [{ contains: { minimum: COUNT - 1 } }, list],
  unevaluatedItems: [{ allOf: [{ contains: { minimum: 5 } }], unevaluatedItems: integer }, list],
  uniqueItems: [{ uniqueItems: true }, list],
  'uniqueItems of a wide object': [{ uniqueItems: true }, [names, {}]],
  'uniqueItems of lists in lists': [{ uniqueItems: true }, [pairs(10, 1), pairs(10, 2)]],
  'uniqueItems of many short lists': [
    { items: { uniqueItems: true } },
    numbers(10).map(() => numbers(60).map((i) => numbers(15).map((j) => [i, j]))),
  ],
  enum: [{ enum: [[1], { a: 1 }] }, list],
  additionalProperties: [{ additionalProperties: integer }, names],
  patternProperties: [{ patternProperties: { '^n': integer, '1$': integer } }, names],
  unevaluatedProperties: [{ anyOf: [{ required: ['n1'] }], unevaluatedProperties: integer }, names],
  dependentSchemas: [{ dependentSchemas: { n1: { additionalProperties: integer } } }, names],
  'a list of faults': [{ items: { anyOf: [{ type: 'string' }, { minimum: 9 }] } }, list],
};

test.each(Object.entries(LONG))(
  '%s of a long value is checked in short steps',
  (_, [schema, value]) => {
    const check = checkOf({ Node: schema });
    const reads = { count: 0 };
    const steps = check.steps(counted(value, reads));
    let most = 0;
    let all = 0;
    for (let step = steps.next(); ; step = steps.next()) {
      most = Math.max(most, reads.count);
      all += reads.count;
      reads.count = 0;
      if (step.done) break;
    }
    expect(most).toBeLessThan(COUNT);
    // To continue costs little.
    expect(all).toBeLessThan(2 * readsOf(check, value) + COUNT);
  },
);

/** What a body adds to tables that are copied as they grow, or that stop the process at collections. */
function entriesOf(check: () => unknown) {
  const entries = { weak: 0, largest: 0 };
  const kinds = [WeakMap, WeakSet, Map, Set] as const;
  const originals = kinds.map(({ prototype }) => Object.getOwnPropertyDescriptors(prototype));
  kinds.forEach(({ prototype }, i) => {
    const name = 'set' in prototype ? 'set' : 'add';
    const { value: original } = originals[i]![name as never] as PropertyDescriptor;
    Object.defineProperty(prototype, name, {
      configurable: true,
      writable: true,
      value(this: object, ...args: unknown[]) {
        if ('size' in this) entries.largest = Math.max(entries.largest, this.size as number);
        else entries.weak++;
        return original.apply(this, args);
      },
    });
  });
  try {
    check();
  } finally {
    kinds.forEach(({ prototype }, i) => void Object.defineProperties(prototype, originals[i]!));
  }
  return entries;
}

const constants = (name: string, count: number) =>
  numbers(count).map((i) => ({ const: `${name}${i}` }));
/** More than a table may have. */
const MANY = 40_000;
const empty = numbers(MANY).map(() => []);
const text = (value: unknown) => Buffer.from(JSON.stringify(value));

const MANY_ENTRIES: Readonly<Record<string, readonly [schema: Json, body: Buffer]>> = {
  'faults of alternatives that others replace': [
    { items: { oneOf: [...constants('a', 3), { oneOf: constants('b', 45) }] } },
    text([...numbers(1_000).map(() => 'a0'), 'no']),
  ],
  'objects in alternatives': [
    { anyOf: [{ items: ref('Node'), minItems: 1 }, { items: ref('Node') }] },
    text(empty),
  ],
  'faults of objects in alternatives': [
    {
      anyOf: [
        { items: { type: 'string' }, minItems: 1 },
        { items: ref('Node'), type: 'object' },
      ],
    },
    text(empty),
  ],
  'long entries that are compared': [
    { uniqueItems: true },
    text(numbers(500).map((i) => [i, ...numbers(100)])),
  ],
  'entries that are compared': [{ uniqueItems: true }, text(numbers(MANY).map((i) => [i]))],
  'numbers in another notation': [{ items: integer }, Buffer.from(`[1.0${',1.0'.repeat(MANY)}]`)],
  'lists of numbers in another notation': [
    { items: { items: integer } },
    Buffer.from(`[[1.0]${',[1.0]'.repeat(MANY)}]`),
  ],
};

test.each(Object.entries(MANY_ENTRIES))(
  'many %s use no large and no weak table',
  (_, [schema, body]) => {
    const more = { schemas: { Node: schema }, openapi: '3.1.0' };
    const media = only(taking(json(ref('Node')).content, more)).body!.media('application/json')!;
    media.check(body);
    const { weak, largest } = entriesOf(() => media.check(body));
    expect(weak).toBe(0);
    expect(largest).toBeLessThanOrEqual(32 * 1024);
  },
);

test('wide objects are equal in any order of their names', () => {
  const check = checkOf({ Node: { uniqueItems: true } });
  const wide = Object.entries(names).slice(0, 5_500);
  const [one, reversed] = [wide, wide.toReversed()].map((entries) => Object.fromEntries(entries));
  expect(check([one, reversed])).toEqual([expect.objectContaining({ rule: 'uniqueItems' })]);
  expect(check([one, { ...reversed, n7: 8 }])).toEqual([]);
});

test.each([
  ['form', ',', undefined],
  ['form', '%2c', 'separators'],
  ['spaceDelimited', '%20', undefined],
  ['pipeDelimited', '|', undefined],
] as const)(
  'a long list in the style %s with %s in it is read in steps',
  (style, separator, encodedCommas) => {
    const schema = { type: 'object', properties: { a: { type: 'array', items: integer } } };
    const type = 'application/x-www-form-urlencoded';
    const media = { schema, encoding: { a: { style, explode: false } } };
    const reading = encodedCommas ? { encodedCommas } : {};
    const contract = taking({ [type]: media }, { reading });
    const [check, body] = [bodyChecker(contract, type), `a=${list.join(separator)}`];
    expect([...only(contract).body!.media(type)!.steps(Buffer.from(body))].length).toBeGreaterThan(
      20,
    );
    expect(check(body)).toEqual([]);
    expect(check(`${body}${separator}x`)).toEqual([`/a/${COUNT} must be an integer`]);
  },
);

describe('of many alternatives', () => {
  const values = numbers(100).map((i) => ({ enum: [i, Math.max(i, 90)] }));

  test('oneOf takes the value of exactly one', () => {
    const check = checkOf({ Node: { oneOf: values } });
    const rules = (value: unknown) => new Set(check(value).map(({ rule }) => rule));
    expect([0, 41, 89, 99].map((value) => check(value))).toEqual([[], [], [], []]);
    expect(rules(90)).toContain('oneOf');
    expect(rules(100)).toContain('enum');
    expect(checkOf({ Node: { anyOf: values } })(90)).toEqual([]);
  });

  test.each(['anyOf', 'oneOf'])(
    '%s with distinct constants of a required property applies one',
    (union) => {
      const kinds = (count: number) =>
        numbers(count).map((i) => ({
          type: 'object',
          required: ['k'],
          properties: { k: { const: i }, a: integer },
        }));
      const [few, many] = [
        checkOf({ Node: { [union]: kinds(10) } }),
        checkOf({ Node: { [union]: kinds(100) } }),
      ];
      expect(readsOf(many, { k: 9, a: 1 })).toBe(readsOf(few, { k: 9, a: 1 }));
      expect(many({ k: 99, a: 1 })).toEqual([]);
      const faults = [
        expect.objectContaining({ pointer: '/a', rule: 'type' }),
        expect.objectContaining({ rule: union }),
      ];
      expect(many({ k: 99, a: 'x' })).toEqual(faults);
      for (const value of [{ k: 100 }, {}, 1]) expect(many(value)).not.toEqual([]);
    },
  );
});

test('a long text is matched with a pattern once, in short steps', () => {
  const text = 'ab'.repeat(100_000);
  const never = numbers(20).map((i) => ({ pattern: `^(a|b|ab)*c{${i + 1}}$` }));
  const steps = checkOf({ Node: { not: { anyOf: never } } }).steps(text);
  let count = 0;
  for (; !steps.next().done; ) count++;
  expect(count).toBeGreaterThan(20);
});

describe('a check in steps', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'k');
  const leaf = fc.constantFrom<Json>(
    integer,
    { type: 'string', minLength: 2 },
    { type: 'object' },
    { type: 'array' },
    { enum: [1, 'x', { a: 1 }] },
    { const: ['x'] },
    { required: ['a'] },
    { minProperties: 2 },
    { uniqueItems: true },
    { maxItems: 1 },
    { pattern: '^(x|xx)*$' },
    ref('Node'),
  );
  const { schema: schemas } = fc.letrec<{ schema: Json }>((tie) => {
    const schema = tie('schema');
    const some = fc.array(schema, { minLength: 1, maxLength: 3 });
    const many = fc.array(fc.oneof({ weight: 9, arbitrary: leaf }, schema), {
      minLength: 38,
      maxLength: 45,
    });
    const members = fc.dictionary(name, schema, { maxKeys: 3 });
    const deep = schema.map((part) => ({
      type: 'object',
      properties: { a: part, b: ref('Node') },
    }));
    const kinds = fc.array(schema, { minLength: 5, maxLength: 7 }).map((parts) =>
      parts.map((part, i) => ({
        type: 'object',
        required: ['k'],
        properties: { k: { const: i }, a: part },
      })),
    );
    return {
      schema: fc.oneof(
        { maxDepth: 3 },
        leaf,
        deep,
        schema.map((items) => ({ items })),
        fc.tuple(some, schema).map(([prefixItems, items]) => ({ prefixItems, items })),
        schema.map((additionalProperties) => ({ additionalProperties })),
        fc
          .tuple(members, schema)
          .map(([properties, rest]) => ({ properties, additionalProperties: rest })),
        schema.map((part) => ({ patternProperties: { '^[ab]': part, '^b': integer } })),
        schema.map((part) => ({ propertyNames: part })),
        fc
          .tuple(schema, fc.nat(2))
          .map(([contains, minContains]) => ({ contains, minContains, maxContains: 3 })),
        fc.tuple(some, schema).map(([anyOf, unevaluatedItems]) => ({ anyOf, unevaluatedItems })),
        fc
          .tuple(some, members)
          .map(([oneOf, properties]) => ({ oneOf, properties, unevaluatedProperties: false })),
        schema.map((part) => ({ dependentSchemas: { a: part } })),
        fc
          .tuple(schema, schema, schema)
          .map(([one, then, other]) => ({ if: one, then, else: other })),
        fc.oneof(some, many, kinds).map((anyOf) => ({ anyOf })),
        fc.oneof(some, many, kinds).map((oneOf) => ({ oneOf })),
        fc.oneof(some, many).map((allOf) => ({ allOf })),
        kinds.map((oneOf) => ({ oneOf, discriminator: { propertyName: 'k' } })),
        schema.map((not) => ({ not })),
      ),
    };
  });
  const { value: values } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, depthSize: 'max' },
      fc.constantFrom<unknown>(0, 1, 2, 'x', 'xx', true, null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(name, tie('value'), { maxKeys: 4 }),
    ),
  }));

  test('finds the same faults in the same order, whatever is checked between the steps', () => {
    const tally = { good: 0, bad: 0, steps: 0 };
    // Under a member, so that no schema leads to itself without going deeper.
    const nodes = schemas.map((part) => ({
      Node: { properties: { a: part, b: part }, items: part },
    }));
    const cases = fc.tuple(nodes, fc.array(values, { minLength: 5, maxLength: 5 }), fc.nat(40));
    fc.assert(
      fc.property(cases, ([schemas, values, work]) => {
        const check = checkOf(schemas);
        const existing = values.map((value) => check(value));
        for (const value of values) {
          const steps = check.steps(value, {}, work);
          let step = steps.next();
          for (let between = 0; !step.done; between = (between + 1) % values.length) {
            tally.steps++;
            expect(check(values[between]).length === 0).toBe(existing[between]!.length === 0);
            step = steps.next();
          }
          // The first search for all faults may stop because it compiled too much.
          expect({ schemas, value, found: step.value }).toEqual({
            schemas,
            value,
            found: check(value),
          });
          tally[step.value.length === 0 ? 'good' : 'bad']++;
        }
      }),
      { seed: SEED, numRuns: 150 },
    );
    expect(Math.min(tally.good, tally.bad) / (tally.good + tally.bad)).toBeGreaterThan(0.2);
    expect(tally.steps).toBeGreaterThan(tally.good + tally.bad);
  });
});
