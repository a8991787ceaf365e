import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createFairQueue, type QueueOwner, type Turn } from '../src/fair-queue.ts';

const NEVER = Number.POSITIVE_INFINITY;
const owner = (group: string, weight = 1, member = group): QueueOwner => ({
  group,
  weight,
  member,
});

/** Named after their group and place: a0, a1, … */
function fill(
  queue: ReturnType<typeof createFairQueue<string>>,
  count: number,
  of: QueueOwner,
  from = 0,
): (string | null)[] {
  return Array.from({ length: count }, (_, i) => queue.add(`${of.member}${from + i}`, of, NEVER));
}

function serve(
  queue: ReturnType<typeof createFairQueue<string>>,
  count: number,
  cost: (item: string) => number | null = () => 1,
): string[] {
  const served: string[] = [];
  for (let turn = queue.next(); turn !== null; turn = served.length < count ? queue.next() : null) {
    served.push(turn.item);
    queue.end(turn, cost(turn.item));
  }
  return served;
}

const letters = (items: readonly string[]) => items.map((item) => item[0]).join('');

describe('what waits', () => {
  test('is served in the order of its coming where all are one owner', () => {
    const queue = createFairQueue<string>(10);
    fill(queue, 4, owner('a'));
    expect(serve(queue, 9)).toEqual(['a0', 'a1', 'a2', 'a3']);
    expect(queue.next()).toBeNull();
  });

  test.each([
    [{ a: 1, b: 1 }, 8, 'abababab'],
    [{ a: 1, b: 2 }, 9, 'babbabbab'],
    [{ a: 1, b: 4 }, 12, 'babbbbabbbba'],
    [{ a: 1, b: 1, c: 2 }, 12, 'cabccabccabc'],
  ])('is shared by the weights %j', (weights, count, order) => {
    const queue = createFairQueue<string>(1_000);
    for (const [group, weight] of Object.entries(weights)) fill(queue, 40, owner(group, weight));
    expect(letters(serve(queue, count))).toBe(order);
  });

  test('is shared by what it costs, not by how many there are', () => {
    const queue = createFairQueue<string>(1_000);
    fill(queue, 100, owner('a'));
    fill(queue, 100, owner('b'));
    const served = letters(serve(queue, 88, (item) => (item.startsWith('a') ? 10 : 1)));
    expect([...served].filter((group) => group === 'a')).toHaveLength(8);
  });

  test('of one group comes from each of its members in turn', () => {
    const queue = createFairQueue<string>(100);
    fill(queue, 5, owner('free', 1, 'x'));
    fill(queue, 2, owner('free', 1, 'y'));
    fill(queue, 1, owner('free', 1, 'z'));
    expect(serve(queue, 9)).toEqual(['x0', 'y0', 'z0', 'x1', 'y1', 'x2', 'x3', 'x4']);
  });

  test('of a group that comes late goes before what a heavier load has waiting, but saves nothing up', () => {
    const queue = createFairQueue<string>(100);
    fill(queue, 50, owner('a'));
    serve(queue, 20);
    fill(queue, 3, owner('b', 10));
    expect(letters(serve(queue, 5))).toBe('bbbaa');
    serve(queue, 10);
    fill(queue, 20, owner('b', 1), 3);
    expect(letters(serve(queue, 8))).toMatch(/^(ab){4}$|^(ba){4}$/);
  });

  test('is charged nothing where its turn was not used', () => {
    const queue = createFairQueue<string>(100);
    for (const group of ['a', 'b']) fill(queue, 10, owner(group));
    expect(letters(serve(queue, 3))).toBe('aba');
    const unused = serve(queue, 4, (item) => (item.startsWith('b') ? null : 1));
    expect(letters(unused)).toBe('bbbb');
  });

  test('takes the newest weight of its group', () => {
    const queue = createFairQueue<string>(100);
    for (const group of ['a', 'b']) fill(queue, 20, owner(group));
    expect(letters(serve(queue, 4))).toBe('abab');
    queue.add('b20', owner('b', 3), NEVER);
    expect([...letters(serve(queue, 12))].filter((group) => group === 'b')).toHaveLength(9);
  });
});

