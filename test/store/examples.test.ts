import { describe, expect, test } from '@jest/globals';
import type { Operation } from '@storegate/openapi';
import { contract, follow, lookUpOperation, type Part } from './document.ts';

const json = 'application/json';
const operations = contract.operations.map((operation) => [operation.id, operation] as const);

function examplesOf({ content }: Part): unknown[] {
  const media = (content as Record<string, Part> | undefined)?.[json];
  if (media === undefined) return [];
  return 'example' in media
    ? [media.example]
    : Object.values(media.examples as Part).map((each) => (each as Part).value);
}

function statusesWithBody(operation: Operation): string[] {
  const responses = lookUpOperation(operation, 'responses');
  return Object.keys(responses).filter((status) => 'content' in follow(responses[status] as Part));
}

function toBytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

describe.each(operations)('the examples of %s', (_, operation) => {
  test('exist for every response with a body, and are valid', () => {
    for (const status of statusesWithBody(operation)) {
      const examples = examplesOf(lookUpOperation(operation, 'responses', status));
      expect([status, examples.length]).not.toEqual([status, 0]);
      for (const example of examples)
        expect([status, operation.checkResponse(Number(status), json, toBytes(example))]).toEqual([
          status,
          [],
        ]);
    }
  });

  test('of an error have its status', () => {
    for (const status of statusesWithBody(operation).filter((each) => Number(each) >= 400))
      for (const example of examplesOf(lookUpOperation(operation, 'responses', status)))
        expect((example as Part).status).toBe(Number(status));
  });
});

const writing = operations.filter(([, { body }]) => body !== null);

test.each(writing)('the request examples of %s exist and are valid', (_, operation) => {
  const examples = examplesOf(lookUpOperation(operation, 'requestBody'));
  expect(examples.length).toBeGreaterThan(0);
  for (const example of examples)
    expect(operation.body?.media(json)?.check(toBytes(example))).toEqual([]);
});
