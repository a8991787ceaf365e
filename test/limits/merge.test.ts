import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { admit, look } from '../../src/limits/admission.ts';
import { ban, rungAt } from '../../src/limits/ladder.ts';
import { type Ledger, newConduct, newLedger } from '../../src/limits/ledger.ts';
import { mergeLedgers } from '../../src/limits/merge.ts';
import { HOUR, limits, MINUTE, SECOND, window } from '../support/limits.ts';

const LADDER = { strikes: 3, within: MINUTE, grace: 100, lengths: [MINUTE, HOUR], forget: HOUR };
const PLANS = [
  limits([window(4, MINUTE)], LADDER),
  limits([window(5, MINUTE, 'sliding'), window(9, HOUR)], LADDER),
  limits([window(3, 10 * SECOND), window(9, HOUR), window(20, 2 * HOUR, 'sliding')], LADDER),
];
const START = Date.UTC(2026, 0, 1);

/** What happened to one ledger: after so many milliseconds, so many units, or a ban. */
const story = fc.array(
  fc.record({
    pass: fc.integer({ min: 0, max: 30_000 }),
    plan: fc.nat(PLANS.length - 1),
    cost: fc.nat(3),
    ban: fc.nat(19),
  }),
  { maxLength: 25 },
);
type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

function told(steps: Story, ledger: Ledger = newLedger(PLANS[0]!.windows)): Ledger {
  let now = START;
  for (const { pass, plan, cost, ban: chance } of steps) {
    now += pass;
    admit(ledger, PLANS[plan]!, cost, now);
    if (chance > 0) continue;
    ledger.conduct ??= newConduct();
    ledger.conduct.rung = rungAt(ledger.conduct, LADDER, now);
    ban(ledger.conduct, MINUTE, null, now);
  }
  return ledger;
}

/** The sum of what happened is over by then, and the longest windows are not. */
const LATER = START + 25 * 30_000;

test('merging changes neither, and merging again changes nothing', () => {
  fc.assert(
    fc.property(story, story, (one, other) => {
      const [left, right] = [told(one), told(other)];
      const before = structuredClone([left, right]);
      const merged = mergeLedgers(left, right);
      expect([left, right]).toEqual(before);
      expect(mergeLedgers(merged, right)).toEqual(merged);
      expect(mergeLedgers(merged, left)).toEqual(merged);
    }),
  );
});

test('a copy that fell behind brings nothing new: what went on is kept as it is', () => {
  fc.assert(
    fc.property(story, story, fc.nat(PLANS.length - 1), (before, after, plan) => {
      const steps = [...before, ...after].map((step) => ({ ...step, plan }));
      const behind = told(steps.slice(0, before.length), newLedger(PLANS[plan]!.windows));
      const ahead = told(steps, newLedger(PLANS[plan]!.windows));
      expect(mergeLedgers(ahead, behind).cells).toEqual(ahead.cells);
      expect(look(mergeLedgers(ahead, behind), PLANS[plan]!, LATER)).toEqual(look(ahead, PLANS[plan]!, LATER));
      expect(look(mergeLedgers(behind, ahead), PLANS[plan]!, LATER)).toEqual(look(ahead, PLANS[plan]!, LATER));
    }),
  );
});

test('no ban ends, no rung falls, and no window of the same opening gives out more', () => {
  fc.assert(
    fc.property(story, story, (one, other) => {
      const [left, right] = [told(one), told(other)];
      const merged = mergeLedgers(left, right);
      for (const { conduct } of [left, right]) {
        if (!conduct) continue;
        expect(merged.conduct!.bannedUntil).toBeGreaterThanOrEqual(conduct.bannedUntil);
        expect(rungAt(merged.conduct!, LADDER, LATER)).toBeGreaterThanOrEqual(rungAt(conduct, LADDER, LATER));
      }
    }),
  );
  const opened = (at: number, used: number): Ledger => ({
    windows: [window(9, HOUR)],
    cells: [at, used],
    conduct: null,
  });
  expect(mergeLedgers(opened(5, 3), opened(5, 7)).cells).toEqual([5, 7]);
  expect(mergeLedgers(opened(5, 7), opened(6, 1)).cells).toEqual([6, 1]);
  expect(mergeLedgers(opened(6, 1), opened(5, 7)).cells).toEqual([6, 1]);
});

test('windows that only one of them has keep their count', () => {
  const one: Ledger = { windows: [window(9, HOUR)], cells: [5, 3], conduct: null };
  const other: Ledger = { windows: [window(2, MINUTE)], cells: [6, 1], conduct: null };
  const merged = mergeLedgers(one, other);
  expect(merged.windows.map(({ span }) => span)).toEqual([MINUTE, HOUR]);
  expect(merged.cells).toEqual([6, 1, 5, 3]);
});
