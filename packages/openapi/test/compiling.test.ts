import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Places } from '../src/document/places.ts';
import { createFindings } from '../src/findings.ts';
import { Document, type Operation } from '../src/index.ts';
import { createSchemas } from '../src/schema/schemas.ts';
import { checker, done, json, load, only, ref, short, taking } from './documents.ts';

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const forever = new AbortController().signal;

/** Each definition is in the one before it. */
function chain(length: number): Operation {
  const link = (i: number) => ({
    type: 'object',
    properties: { next: ref(`Link${i + 1}`), n: { type: 'integer' } },
  });
  const links = Array.from({ length }, (_, i) => [`Link${i}`, link(i)]);
  const schemas = { ...Object.fromEntries(links), [`Link${length}`]: { type: 'string' } };
  return only(taking(json(ref('Link0')).content, { schemas }));
}

const check = (operation: Operation, value: unknown) =>
  short(operation.body!.media('application/json')!.check(bytes(value)));

const nested = (depth: number, last: unknown): unknown =>
  depth === 0 ? last : { next: nested(depth - 1, last) };

test('the first request of an operation is judged right, compiled or not', async () => {
  for (const compile of [false, true]) {
    const operation = chain(3);
    expect(operation.ready('request')).not.toBeNull();
    if (compile) await operation.ready('request');
    expect(check(operation, nested(3, 'end'))).toEqual([]);
    expect(check(operation, nested(3, 1))).toEqual(['/next/next/next must be a string']);
  }
});

test('an operation says once that its checks are compiled, for each side by itself', async () => {
  const operation = chain(2);
  const waiting = [operation.ready('request'), operation.ready('request')];
  await Promise.all(waiting);
  expect(operation.ready('request')).toBeNull();
  expect(operation.ready('response')).not.toBeNull();
});

test('a contract compiles all its requests in the pauses, until it is stopped', async () => {
  const contract = load({ '/a': { get: { responses: done } }, '/b': { get: { responses: done } } });
  const ready = () => contract.operations.map((operation) => operation.ready('request') === null);
  await contract.prepare(AbortSignal.abort());
  expect(ready()).toEqual([false, false]);
  await contract.prepare(forever);
  expect(ready()).toEqual([true, true]);
});

test('the first answer to a bad value has the same faults as all later ones', async () => {
  const value = { n: 'x', ...(nested(60, 1) as object) };
  const all = ['/n must be an integer', `${'/next'.repeat(60)} must be a string`].sort();
  for (const compile of [false, true]) {
    const operation = chain(60);
    if (compile) await operation.ready('request');
    for (let i = 0; i < 3; i++) expect(check(operation, value).sort()).toEqual(all);
  }
});

const COUNT = 15;
const refs = fc.nat(COUNT - 1).map((i) => ref(`D${i}`));
const parts = fc.oneof(
  refs,
  fc.constantFrom({ type: 'string' }, { type: 'integer' }, {}),
  fc.array(refs, { minLength: 2, maxLength: 4 }).map((oneOf) => ({ oneOf })),
  fc.array(refs, { minLength: 2, maxLength: 4 }).map((anyOf) => ({ anyOf })),
  refs.map((items) => ({ type: 'array', items })),
);
const members = fc.record({ a: parts, b: parts, c: parts });
const definitions = fc.array(
  fc.record({
    type: fc.constant('object'),
    properties: members,
    required: fc.subarray(['a', 'b']),
  }),
  { minLength: COUNT, maxLength: COUNT },
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'value' },
    fc.constantFrom(1, 'x', null),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('value'), {
      minKeys: 1,
      maxKeys: 3,
      depthIdentifier: 'value',
    }),
    fc.array(tie('value'), { maxLength: 2, depthIdentifier: 'value' }),
  ),
}));

/** Reaches most definitions. */
const tree = (depth: number): unknown => {
  const inner = depth === 0 ? null : tree(depth - 1);
  return { a: inner, b: inner, c: [inner], d: 1 };
};

