import { describe, expect, test } from '@jest/globals';
import type { Operation } from '../src/index.ts';
import { checker, done, load, only, short } from './documents.ts';

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const forever = new AbortController().signal;

/** Each definition is in the one before it. */
function chain(length: number): Operation {
  const schemas = Object.fromEntries(
    Array.from({ length }, (_, i) => [
      `Link${i}`,
      {
        type: 'object',
        properties: { next: { $ref: `#/components/schemas/Link${i + 1}` }, n: { type: 'integer' } },
      },
    ]),
  );
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Link0' } } };
  const paths = { '/': { post: { requestBody: { content }, responses: done } } };
  return only(load(paths, { schemas: { ...schemas, [`Link${length}`]: { type: 'string' } } }));
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
  await contract.prepare(AbortSignal.abort());
  expect(contract.operations.map((operation) => operation.ready('request') === null)).toEqual([
    false,
    false,
  ]);
  await contract.prepare(forever);
  expect(contract.operations.map((operation) => operation.ready('request') === null)).toEqual([
    true,
    true,
  ]);
});

test('a bad value does not make all of a large document be compiled: it may report its first fault only, and that there may be more', () => {
  const operation = chain(60);
  const value = { n: 'x', ...(nested(60, 1) as object) };
  expect(check(operation, value)).toEqual([
    expect.any(String),
    'may have more faults than are listed',
  ]);
  const all = ['/n must be an integer', `${'/next'.repeat(60)} must be a string`];
  let faults: string[] = [];
  for (let i = 0; i < 5; i++) faults = check(operation, value);
  expect(faults.sort()).toEqual(all.sort());
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
    expect(
      faults(
        '{"list":[{"id":1,"p0":null}],"map":{"a":{"id":1,"p3":4}},"both":{"id":1,"deep":{"id":2}}}',
      ),
    ).toEqual([]);
    expect(
      faults(
        '{"list":[{"id":1},{"p4":5}],"map":{"a/b":{"id":1,"p3":"x"}},"both":{"deep":{"id":2,"p1":3}}}',
      ).sort(),
    ).toEqual(
      [
        '/both/deep/p1 must be true or false or null',
        '/both/id is required',
        '/list/1/id is required',
        '/list/1/p4 must be a string or null',
        '/map/a~1b/p3 must be an integer or null',
      ].sort(),
    );
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
