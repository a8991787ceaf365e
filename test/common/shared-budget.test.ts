import { describe, expect, test } from '@jest/globals';
import type { QueueOwner } from '@storegate/http1';
import fc from 'fast-check';
import { createSharedBudget, type Holding } from '../../src/common/shared-budget.ts';

const MOST = 1_000;
const owner = (member: string, group = 'free', weight = 1): QueueOwner => ({
  group,
  weight,
  member,
});

interface Body {
  readonly name: string;
  readonly owner: QueueOwner;
  readonly holding: Holding;
  grow(bytes: number): boolean;
  keep(): boolean;
  release(): void;
}

/** A refused body is released, as a request that ends. */
function open(most = MOST) {
  const budget = createSharedBudget(most);
  const evicted: string[] = [];
  const evictedBodies: Body[] = [];
  const begin = (of: QueueOwner, name = of.member): Body => {
    const holding = budget.open(of, {
      evicted() {
        evicted.push(name);
        evictedBodies.push(body);
      },
    });
    const orRelease = (isDone: boolean) => {
      if (!isDone) budget.release(holding);
      return isDone;
    };
    const body: Body = {
      name,
      owner: of,
      holding,
      grow: (bytes) => orRelease(budget.grow(holding, bytes)),
      keep: () => orRelease(budget.keep(holding)),
      release: () => budget.release(holding),
    };
    return body;
  };
  return { budget, evicted, evictedBodies, begin };
}

describe('memory', () => {
  test('is all for one owner while no other wants it, and its next body is refused', () => {
    const { begin, evicted, budget } = open();
    for (let i = 0; i < 10; i++) expect(begin(owner('a')).grow(100)).toBe(true);
    expect(begin(owner('a')).grow(1)).toBe(false);
    expect(evicted).toEqual([]);
    expect(budget.held).toBe(MOST);
  });

  test('is taken from the owner with the most, however many bodies it is in', () => {
    const { begin, evicted } = open();
    for (let i = 0; i < 20; i++) begin(owner('many'), `many ${i}`).grow(30);
    begin(owner('one')).grow(400);
    expect(begin(owner('new')).grow(90)).toBe(true);
    expect(evicted).toEqual(['many 0', 'many 1', 'many 2']);
  });

  test('is shared by weight among plans, whatever the number of their accounts', () => {
    const { begin, evicted } = open();
    const free = Array.from({ length: 100 }, (_, i) => begin(owner(`free ${i}`)));
    for (const body of free) body.grow(10);
    const paid = begin(owner('paid', 'business', 4));
    expect(paid.grow(800)).toBe(true);
    expect(evicted).toHaveLength(80);
    expect(paid.grow(10)).toBe(false);
  });

  test('is taken from the body of an owner that has not grown for the longest time', () => {
    const { begin, evicted } = open();
    const all = ['slow', 'steady', 'quick'].map((name) => begin(owner('a'), name));
    for (const body of all) body.grow(300);
    all[1]!.grow(10);
    all[2]!.grow(10);
    for (const name of ['b', 'c']) begin(owner(name)).grow(200);
    expect(evicted).toEqual(['slow', 'steady']);
  });

  test('of a body that holds nothing yet is worth no refusal', () => {
    const { begin, evicted } = open();
    begin(owner('a'), 'begun');
    begin(owner('a'), 'large').grow(MOST);
    begin(owner('b')).grow(100);
    expect(evicted).toEqual(['large']);
  });

  test('is there again after a release, which may be repeated', () => {
    const { begin, budget } = open();
    const body = begin(owner('a'));
    body.grow(600);
    expect(body.keep()).toBe(false);
    body.release();
    body.release();
    expect(budget.held).toBe(0);
    expect(begin(owner('b')).grow(MOST)).toBe(true);
  });

  test('that was lowered is reached by eviction', () => {
    const { begin, budget, evicted } = open();
    for (let i = 0; i < 4; i++) begin(owner('a'), `a${i}`).grow(250);
    budget.most = 500;
    begin(owner('b')).grow(100);
    expect(evicted).toEqual(['a0', 'a1', 'a2']);
  });
});

