import { expect, test } from '@jest/globals';
import type { RefusedRequest } from '@storegate/admin-api';
import { groupsOf, timesOf, withRefused } from '../src/browser/views/requests/tail.ts';

const refused = (id: number) =>
  ({ id: `${id}`, at: new Date(id * 1_000).toISOString() }) as RefusedRequest;
const ids = (requests: readonly RefusedRequest[]) => requests.map(({ id }) => Number(id));

test('has each request once, newest first, and the next page of its first', () => {
  const page = (next: string | null, ...all: number[]) => ({ requests: all.map(refused), next });
  const some = withRefused(null, page('older', 3, 1));
  expect(some).toMatchObject({ next: 'older', isCut: false });
  const more = withRefused(some, page(null, 4, 3, 2));
  expect(more).toMatchObject({ next: 'older', isCut: false });
  expect(ids(more.requests)).toEqual([4, 3, 2, 1]);
  const many = withRefused(more, page('5', ...Array.from({ length: 200 }, (_, i) => 300 - i)));
  expect(many).toMatchObject({ next: 'older', isCut: true });
  expect([many.requests.length, Math.min(...ids(many.requests))]).toEqual([200, 101]);
  expect(withRefused(many, page(null)).isCut).toBe(true);
});

test('groups refusals that differ only in time and id, and counts those that the gateway did not keep', () => {
  const of = (id: number, key: string | null, code: string, repeated = 0) =>
    ({
      ...refused(id),
      key: key && { id: key, account: 'acme' },
      code,
      repeated,
    }) as RefusedRequest;
  const groups = groupsOf([
    of(5, 'a', 'x', 7),
    of(4, null, 'x'),
    of(3, 'a', 'x'),
    of(2, 'a', 'y'),
    of(1, 'b', 'x'),
  ]);
  expect(groups.map((group) => [ids(group), timesOf(group)])).toEqual([
    [[5, 3], 9],
    [[4], 1],
    [[2], 1],
    [[1], 1],
  ]);
});
