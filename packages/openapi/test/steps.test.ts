import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Document } from '../src/document/document.ts';
import { inOwnContext } from '../src/own-context.ts';
import { Schemas } from '../src/schema/schemas.ts';

type Json = Record<string, unknown>;

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const integer = { type: 'integer' };
const SEED = 20_261_127;

function checkOf(schemas: Json) {
  const document = new Document({ openapi: '3.1.0', components: { schemas } });
  return new Schemas(document).check(ref('Node'), 'request');
}

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
    const many = fc.array(schema, { minLength: 5, maxLength: 24 });
    const members = fc.dictionary(name, schema, { maxKeys: 3 });
    const deep = schema.map((part) => ({ type: 'object', properties: { a: part, b: ref('Node') } }));
    const kinds = fc
      .array(schema, { minLength: 5, maxLength: 7 })
      .map((parts) =>
        parts.map((part, i) => ({ type: 'object', required: ['k'], properties: { k: { const: i }, a: part } })),
      );
    return {
      schema: fc.oneof(
        { maxDepth: 3 },
        leaf,
        deep,
        schema.map((items) => ({ items })),
        fc.tuple(some, schema).map(([prefixItems, items]) => ({ prefixItems, items })),
        schema.map((additionalProperties) => ({ additionalProperties })),
        fc.tuple(members, schema).map(([properties, rest]) => ({ properties, additionalProperties: rest })),
        schema.map((part) => ({ patternProperties: { '^[ab]': part, '^b': integer } })),
        schema.map((part) => ({ propertyNames: part })),
        fc.tuple(schema, fc.nat(2)).map(([contains, minContains]) => ({ contains, minContains, maxContains: 3 })),
        fc.tuple(some, schema).map(([anyOf, unevaluatedItems]) => ({ anyOf, unevaluatedItems })),
        fc.tuple(some, members).map(([oneOf, properties]) => ({ oneOf, properties, unevaluatedProperties: false })),
        schema.map((part) => ({ dependentSchemas: { a: part } })),
        fc.tuple(schema, schema, schema).map(([one, then, other]) => ({ if: one, then, else: other })),
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
    const nodes = schemas.map((part) => ({ Node: { properties: { a: part, b: part }, items: part } }));
    const cases = fc.tuple(nodes, fc.array(values, { minLength: 5, maxLength: 5 }), fc.nat(40));
    fc.assert(
      fc.property(cases, ([schemas, values, work]) => {
        const check = checkOf(schemas);
        const known = values.map((value) => check(value));
        for (const value of values) {
          const steps = inOwnContext(check.steps(value, {}, work));
          let step = steps.next();
          for (let between = 0; !step.done; between = (between + 1) % values.length) {
            tally.steps++;
            expect(check(values[between]).length === 0).toBe(known[between]!.length === 0);
            step = steps.next();
          }
          // The first search for all faults may stop because it compiled too much.
          expect({ schemas, value, found: step.value }).toEqual({ schemas, value, found: check(value) });
          tally[step.value.length === 0 ? 'good' : 'bad']++;
        }
      }),
      { seed: SEED, numRuns: 150 },
    );
    expect(Math.min(tally.good, tally.bad) / (tally.good + tally.bad)).toBeGreaterThan(0.2);
    expect(tally.steps).toBeGreaterThan(tally.good + tally.bad);
  });
});
