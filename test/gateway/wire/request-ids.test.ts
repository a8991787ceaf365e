import { expect, test } from '@jest/globals';
import { requestIds } from '../../../src/gateway/wire/request-ids.ts';

test('every id has the form of a UUID, and none is repeated, across the end of a series', () => {
  const next = requestIds();
  const ids = new Set<string>();
  const count = 2 ** 20 + 1_000;
  for (let i = 0; i < count; i++) ids.add(next());
  expect(ids.size).toBe(count);
  for (const id of [...ids].slice(-2_000))
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('two makers have no id in common', () => {
  const [one, other] = [requestIds(), requestIds()];
  const ids = new Set(Array.from({ length: 1_000 }, () => [one(), other()]).flat());
  expect(ids.size).toBe(2_000);
});
