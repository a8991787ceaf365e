import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { ref } from './documents.ts';
import { checkOf, readsOf } from './reads.ts';

type Json = Record<string, unknown>;

const integer = { type: 'integer' };

const SEED = 20_261_122;

const WIDTH = 20;
const wide = Object.fromEntries(Array.from({ length: WIDTH }, (_, i) => [`k${i}`, 'v']));

const nested = (depth: number, leaf: unknown): unknown =>
  depth === 0 ? leaf : { ...wide, child: nested(depth - 1, leaf) };

const child = { properties: { child: ref('Node') } };
const form = (tag: string, more: Json = {}) => ({
  type: 'object',
  properties: { ...child.properties, [tag]: integer },
  additionalProperties: { type: 'string' },
  ...more,
});
const bar = { not: { type: 'boolean' } };

const FORKS: Readonly<Record<string, Json>> = {
  anyOf: { Node: { anyOf: [form('a'), form('b'), integer] } },
  'anyOf with a list': {
    Node: { anyOf: [form('a'), { type: 'array', items: ref('Node') }, form('b'), integer] },
  },
  'anyOf whose first form never fits': {
    Node: { anyOf: [form('a', { required: ['z'] }), form('b'), integer] },
  },
  oneOf: {
    Node: {
      oneOf: [form('a'), form('b', { properties: { ...child.properties, k0: integer } }), integer],
    },
  },
  'oneOf of which all fit': { Node: { oneOf: [form('a'), form('b'), integer] } },
  allOf: { Node: { allOf: [child, child], ...bar } },
  'what it inherits twice': {
    Node: { allOf: [ref('Left'), ref('Right')], ...bar },
    Left: { allOf: [ref('Base')] },
    Right: { allOf: [ref('Base')] },
    Base: child,
  },
  not: { Node: { not: { not: { anyOf: [form('a'), form('b'), integer] } } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  if: { Node: { if: form('a'), then: form('b'), else: integer } },
  patternProperties: { Node: { ...child, patternProperties: { '^c': ref('Node') }, ...bar } },
  dependentSchemas: { Node: { ...child, dependentSchemas: { child }, ...bar } },
  unevaluatedProperties: {
    Node: {
      anyOf: [child, { ...child, required: ['z'] }],
      unevaluatedProperties: { type: 'string' },
      ...bar,
    },
  },
  'what refers to it': {
    Node: { anyOf: [ref('A'), ref('B'), integer] },
    A: form('a', { properties: { child: ref('C') } }),
    B: form('b'),
    C: { anyOf: [ref('A'), ref('B'), integer] },
  },
};

test.each(Object.entries(FORKS))(
  'the work for a schema that leads to itself by %s does not multiply with levels',
  (_, schemas) => {
    const check = checkOf(schemas);
    // At most six forms of a level; each member is read twice, and an invalid value once more for
    // all of its faults.
    for (const depth of [15, 60])
      for (const leaf of [1, true])
        expect(readsOf(check, nested(depth, leaf))).toBeLessThan(24 * depth * WIDTH);
  },
);

test('nor does it for lists', () => {
  const many = Array.from({ length: 100 }, () => [[], [[]]]);
  const check = checkOf({
    Node: { items: ref('Node'), contains: ref('Node'), minContains: 0, type: 'array' },
  });
  let value: unknown = many;
  for (let i = 0; i < 30; i++) value = [value];
  expect(check(value)).toEqual([]);
  expect(readsOf(check, value)).toBeLessThan(20 * 500);
});

test('lists in lists with equal entries forbidden are compared once', () => {
  const check = checkOf({ Node: { uniqueItems: true, items: ref('Node') } });
  const entries = Array.from({ length: 100 }, (_, i) => ({ i }));
  let [value, twice]: unknown[] = [entries, [...entries, { i: 0 }]];
  for (let i = 0; i < 50; i++)
    [value, twice] = [
      [value, i],
      [twice, i],
    ];
  expect(check(value)).toEqual([]);
  expect(check(twice)).toEqual([
    expect.objectContaining({ pointer: '/0'.repeat(50), rule: 'uniqueItems' }),
  ]);
  expect(check([value, structuredClone(value)])).toEqual([
    expect.objectContaining({ pointer: '', rule: 'uniqueItems' }),
  ]);
  expect(check([value, twice]).map(({ pointer }) => pointer)).toEqual([`/1${'/0'.repeat(50)}`]);
  expect(readsOf(check, value)).toBeLessThan(5_000);
});

test('the faults of a wide tree are reported up to fifty', () => {
  const names = Array.from({ length: 30 }, (_, i) => `m${i}`);
  const properties = Object.fromEntries(names.map((name) => [name, ref('Node')]));
  const check = checkOf({
    Node: {
      anyOf: [
        { type: 'object', properties },
        { type: 'object', properties, minProperties: 40 },
        integer,
      ],
    },
  });
  const level = (member: unknown) => Object.fromEntries(names.map((name) => [name, member]));
  const tree = structuredClone(level(0)) as Json;
  for (const name of names) tree[name] = level('x');
  const faults = check(tree);
  expect(faults).toHaveLength(50);
  expect(faults[0]).toEqual(expect.objectContaining({ pointer: '/m0/m0', rule: 'type' }));
});

describe('what is remembered of a value changes nothing of its judgement', () => {
  const NAMES = ['Node', 'B', 'C'];
  const anywhere = fc.constantFrom(...NAMES.map(ref));
  const plain = fc.constantFrom<Json>(
    integer,
    { type: 'string' },
    { type: 'object' },
    { required: ['a'] },
    { type: ['array', 'object'] },
  );
  const members = fc.record({ a: anywhere, b: anywhere }).map((properties) => ({ properties }));
  const lists = anywhere.map((items) => ({ items }));

  /**
   * Refer for the same value only to later definitions, so none leads to itself without going
   * deeper.
   */
  const schemaOf = (level: number, more: fc.Arbitrary<Json>[]): fc.Arbitrary<Json> =>
    fc.letrec<{ schema: Json }>((tie) => {
      const parts = fc.array(tie('schema'), { minLength: 2, maxLength: 2 });
      const behind = NAMES.slice(level + 1).map((name) => fc.constant<Json>(ref(name)));
      return {
        schema: fc.oneof(
          { maxDepth: 2 },
          fc.oneof(plain, members, lists, ...behind),
          parts.map((anyOf) => ({ anyOf })),
          parts.map((oneOf) => ({ oneOf })),
          parts.map((allOf) => ({ allOf })),
          tie('schema').map((not) => ({ not })),
          fc.tuple(members, parts).map(([own, anyOf]) => ({ ...own, anyOf })),
          ...more,
          ...(more.length > 0
            ? [
                fc
                  .tuple(tie('schema'), tie('schema'), tie('schema'))
                  .map(([one, then, other]) => ({ if: one, then, else: other })),
                parts.map((anyOf) => ({ anyOf, unevaluatedProperties: false })),
                fc
                  .tuple(parts, anywhere)
                  .map(([anyOf, unevaluatedProperties]) => ({ anyOf, unevaluatedProperties })),
                tie('schema').map((a) => ({ dependentSchemas: { a } })),
              ]
            : []),
        ),
      };
    }).schema;
  const schemasWith = (...more: fc.Arbitrary<Json>[]) =>
    fc
      .tuple(...NAMES.map((_, level) => schemaOf(level, more)))
      .map(([Node, B, C]) => ({ Node, B, C }));
  const contains = anywhere.map((held) => ({ contains: held }));
  const patterns = anywhere.map((held) => ({ patternProperties: { '^a': held } }));
  const { value: values } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, depthSize: 'max' },
      fc.constantFrom<unknown>(1, 'x'),
      fc.record({ a: tie('value'), b: tie('value') }, { requiredKeys: [] }),
      fc.array(tie('value'), { maxLength: 2 }),
      fc.record({ a: tie('value'), b: tie('value') }),
    ),
  }));

  test('whether it fits', () => {
    const tally = { good: 0, bad: 0 };
    const cases = fc.tuple(
      schemasWith(contains, patterns),
      fc.array(values, { minLength: 5, maxLength: 5 }),
    );
    fc.assert(
      fc.property(cases, ([schemas, values]) => {
        const check = checkOf(schemas);
        for (const value of values) {
          const good = check(value).length === 0;
          tally[good ? 'good' : 'bad']++;
          expect({ schemas, value, good }).toEqual({
            schemas,
            value,
            good: evaluated(ref('Node'), value, schemas) !== null,
          });
        }
      }),
      { seed: SEED, numRuns: 100 },
    );
    expect(Math.min(tally.good, tally.bad) / (tally.good + tally.bad)).toBeGreaterThan(0.12);
  });

  test('where its faults are', () => {
    let [compared, all] = [0, 0];
    fc.assert(
      fc.property(
        schemasWith(),
        fc.array(values, { minLength: 5, maxLength: 5 }),
        (schemas, values) => {
          const check = checkOf(schemas);
          const other = new Ajv2020({ strict: false, allErrors: true }).compile({
            ...ref('Node'),
            components: { schemas },
          });
          for (const value of values) {
            const faults = check(value);
            all++;
            if (
              faults.length === 0 ||
              faults.length >= 50 ||
              faults.some(({ rule }) => rule === 'more')
            )
              continue;
            other(value);
            const places = other.errors!.map(({ instancePath, params }) =>
              params.missingProperty === undefined
                ? instancePath
                : `${instancePath}/${params.missingProperty}`,
            );
            compared++;
            expect(new Set(faults.map(({ pointer }) => pointer))).toEqual(new Set(places));
          }
        },
      ),
      { seed: SEED, numRuns: 100 },
    );
    expect(compared / all).toBeGreaterThan(0.08);
  });
});

