import { expect, test } from '@jest/globals';
import type { RefusedRequest } from '@storegate/admin-api';
import { groupsOf, NO_TAIL, timesOf, withRefused } from '../src/browser/views/requests/tail.ts';

const refused = (id: number) =>
  ({ id: `${id}`, at: new Date(id * 1_000).toISOString() }) as RefusedRequest;
const ids = (requests: readonly RefusedRequest[]) => requests.map(({ id }) => Number(id));

test('has each request once, the newest first, the oldest no more when there are too many, and what was left out', () => {
  const some = withRefused(NO_TAIL, { requests: [refused(3), refused(1)], omitted: 2 });
  const more = withRefused(some, { requests: [refused(4), refused(3), refused(2)], omitted: 1 });
  expect([ids(more.requests), more.left]).toEqual([[4, 3, 2, 1], 3]);
  const many = withRefused(more, {
    requests: Array.from({ length: 200 }, (_, i) => refused(300 - i)),
    omitted: 0,
  });
  expect([many.requests.length, Math.min(...ids(many.requests))]).toEqual([200, 101]);
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