test('equal requests get equal answers, compiled or not', async () => {
  await fc.assert(
    fc.asyncProperty(
      definitions,
      fc.array(value, { minLength: 1, maxLength: 3 }),
      async (all, values) => {
        const schemas = Object.fromEntries(all.map((one, i) => [`D${i}`, one]));
        const operation = () => only(taking(json(ref('D0')).content, { schemas }));
        const [cold, warm] = [operation(), operation()];
        await warm.ready('request');
        for (const value of [tree(4), ...values]) {
          const first = check(cold, value);
          expect(check(warm, value)).toEqual(first);
          expect(check(cold, value)).toEqual(first);
        }
      },
    ),
    { numRuns: 6 },
  );
});

test.each([4, 5, 40, 41, 50])(
  'a value that selects none of %s alternatives has the faults of all',
  (count) => {
    const alternatives = Array.from({ length: count }, (_, i) => ({
      type: 'object',
      required: ['kind'],
      properties: { kind: { type: 'string', enum: [`k${i}`] } },
    }));
    for (const keyword of ['oneOf', 'anyOf']) {
      const faults = checker({ [keyword]: alternatives });
      expect(faults('{"kind":"k3"}')).toEqual([]);
      const found = faults('{"kind":"other"}');
      expect(found).toHaveLength(Math.min(count + 1, 50));
      expect(found[0]).toBe('/kind must be k0 (in one of the schemas)');
    }
  },
);

test('a schema that cannot be compiled is a mistake where it stands', () => {
  const findings = createFindings(new Places());
  const $ref = '#/components/schemas/Broken';
  const name = JSON.stringify(['/components/schemas/Broken', 'request', false, []]);
  const root = { openapi: '3.0.3', components: { schemas: { Broken: { type: 'object' } } } };
  const found: unknown[] = [];
  findings.problem = (node, key, message) => found.push([node, key, message]);
  const document = new Document(root, {}, null, findings);
  const node = { type: 'object', properties: { a: { $ref } } };
  // The check of another process, with a keyword that nothing knows.
  const schemas = createSchemas(document, new Map([[name, { unheard: 1 }]]));
  schemas.check(node, 'request');
  schemas.finish();
  expect(found).toEqual([
    [node, null, 'cannot be compiled (strict mode: unknown keyword: "unheard")'],
  ]);
});

describe('a schema that is too large to be compiled in one go', () => {
  const part = (type: string) => ({
    type: 'object',
    required: ['id'],
    properties: Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [`p${i}`, { type, nullable: true }]),
    ),
  });
  const large = {
    type: 'object',
    properties: {
      list: { type: 'array', items: part('string') },
      map: { type: 'object', additionalProperties: part('integer') },
      either: { oneOf: [part('boolean'), { ...part('number'), required: ['number'] }] },
      both: { allOf: [part('string'), { properties: { deep: part('boolean') } }] },
      never: { not: part('string') },
    },
  };
  const faults = checker(large);

  test('judges every part of it', () => {
    const good = { list: [{ id: 1, p0: null }], map: { a: { id: 1, p3: 4 } } };
    const both = { id: 1, deep: { id: 2 } };
    expect(faults(JSON.stringify({ ...good, both }))).toEqual([]);
    const bad = { list: [{ id: 1 }, { p4: 5 }], map: { 'a/b': { id: 1, p3: 'x' } } };
    const wrong = { deep: { id: 2, p1: 3 } };
    expect(faults(JSON.stringify({ ...bad, both: wrong })).sort()).toEqual([
      '/both/deep/p1 must be true or false or null',
      '/both/id is required',
      '/list/1/id is required',
      '/list/1/p4 must be a string or null',
      '/map/a~1b/p3 must be an integer or null',
    ]);
    expect(faults('{"either":{"id":1,"number":2}}')).toEqual([
      '/either must match only one of the schemas',
    ]);
    expect(faults('{"never":{"id":1}}')).toEqual(['/never must not match the excluded schema']);
  });

  test('still ends with enough faults', () => {
    const many = JSON.stringify({ list: new Array(5_000).fill({ id: 1, p0: 1, p1: 1 }) });
    expect(faults(many).length).toBeLessThanOrEqual(50);
  });
});