/**
 * By the letter of JSON Schema, without memory: the names of the evaluated members, `null` if the
 * value is invalid.
 */
function evaluated(schema: Json, value: unknown, schemas: Json): ReadonlySet<string> | null {
  const of = (part: unknown, member = value) => evaluated(part as Json, member, schemas);
  const all = (parts: unknown): (ReadonlySet<string> | null)[] =>
    ((parts ?? []) as unknown[]).map((part) => of(part));
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const members = isObject ? Object.entries(value) : [];
  const entries: readonly unknown[] = Array.isArray(value) ? value : [];
  const existing = new Set<string>();
  const must: boolean[] = [];
  const join = (names: ReadonlySet<string> | null) => {
    must.push(names !== null);
    for (const name of names ?? []) existing.add(name);
  };
  const some = (found: (ReadonlySet<string> | null)[], right: (count: number) => boolean) => {
    const good = found.filter((names) => names !== null);
    must.push(right(good.length));
    for (const names of good) join(names);
  };

  if (typeof schema.$ref === 'string') join(of(schemas[schema.$ref.split('/').at(-1)!]));
  const type = Array.isArray(value)
    ? 'array'
    : typeof value === 'number'
      ? 'integer'
      : typeof value;
  if (schema.type !== undefined) must.push([schema.type].flat().includes(type));
  if (isObject)
    for (const name of (schema.required ?? []) as string[]) must.push(Object.hasOwn(value, name));
  for (const [name, member] of members) {
    const own = (schema.properties as Json | undefined)?.[name];
    const matching = name.startsWith('a')
      ? (schema.patternProperties as Json | undefined)?.['^a']
      : undefined;
    for (const part of [own, matching].filter((part) => part !== undefined)) {
      must.push(of(part, member) !== null);
      existing.add(name);
    }
    const dependent = (schema.dependentSchemas as Json | undefined)?.[name];
    if (dependent) join(of(dependent));
  }
  if (schema.items) for (const entry of entries) must.push(of(schema.items, entry) !== null);
  if (schema.contains && Array.isArray(value))
    must.push(entries.some((entry) => of(schema.contains, entry) !== null));
  for (const names of all(schema.allOf)) join(names);
  if (schema.anyOf) some(all(schema.anyOf), (count) => count > 0);
  if (schema.oneOf) some(all(schema.oneOf), (count) => count === 1);
  if (schema.not) must.push(of(schema.not) === null);
  if (schema.if) {
    const condition = of(schema.if);
    if (condition) join(condition);
    join(of(condition ? schema.then : schema.else));
  }
  const remaining = schema.unevaluatedProperties;
  for (const [name, member] of remaining === undefined
    ? []
    : members.filter(([name]) => !existing.has(name))) {
    must.push(remaining !== false && of(remaining, member) !== null);
    existing.add(name);
  }
  return must.every(Boolean) ? existing : null;
}