describe('a full queue', () => {
  test('refuses a newcomer of the only owner', () => {
    const queue = createFairQueue<string>(3);
    expect(fill(queue, 5, owner('a'))).toEqual([null, null, null, 'a3', 'a4']);
    expect(queue.size).toBe(3);
  });

  test('gives the places of a group that has more than its part to one that has less, its newest ones first', () => {
    const queue = createFairQueue<string>(6);
    fill(queue, 6, owner('a'));
    expect(fill(queue, 6, owner('b', 2))).toEqual(['a5', 'a4', 'a3', 'a2', 'b4', 'b5']);
    expect(letters([...serve(queue, 9)].sort())).toBe('aabbbb');
  });

  test('takes within a group from the subject with most, and refuses a newcomer who would have as much', () => {
    const queue = createFairQueue<string>(4);
    fill(queue, 4, owner('free', 1, 'x'));
    expect(fill(queue, 3, owner('free', 1, 'y'))).toEqual(['x3', 'x2', 'y2']);
    expect(fill(queue, 2, owner('free', 1, 'z'))).toEqual(['y1', 'z1']);
    expect(serve(queue, 9)).toEqual(['x0', 'y0', 'z0', 'x1']);
  });

  test('takes from the last that came where all of the group have as much, and not from the next one', () => {
    const queue = createFairQueue<string>(3);
    for (const member of ['x', 'y', 'z']) fill(queue, 1, owner('free', 1, member));
    expect(fill(queue, 1, owner('paid', 9, 'p'))).toEqual(['z0']);
    expect(serve(queue, 9)).toEqual(['p0', 'x0', 'y0']);
  });
});

test('what leaves makes room, wherever it stands, and costs its group nothing', () => {
  const queue = createFairQueue<string>(5);
  const [a, b] = [owner('a'), owner('b')];
  fill(queue, 4, a);
  fill(queue, 1, b);
  for (const item of ['a1', 'a3', 'a0', 'a0', 'c0']) queue.leave(item, a);
  queue.leave('b0', a);
  queue.leave('x', owner('x'));
  expect(queue.size).toBe(2);
  expect(fill(queue, 3, a, 4)).toEqual([null, null, null]);
  queue.leave('b0', b);
  expect(serve(queue, 9)).toEqual(['a2', 'a4', 'a5', 'a6']);
  expect(queue.next()).toBeNull();
});

describe('an item whose turn ended before it was done', () => {
  test('is the next of its group, and other groups have their part in between', () => {
    const queue = createFairQueue<string>(10);
    fill(queue, 2, owner('a', 1, 'x'));
    fill(queue, 1, owner('a', 1, 'y'));
    fill(queue, 6, owner('b', 2));
    const served: string[] = [];
    for (let turn = queue.next(); turn !== null; turn = queue.next()) {
      served.push(turn.item);
      const turns = served.filter((item) => item === turn!.item).length;
      if (turn.item === 'x0' && turns < 3) queue.again(turn, 1);
      else queue.end(turn, 1);
    }
    expect(served.filter((item) => !item.startsWith('b'))).toEqual(['x0', 'x0', 'x0', 'y0', 'x1']);
    expect(letters(served).replaceAll(/[xy]/g, 'a').slice(0, 9)).toBe('babbabbab');
  });

  test('stays in a queue without others, takes no place and is never late', () => {
    const queue = createFairQueue<string>(1);
    queue.add('a', owner('a'), 10);
    queue.again(queue.next()!, 1);
    expect(queue.size).toBe(0);
    expect(queue.takeLate(99)).toBeNull();
    expect(queue.add('b', owner('b'), 10)).toBeNull();
    expect(queue.add('c', owner('a'), 10)).toBe('c');
    expect(serve(queue, 9).sort()).toEqual(['a', 'b']);
  });
});

test('what is late goes, the oldest first, and nothing else', () => {
  const queue = createFairQueue<string>(10);
  queue.add('a', owner('a'), 10);
  queue.add('b', owner('b', 9), 10);
  queue.add('c', owner('a'), 20);
  expect(queue.takeLate(9)).toBeNull();
  expect([queue.takeLate(10), queue.takeLate(10), queue.takeLate(10)]).toEqual(['a', 'b', null]);
  expect(serve(queue, 9)).toEqual(['c']);
});

