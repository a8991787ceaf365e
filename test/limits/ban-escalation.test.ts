import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  ban,
  freeIn,
  levelAt,
  noteRefusal,
  recentStrikes,
  strike,
} from '../../src/limits/ban-escalation.ts';
import { newStrikeState, type StrikeState } from '../../src/limits/counters.ts';
import type { BanEscalation } from '../../src/limits/limits.ts';
import { exactly } from '../../src/limits/plans.ts';
import { DAY, scoped, window } from '../support/limits.ts';

/** Short: 3 strikes in 1000 ms, bans of 5, 10 and 20 s, a decay of a minute. */
const ESCALATION: BanEscalation = {
  strikes: 3,
  window: 1_000,
  workers: 1,
  minWorkers: 1,
  grace: 100,
  durations: [5_000, 10_000, 20_000],
  decay: 60_000,
};
const NOW = 1_000_000;
const DAILY = window(1000, DAY);

const strikeState = (given: Partial<StrikeState> = {}): StrikeState => ({
  ...newStrikeState(),
  ...given,
});

describe('a refusal', () => {
  const refused = { refused: { at: NOW, until: NOW + 10_000, refusals: 1 } };

  test.each([
    ['the first one ever', {}, 0, 'none'],
    ['in the burst of the first one', refused, 0, 'none'],
    ['just within the grace', refused, 99, 'none'],
    ['when the grace is over', refused, 100, 'strike'],
    ['in the last moment before the caller may come back', refused, 9_999, 'strike'],
    ['once the caller may come back', refused, 10_000, 'none'],
    ['the last strike', { ...refused, strikes: [NOW, NOW] }, 100, 'ban'],
    [
      'the last strike, but the others are too long ago',
      { ...refused, strikes: [NOW - 900, NOW - 900] },
      100,
      'strike',
    ],
  ] as const)('%s', (_name, given, after, consequence) => {
    const noted = structuredClone(strikeState(given as Partial<StrikeState>));
    expect(noteRefusal(noted, ESCALATION, DAILY, NOW + 20_000, NOW + after)).toBe(consequence);
  });

  test.each([
    [1, ['strike', 'strike', 'strike']],
    [2, ['none', 'strike', 'strike']],
    [4, ['none', 'none', 'none']],
  ])('is free once for each of %i workers in a wait', (workers, expected) => {
    const noted = strikeState(structuredClone(refused));
    const escalation = { ...ESCALATION, ...exactly(workers), strikes: 100 };
    const effects = [200, 300, 400].map((after) =>
      noteRefusal(noted, escalation, DAILY, NOW + 20_000, NOW + after),
    );
    expect(effects).toEqual(expected);
  });

  test.each([
    [1, 20],
    [20, 20],
    [60, 60],
    [200, 200],
    [1_000, 200],
    [undefined, 200],
  ])('by a limit of %p units is free %i times in a wait', (units, free) => {
    const shipped = { ...ESCALATION, workers: 200, minWorkers: 20 };
    expect(freeIn(shipped, units)).toBe(free);
    expect(freeIn({ ...shipped, ...exactly(7) }, units)).toBe(7);
  });

  test('begins a limit only where none is in force', () => {
    const noted = strikeState();
    noteRefusal(noted, ESCALATION, DAILY, NOW + 500, NOW);
    noteRefusal(noted, ESCALATION, DAILY, NOW + 900, NOW + 50);
    expect(noted).toMatchObject({ refused: { at: NOW, until: NOW + 500, refusals: 1 } });
    noteRefusal(noted, ESCALATION, DAILY, NOW + 900, NOW + 500);
    expect(noted).toEqual(
      strikeState({ refused: { at: NOW + 500, until: NOW + 900, refusals: 1 } }),
    );
  });
});

test('refusals in each scope and by own windows are recorded, and strike, separately', () => {
  const noted = strikeState();
  const refuse = (scope: string | null, after: number) =>
    noteRefusal(
      noted,
      ESCALATION,
      scope === null ? DAILY : scoped(scope, 5, DAY),
      NOW + 10_000 + after,
      NOW + after,
    );
  expect(refuse('login', 0)).toBe('none');
  expect(refuse('tag:search', 200)).toBe('none');
  expect(refuse(null, 200)).toBe('none');
  expect(refuse('tag:search', 299)).toBe('none');
  expect(refuse('login', 299)).toBe('strike');
  expect(refuse(null, 300)).toBe('strike');
  expect(noted).toMatchObject({ refused: { at: NOW + 200, until: NOW + 10_200 } });
  expect(noted.refusedIn).toEqual([
    { scope: 'login', at: NOW, until: NOW + 10_000, refusals: 2 },
    { scope: 'tag:search', at: NOW + 200, until: NOW + 10_200, refusals: 1 },
  ]);
  expect(refuse('login', 10_000)).toBe('none');
  expect(refuse('tag:search', 10_100)).toBe('strike');
});