describe('what is in use', () => {
  const kept = (begin: (of: QueueOwner) => Body, of: QueueOwner): number => {
    for (let bytes = 0; ; bytes++) {
      const body = begin(of);
      if (!body.grow(1) || !body.keep()) return bytes;
    }
  };

  test.each([
    [1, 500],
    [4, 800],
    [16, 941],
  ])('of an owner of weight %d is at most %d of a thousand bytes', (weight, most) => {
    expect(kept(open().begin, owner('a', 'plan', weight))).toBe(most);
  });

  test('of a plan of weight 1 is at most two thirds, of however many owners, and others get theirs of the rest', () => {
    const { begin } = open();
    let all = 0;
    for (let i = 0; i < 50; i++) all += kept(begin, owner(`${i}`));
    expect(all).toBeGreaterThan(660);
    expect(all).toBeLessThanOrEqual(666);
    expect(kept(begin, owner('paid', 'business', 8))).toBe(296);
  });

  test('is never evicted, and counts as held', () => {
    const { begin, evicted } = open();
    const inUse = begin(owner('a'), 'in use');
    inUse.grow(300);
    expect(inUse.keep()).toBe(true);
    begin(owner('a'), 'arriving').grow(200);
    begin(owner('b')).grow(400);
    expect(begin(owner('c')).grow(300)).toBe(true);
    expect(evicted).toEqual(['arriving']);
    expect(begin(owner('c')).grow(200)).toBe(false);
  });

  test('makes its owner the one with the most, also if it grows later', () => {
    const { begin, evicted } = open();
    const inUse = begin(owner('a'), 'in use');
    inUse.grow(100);
    inUse.keep();
    begin(owner('a'), 'arriving').grow(50);
    begin(owner('b')).grow(200);
    inUse.grow(300);
    expect(begin(owner('c')).grow(380)).toBe(true);
    expect(evicted).toEqual(['arriving']);
  });

  test('may be empty', () => {
    const { begin } = open(0);
    expect(begin(owner('a')).keep()).toBe(true);
  });
});