describe('whatever happens', () => {
  const groups = fc.array(
    fc.record({ weight: fc.integer({ min: 1, max: 20 }), cost: fc.integer({ min: 1, max: 50 }) }),
    { minLength: 2, maxLength: 5 },
  );

  test('groups that always wait have shares of the cost as their weights are, however many are served at once', () => {
    const atOnce = fc.integer({ min: 1, max: 8 });
    fc.assert(
      fc.property(groups, atOnce, (all, servers) => {
        const queue = createFairQueue<number>(10_000);
        const add = (i: number) => queue.add(i, owner(`${i}`, all[i]!.weight), NEVER);
        for (let i = 0; i < all.length; i++) for (let j = 0; j < 2 * servers; j++) add(i);
        const had = all.map(() => 0);
        const busy: { readonly turn: Turn<number>; readonly until: number }[] = [];
        let now = 0;
        for (let turns = 0; turns < 3_000; turns++) {
          if (busy.length === servers) {
            busy.sort((one, other) => one.until - other.until);
            const { turn, until } = busy.shift()!;
            now = until;
            had[turn.item]! += all[turn.item]!.cost;
            queue.end(turn, all[turn.item]!.cost);
          }
          const turn = queue.next()!;
          add(turn.item);
          busy.push({ turn, until: now + all[turn.item]!.cost });
        }
        const times = had.map((cost, i) => cost / all[i]!.weight);
        // Turns in progress are not counted, and a group is ahead by at most a turn of each server,
        // before its cost was known.
        const slack = (2 * servers + 1) * (50 + 100);
        expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(slack);
      }),
      { numRuns: 200 },
    );
  });

  test('a group never waits for more than its part of the others, however much they have waiting', () => {
    fc.assert(
      fc.property(groups, (all) => {
        const queue = createFairQueue<number>(10_000);
        for (let i = 1; i < all.length; i++) {
          for (let j = 0; j < 500; j++) queue.add(i, owner(`${i}`, all[i]!.weight), NEVER);
        }
        for (let i = 0; i < 100; i++) {
          const turn = queue.next()!;
          queue.end(turn, all[turn.item]!.cost);
        }
        queue.add(0, owner('0', all[0]!.weight), NEVER);
        let others = 0;
        for (let turn = queue.next()!; turn.item !== 0; turn = queue.next()!) {
          queue.end(turn, all[turn.item]!.cost);
          others++;
        }
        expect(others).toBeLessThan(all.length);
      }),
      { numRuns: 200 },
    );
  });

  test('there are never too many, and each comes out once', () => {
    const act = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          group: fc.integer({ min: 0, max: 3 }),
          member: fc.integer({ min: 0, max: 3 }),
        }),
      },
      { weight: 3, arbitrary: fc.constantFrom('next' as const) },
      {
        weight: 2,
        arbitrary: fc.record({ cost: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })) }),
      },
      { weight: 1, arbitrary: fc.constantFrom('late' as const) },
      { weight: 2, arbitrary: fc.record({ leaves: fc.nat() }) },
    );
    fc.assert(
      fc.property(
        fc.array(act, { maxLength: 300 }),
        fc.integer({ min: 0, max: 12 }),
        (acts, most) => {
          const queue = createFairQueue<number>(most);
          const inside = new Set<number>();
          const turns: Turn<number>[] = [];
          const owners: QueueOwner[] = [];
          const out = (item: number) => expect(inside.delete(item)).toBe(true);
          let now = 0;
          for (const [i, done] of acts.entries()) {
            now++;
            if (done === 'next') {
              const turn = queue.next();
              expect(turn === null).toBe(inside.size === 0);
              if (turn !== null) {
                out(turn.item);
                turns.push(turn);
              }
            } else if (done === 'late') {
              for (let late = queue.takeLate(now); late !== null; late = queue.takeLate(now))
                out(late);
            } else if ('leaves' in done) {
              const item = [...inside][done.leaves % inside.size];
              if (item !== undefined) {
                queue.leave(item, owners[item]!);
                out(item);
              }
            } else if ('cost' in done) {
              const turn = turns.shift();
              if (turn !== undefined) queue.end(turn, done.cost);
            } else {
              inside.add(i);
              owners[i] = owner(`${done.group}`, done.group + 1, `${done.member}`);
              const refused = queue.add(i, owners[i], now + 40);
              if (refused !== null) out(refused);
            }
            expect(queue.size).toBe(inside.size);
            expect(queue.size).toBeLessThanOrEqual(most);
          }
          for (let turn = queue.next(); turn !== null; turn = queue.next()) {
            out(turn.item);
            turns.push(turn);
          }
          expect(inside.size).toBe(0);
          for (const turn of turns) queue.end(turn, 1);
        },
      ),
      { numRuns: 500 },
    );
  });
});