describe('strikes', () => {
  test.each([
    [[], []],
    [[NOW - 1_000], []],
    [[NOW - 999], [NOW - 999]],
    [
      [NOW - 5_000, NOW - 1_000, NOW - 1, NOW],
      [NOW - 1, NOW],
    ],
  ])('%j: %j of them count', (strikes, counting) => {
    expect(recentStrikes(strikeState({ strikes }), ESCALATION, NOW)).toEqual(counting);
  });

  test('are clean time that ends', () => {
    const struck = strikeState({ cleanSince: NOW - 10 });
    expect(strike(struck, ESCALATION, DAILY, NOW)).toBe('strike');
    expect(struck).toMatchObject({ strikes: [NOW], cleanSince: NOW, bannedUntil: 0, level: 0 });
  });
});

describe('the escalation', () => {
  test('is climbed by a ban of any length', () => {
    const banned = strikeState({ level: 1, strikes: [NOW] });
    ban(banned, ESCALATION, 123, null, NOW);
    expect(banned).toMatchObject({
      level: 2,
      strikes: [],
      bannedUntil: NOW + 123,
      cleanSince: NOW + 123,
    });
  });

  test('keeps when a ban began, and the limit that it is for until a person bans', () => {
    const banned = strikeState({ strikes: [NOW, NOW] });
    expect(strike(banned, ESCALATION, DAILY, NOW + 7)).toBe('ban');
    expect(banned).toMatchObject({ bannedSince: NOW + 7, bannedFor: DAILY });
    ban(banned, ESCALATION, 123, null, NOW + 9);
    expect(banned).toMatchObject({ bannedSince: NOW + 9, bannedFor: null });
  });

  test.each([
    [0, 0, 0],
    [2, -1, 2],
    [2, 59_999, 2],
    [2, 60_000, 1],
    [2, 119_999, 1],
    [2, 120_000, 0],
  ])('from level %i: after %i ms without a strike it is %i', (level, clean, remaining) => {
    const kept = strikeState({ level: level, cleanSince: NOW });
    expect(levelAt(kept, ESCALATION, NOW + clean)).toBe(remaining);
    expect(kept.level).toBe(level);
  });

  test('is forgotten into by a strike, which counts clean time from itself on', () => {
    const kept = strikeState({ level: 3, cleanSince: NOW });
    strike(kept, ESCALATION, DAILY, NOW + 130_000);
    expect(kept).toMatchObject({ level: 1, cleanSince: NOW + 130_000 });
  });
});

test('after any refusals, a ban resets its strikes, and has the duration of its level', () => {
  const steps = fc.array(
    fc.record({
      pass: fc.oneof(
        { weight: 20, arbitrary: fc.nat({ max: 400 }) },
        { weight: 4, arbitrary: fc.nat({ max: 30_000 }) },
        { weight: 1, arbitrary: fc.constant(ESCALATION.decay) },
      ),
      wait: fc.integer({ min: 1, max: 20_000 }),
    }),
    { minLength: 1, maxLength: 200 },
  );
  let bans = 0;
  fc.assert(
    fc.property(steps, (steps) => {
      const kept = strikeState();
      let now = NOW;
      let struck: number[] = [];
      for (const { pass, wait } of steps) {
        now = Math.max(now + pass, kept.bannedUntil);
        const level = levelAt(kept, ESCALATION, now);
        const consequence = noteRefusal(kept, ESCALATION, DAILY, now + wait, now);
        if (consequence !== 'none') struck.push(now);
        expect(kept.strikes.length).toBeLessThan(ESCALATION.strikes);
        if (consequence !== 'ban') continue;
        bans++;
        expect(struck.filter((at) => at > now - ESCALATION.window)).toHaveLength(
          ESCALATION.strikes,
        );
        expect(kept.bannedUntil - now).toBe(
          ESCALATION.durations[Math.min(level, ESCALATION.durations.length - 1)],
        );
        expect(levelAt(kept, ESCALATION, now)).toBe(level + 1);
        struck = [];
      }
    }),
  );
  expect(bans).toBeGreaterThan(0);
});