describe('whatever owners do', () => {
  const weights = [1, 1, 3];
  const action = fc.record({
    group: fc.nat({ max: weights.length - 1 }),
    member: fc.nat({ max: 3 }),
    does: fc.oneof(
      { weight: 4, arbitrary: fc.record({ begin: fc.integer({ min: 1, max: 400 }) }) },
      {
        weight: 2,
        arbitrary: fc.record({ grow: fc.integer({ min: 1, max: 200 }), body: fc.nat() }),
      },
      { weight: 2, arbitrary: fc.record({ keep: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ release: fc.nat() }) },
      {
        weight: 1,
        arbitrary: fc.record({ fill: fc.integer({ min: 30, max: 200 }), keeps: fc.boolean() }),
      },
    ),
  });
  const actions = fc.array(action, { maxLength: 60 });

  /** Of all bodies that are not released. */
  class Bodies {
    readonly #begin: (of: QueueOwner) => Body;
    readonly #grow: (body: Body, bytes: number) => void;
    all: Body[] = [];

    constructor(begin: (of: QueueOwner) => Body, grow: (body: Body, bytes: number) => void) {
      this.#begin = begin;
      this.#grow = grow;
    }

    does({
      group,
      member,
      does,
    }: typeof actions extends fc.Arbitrary<(infer One)[]> ? One : never): void {
      // Others may have evicted some.
      this.#forgetReleased();
      const { all } = this;
      if ('begin' in does) {
        const body = this.#begin(owner(`${member} of ${group}`, `plan ${group}`, weights[group]!));
        all.push(body);
        this.#grow(body, does.begin);
      } else if ('grow' in does) {
        const body = all[does.body % all.length];
        if (body !== undefined) this.#grow(body, does.grow);
      } else if ('fill' in does) {
        let body: Body;
        do {
          body = this.#begin(owner(`${member} of ${group}`, `plan ${group}`, weights[group]!));
          this.all.push(body);
          this.#grow(body, does.fill);
          if (does.keeps && body.holding.state === 'evictable') body.keep();
          this.#forgetReleased();
        } while (body.holding.state !== 'released');
      } else if ('keep' in does) {
        const body = all[does.keep % all.length];
        if (body?.holding.state === 'evictable') body.keep();
      } else {
        all[does.release % all.length]?.release();
      }
      this.#forgetReleased();
    }

    #forgetReleased(): void {
      this.all = this.all.filter(({ holding }) => holding.state !== 'released');
    }
  }

  const sum = (bodies: readonly Body[]) =>
    bodies.reduce((bytes, { holding }) => bytes + holding.bytes, 0);

  /**
   * Returns whether another owner holds more for its weight than that of `body` with `more` bytes.
   */
  function holdsMoreIn(
    among: readonly Body[],
    { owner: of }: Body,
    more: number,
  ): (other: Body) => boolean {
    const bytes = new Map<string, number>();
    for (const { owner: one, holding } of among) {
      for (const name of [one.group, one.member])
        bytes.set(name, (bytes.get(name) ?? 0) + holding.bytes);
    }
    const ofMember = (bytes.get(of.member) ?? 0) + more;
    const level = ((bytes.get(of.group) ?? 0) + more) / of.weight;
    return ({ owner: { group, member, weight } }) =>
      group === of.group ? bytes.get(member)! > ofMember : bytes.get(group)! / weight > level;
  }

  test('the budget holds, and only those lose a body that hold more for their weight, before any that holds less', () => {
    fc.assert(
      fc.property(actions, (all) => {
        const { begin, budget, evictedBodies } = open();
        const bodies: Bodies = new Bodies(begin, (body, more) => {
          const before = bodies.all;
          const wasKept = body.holding.state === 'kept';
          const isDone = body.grow(more);
          let remaining = [...before];
          for (const one of evictedBodies.splice(0)) {
            expect(holdsMoreIn(remaining, body, isDone ? 0 : more)(one)).toBe(true);
            remaining = remaining.filter((other) => other !== one);
          }
          if (isDone || wasKept) return;
          const holdsMore = holdsMoreIn(remaining, body, more);
          expect(remaining.some((one) => one.holding.state === 'evictable' && holdsMore(one))).toBe(
            false,
          );
        });
        for (const one of all) {
          bodies.does(one);
          expect(budget.held).toBe(sum(bodies.all));
          expect(budget.held).toBeLessThanOrEqual(MOST);
        }
        for (const body of bodies.all) body.release();
        expect(budget.held).toBe(0);
      }),
      { numRuns: 1_000 },
    );
  });

  test('a client within its part gets through, though all others take what they can and retry at once', () => {
    const polite = fc.record({
      weight: fc.integer({ min: 1, max: 32 }),
      steps: fc.array(fc.nat({ max: 100 }), { minLength: 1, maxLength: 5 }),
    });
    fc.assert(
      fc.property(actions, actions, polite, (before, between, { weight, steps }) => {
        const { begin, evicted } = open();
        const hostile = new Bodies(begin, (body, bytes) => void body.grow(bytes));
        for (const one of before) hostile.does(one);

        // Each plan leaves at least this part of what the ones before it left.
        const free = weights.reduce((rest, other) => rest / (1 + 2 * other), MOST);
        const all = weights.reduce((together, other) => together + other, weight);
        const part = (free * weight) / all;
        const body = begin(owner('polite', 'polite', weight));
        const whole = steps.reduce((one, other) => one + other, 1);
        const share = Math.floor(between.length / steps.length);
        for (const [i, step] of steps.entries()) {
          expect(body.grow((part * step) / whole)).toBe(true);
          for (const one of between.slice(i * share, (i + 1) * share)) hostile.does(one);
        }
        expect(body.keep()).toBe(true);
        expect(evicted).not.toContain('polite');
      }),
      { numRuns: 3_000 },
    );
  });

  test('an evicted body that comes again at once evicts others only that hold more than it, and so nothing turns in circles', () => {
    const owners = fc.array(
      fc.record({
        weight: fc.integer({ min: 1, max: 8 }),
        bytes: fc.integer({ min: 1, max: 300 }),
      }),
      {
        minLength: 2,
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(owners, (all) => {
        const { begin, evicted } = open(500);
        const again = (i: number) =>
          begin(owner(`${i}`, `${i}`, all[i]!.weight)).grow(all[i]!.bytes);
        for (let i = 0; i < all.length; i++) again(i);
        let rounds = 0;
        for (let name = evicted.shift(); name !== undefined; name = evicted.shift()) {
          again(Number(name));
          rounds++;
          expect(rounds).toBeLessThan(10 * all.length);
        }
      }),
    );
  });
});
