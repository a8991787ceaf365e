import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Admission, remainingIn } from '../../src/limits/admission.ts';
import type { Limits } from '../../src/limits/limits.ts';
import { exactly } from '../../src/limits/plans.ts';
import { NO_SCOPES, type Scopes } from '../../src/limits/scopes.ts';
import { settledAdmission, settlementOf } from '../../src/limits/settlement.ts';
import type { State } from '../../src/state/state.ts';
import {
  calendar,
  DAY,
  ESCALATION,
  HOUR,
  limits,
  MINUTE,
  SECOND,
  scoped,
  TestClock,
  window,
  withExcess,
} from '../support/limits.ts';
import { until } from '../support/until.ts';

/** Opens a fresh state on the clock of a test. */
export type OpenState = (clock: TestClock) => Promise<State>;

const FREE = limits([window(60, MINUTE), window(1000, DAY)]);

/**
 * Tests the promises of `State` on an implementation. The rules of windows, strikes and bans are those
 * of test/limits, and equal.test.ts compares implementations in any sequence.
 */
export function keepsThePromisesOfState(open: OpenState): void {
  let clock: TestClock;
  let state: State;
  let subjects = 0;

  beforeEach(async () => {
    clock = new TestClock();
    state = await open(clock);
  });
  afterEach(() => state.close());

  const fresh = () => `key:test-${subjects++}`;

  async function admit(subject: string, given: Limits = FREE, cost = 1): Promise<Admission> {
    return await state.admit(subject, given, cost);
  }

  async function times(count: number, subject: string, given: Limits = FREE): Promise<Admission[]> {
    const responses: Admission[] = [];
    for (let i = 0; i < count; i++) responses.push(await admit(subject, given));
    return responses;
  }

  /** Reaches the limit and strikes until banned; returns the admission that began the ban. */
  async function strikeOut(subject: string, given: Limits): Promise<Admission> {
    let response = await admit(subject, given);
    while (response.verdict === 'admitted') response = await admit(subject, given);
    while (response.verdict === 'limited') {
      clock.pass(ESCALATION.grace);
      response = await admit(subject, given);
    }
    return response;
  }

  describe('a settlement', () => {
    const given = limits([
      window(10, MINUTE),
      scoped('login', 30, HOUR),
      window(50, MINUTE, 'sliding'),
    ]);
    const remaining = async (subject: string) =>
      (await state.look(subject, given)).readings.map(remainingIn);

    async function settled(units: number, wait = 0, scopes: Scopes = NO_SCOPES) {
      const subject = fresh();
      const admission = await state.admit(subject, given, 4, scopes);
      clock.pass(wait);
      await state.settle(subject, given, settlementOf(admission, units, scopes));
      return { subject, shown: settledAdmission(admission, { units, scopes, ends: [] }) };
    }

    test('charges the rest to the windows of the request, also beyond a limit', async () => {
      const { subject, shown } = await settled(3);
      expect(await remaining(subject)).toEqual([3, 30, 43]);
      expect(shown.readings.map(remainingIn)).toEqual([3, 30, 43]);
      const inScope = await settled(40, 0, ['login']);
      expect(await remaining(inScope.subject)).toEqual([0, 0, 6]);
      expect(inScope.shown.readings.map(remainingIn)).toEqual([0, 0, 6]);
      expect(await admit(inScope.subject, given)).toMatchObject({
        verdict: 'limited',
        violated: given.windows[0],
      });
      clock.pass(MINUTE);
      expect(await state.admit(inScope.subject, given, 1, ['login'])).toMatchObject({
        verdict: 'limited',
        violated: given.windows[1],
      });
    });

    test('returns units while they count, and never those of other requests', async () => {
      const { subject } = await settled(-3);
      expect(await remaining(subject)).toEqual([9, 30, 49]);
      const later = await settled(-3, MINUTE - 1);
      expect(await remaining(later.subject)).toEqual([9, 30, 49]);
      const late = await settled(-3, 2 * MINUTE);
      await state.admit(late.subject, given, 2);
      expect(await remaining(late.subject)).toEqual([8, 30, 48]);
      const again = await state.admit(fresh(), given, 4);
      clock.pass(2 * MINUTE);
      await state.admit(late.subject, given, 2);
      await state.settle(late.subject, given, settlementOf(again, -4, NO_SCOPES));
      expect(await remaining(late.subject)).toEqual([8, 30, 48]);
    });

    test('is charged after the windows of the admission have ended', async () => {
      const { subject } = await settled(6, 2 * HOUR);
      expect(await remaining(subject)).toEqual([4, 30, 44]);
    });

    test('is not charged to a window that only watches and had no room for the request', async () => {
      const subject = fresh();
      const watched = limits([withExcess('watch', window(3, MINUTE)), window(9, DAY)]);
      const admission = await admit(subject, watched, 4);
      await state.settle(subject, watched, settlementOf(admission, 20, NO_SCOPES));
      const { readings } = await state.look(subject, watched);
      expect(readings.map(({ used }) => used)).toEqual([0, 24]);
    });

    test('leaves windows of other limits as they are', async () => {
      const subject = fresh();
      const admission = await admit(subject, given, 1);
      const other = limits([window(10, MINUTE), window(100, DAY)]);
      await admit(subject, other, 2);
      await state.settle(subject, given, settlementOf(admission, 3, NO_SCOPES));
      const { readings } = await state.look(subject, other);
      expect(readings.map(remainingIn)).toEqual([4, 98]);
    });

    test('is neither a strike nor ends a ban or a wait', async () => {
      const subject = fresh();
      const admission = await admit(subject, FREE, 60);
      await admit(subject, FREE);
      clock.pass(ESCALATION.grace);
      const { strikes } = await admit(subject, FREE);
      await state.settle(subject, FREE, settlementOf(admission, 10, NO_SCOPES));
      await state.settle(subject, FREE, settlementOf(admission, -5, NO_SCOPES));
      expect(await admit(subject, FREE)).toMatchObject({
        verdict: 'limited',
        strikes: strikes + 1,
      });
    });
  });

  describe('windows of a scope', () => {
    const LOGIN = ['login'];
    const SEARCH = ['tag:search'];
    const given = limits([
      window(6, MINUTE),
      scoped('login', 2, MINUTE),
      scoped('tag:search', 3, HOUR),
    ]);
    const remaining = ({ readings }: Admission) => readings.map(remainingIn);

    test('count the requests of their scope alone, beside the own windows', async () => {
      const subject = fresh();
      expect(remaining(await state.admit(subject, given, 1, LOGIN))).toEqual([5, 1, 3]);
      expect(remaining(await state.admit(subject, given, 2, SEARCH))).toEqual([3, 1, 1]);
      expect(remaining(await state.admit(subject, given, 1))).toEqual([2, 1, 1]);
      expect(remaining(await state.admit(subject, given, 1, [...LOGIN, ...SEARCH]))).toEqual([
        1, 0, 0,
      ]);
      expect(remaining(await state.look(subject, given))).toEqual([1, 0, 0]);
    });

    test('are charged in one step with the others: all or none', async () => {
      const subject = fresh();
      await state.admit(subject, given, 2, LOGIN);
      const byScope = await state.admit(subject, given, 1, LOGIN);
      expect(byScope).toMatchObject({
        verdict: 'limited',
        violated: given.windows[1],
        retryAt: clock.now + MINUTE,
      });
      expect(remaining(byScope)).toEqual([4, 0, 3]);
      const byBoth = await state.admit(subject, given, 1, [...SEARCH, ...LOGIN]);
      expect([byBoth.verdict, ...remaining(byBoth)]).toEqual(['limited', 4, 0, 3]);
      await state.admit(subject, given, 4);
      const byOwn = await state.admit(subject, given, 1, SEARCH);
      expect(byOwn).toMatchObject({ verdict: 'limited', violated: given.windows[0] });
      expect(remaining(byOwn)).toEqual([0, 0, 3]);
    });

    test('refuse nothing else, and those other requests do not strike', async () => {
      const subject = fresh();
      await state.admit(subject, given, 2, LOGIN);
      await state.admit(subject, given, 1, LOGIN);
      clock.pass(ESCALATION.grace);
      expect(await state.admit(subject, given, 1)).toMatchObject({
        verdict: 'admitted',
        strikes: 0,
      });
      expect(await state.admit(subject, given, 1, LOGIN)).toMatchObject({
        verdict: 'limited',
        strikes: 1,
      });
    });

    test('ban from everything those who do not stop', async () => {
      const subject = fresh();
      await state.admit(subject, given, 2, LOGIN);
      await state.admit(subject, given, 1, LOGIN);
      clock.pass(ESCALATION.grace);
      for (let i = 0; i < ESCALATION.strikes; i++) await state.admit(subject, given, 1, LOGIN);
      expect((await state.admit(subject, given, 1)).verdict).toBe('banned');
      const limit = { kind: 'fixed', limit: 2, span: MINUTE, scope: 'login' };
      expect((await state.bans()).find((ban) => ban.subject === subject)).toMatchObject({ limit });
      await state.liftBan(subject);
      expect((await state.admit(subject, given, 1)).verdict).toBe('admitted');
      expect((await state.admit(subject, given, 1, LOGIN)).verdict).toBe('admitted');
    });

    test('get units back by their full names, and all with a reset', async () => {
      const subject = fresh();
      await state.admit(subject, given, 2, [...LOGIN, ...SEARCH]);
      await state.grant(subject, given, 1, 'login:60s');
      expect(remaining(await state.look(subject, given))).toEqual([4, 1, 1]);
      await state.grant(subject, given, 1, '60s');
      expect(remaining(await state.look(subject, given))).toEqual([5, 1, 1]);
      await state.grant(subject, given, 1, null);
      expect(remaining(await state.look(subject, given))).toEqual([6, 2, 2]);
      await state.admit(subject, given, 2, LOGIN);
      await state.reset(subject);
      expect(remaining(await state.look(subject, given))).toEqual([6, 2, 3]);
    });
  });

  test('shows the units that were charged and not given back, and admits what remains', async () => {
    const action = fc.oneof(
      fc.record({ what: fc.constant('admit' as const), units: fc.nat({ max: 4 }) }),
      fc.record({ what: fc.constant('settle' as const), units: fc.integer({ min: -4, max: 30 }) }),
      fc.record({ what: fc.constant('grant' as const), units: fc.integer({ min: 1, max: 20 }) }),
      fc.record({ what: fc.constant('change' as const), units: fc.integer({ min: 1, max: 12 }) }),
    );
    let debts = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 25 }), async (actions) => {
        const subject = fresh();
        const ofLimit = (limit: number) =>
          limits(
            [
              window(limit, HOUR),
              window(limit + 1, DAY, 'sliding'),
              withExcess('overage', window(limit, DAY)),
              calendar(limit + 2, 7 * DAY, 'UTC'),
            ],
            null,
          );
        let given = ofLimit(10);
        let used = 0;
        let last: Admission | null = null;
        for (const { what, units } of actions) {
          if (what === 'admit') {
            const admission = await admit(subject, given, units);
            const isAdmitted = used + units <= given.windows[0]!.limit;
            expect(admission.verdict).toBe(isAdmitted ? 'admitted' : 'limited');
            if (isAdmitted) used += units;
            last = isAdmitted ? admission : null;
          } else if (what === 'settle' && last !== null) {
            const settlement = settlementOf(last, units, NO_SCOPES);
            await state.settle(subject, given, settlement);
            used = Math.max(0, used + units);
            last = null;
          } else if (what === 'grant') {
            await state.grant(subject, given, units, null);
            used = Math.max(0, used - units);
          } else if (what === 'change') {
            given = ofLimit(units);
            last = null;
          }
          const { readings } = await state.look(subject, given);
          expect(readings.map((reading) => reading.used)).toEqual(given.windows.map(() => used));
          expect(readings.map(remainingIn)).toEqual(
            given.windows.map(({ limit }) => Math.max(0, limit - used)),
          );
          if (used > given.windows[0]!.limit) debts++;
        }
      }),
      {
        numRuns: 100,
        examples: [
          [
            [
              { what: 'admit', units: 4 },
              { what: 'change', units: 1 },
            ],
          ],
        ],
      },
    );
    expect(debts).toBeGreaterThan(0);
  });

  test('calendar windows keep their units when the zone changes, until the end of the new period', async () => {
    const subject = fresh();
    const inZone = (zone: string) => limits([calendar(3, DAY, zone)]);
    clock.now = Date.parse('2026-03-28T22:59:30Z');
    await times(2, subject, inZone('Europe/Berlin'));
    const tokyo = inZone('Asia/Tokyo');
    const end = Date.parse('2026-03-29T15:00Z');
    const { readings } = await admit(subject, tokyo);
    expect(readings).toMatchObject([{ used: 3, resetAt: end }]);
    expect(await admit(subject, tokyo)).toMatchObject({ verdict: 'limited', retryAt: end });
    clock.now = end;
    expect(await admit(subject, tokyo)).toMatchObject({ verdict: 'admitted' });
  });

  test('a window that only watches makes no strike and no ban', async () => {
    const given = limits([withExcess('watch', window(2, MINUTE)), window(9, DAY)]);
    const subject = fresh();
    for (let i = 0; i < 9; i++) {
      clock.pass(2 * ESCALATION.grace);
      await admit(subject, given);
    }
    const [, violated] = given.windows;
    expect(await admit(subject, given)).toMatchObject({ verdict: 'limited', violated, strikes: 0 });
    expect((await state.look(subject, given)).readings[0]).not.toHaveProperty('unfit');
  });

  describe('strikes and bans', () => {
    const tight = limits([window(1, HOUR)]);

    test('lifting a ban ends it, and clears the level and the windows', async () => {
      const subject = fresh();
      await strikeOut(subject, tight);
      await state.liftBan(subject);
      expect(await state.look(subject, tight)).toMatchObject({
        verdict: 'admitted',
        strikes: 0,
        bannedUntil: 0,
      });
      expect((await admit(subject, tight)).verdict).toBe('admitted');
      const again = await strikeOut(subject, tight);
      expect(again.bannedUntil - again.now).toBe(MINUTE);
    });

    test('a reset clears the windows, but lifts no ban', async () => {
      const subject = fresh();
      await admit(subject, tight);
      expect((await admit(subject, tight)).verdict).toBe('limited');
      await state.reset(subject);
      expect((await admit(subject, tight)).verdict).toBe('admitted');
      await strikeOut(subject, tight);
      await state.reset(subject);
      expect((await admit(subject, tight)).verdict).toBe('banned');
    });
  });

  describe('a clock that was an hour fast, and is corrected', () => {
    const BACK = -HOUR;
    const hour = limits([window(2, HOUR)]);
    const FAR = limits([window(1, 30 * DAY)]);

    test('lengthens no ban, of an operator or not', async () => {
      const [manual, automatic] = [fresh(), fresh()];
      await state.ban(manual, FREE, 10 * MINUTE);
      await strikeOut(automatic, FAR);
      clock.pass(BACK);
      expect(await admit(manual)).toMatchObject({
        verdict: 'banned',
        bannedUntil: clock.now + 10 * MINUTE,
      });
      const until = clock.now + MINUTE;
      expect(await admit(automatic, FAR)).toMatchObject({ verdict: 'banned', bannedUntil: until });
      const bans = (await state.bans()).filter(({ subject }) => subject === automatic);
      expect(bans).toMatchObject([{ since: clock.now, until, level: 1 }]);
      clock.now = until;
      expect((await admit(automatic, FAR)).verdict).toBe('limited');
    });

    test('holds for a subject that has sent no request since', async () => {
      const subject = fresh();
      await state.ban(subject, FREE, 10 * MINUTE);
      clock.pass(BACK);
      const bans = (await state.bans()).filter((ban) => ban.subject === subject);
      expect(bans).toMatchObject([{ since: clock.now, until: clock.now + 10 * MINUTE }]);
    });

    test('delays no decay of the ban level beyond its span', async () => {
      const subject = fresh();
      await strikeOut(subject, FAR);
      clock.pass(2 * MINUTE + BACK);
      expect(await state.banLevel(subject, FAR)).toBe(1);
      clock.pass(MINUTE + DAY);
      expect(await state.banLevel(subject, FAR)).toBe(0);
    });

    test('begins a new wait: a client that waited as the fast clock said earns no strike', async () => {
      const subject = fresh();
      await times(3, subject, hour);
      clock.pass(BACK + ESCALATION.grace);
      expect(await admit(subject, hour)).toMatchObject({ verdict: 'limited', strikes: 0 });
      clock.pass(ESCALATION.grace);
      expect(await admit(subject, hour)).toMatchObject({ verdict: 'limited', strikes: 1 });
    });

    test('lets no strike count longer than the escalation window', async () => {
      const subject = fresh();
      await times(2, subject, FAR);
      clock.pass(ESCALATION.grace);
      expect((await times(5, subject, FAR)).at(-1)!.strikes).toBe(5);
      clock.pass(BACK);
      expect((await state.look(subject, FAR)).strikes).toBe(5);
      await admit(subject, FAR);
      clock.pass(ESCALATION.window);
      expect((await admit(subject, FAR)).strikes).toBe(1);
    });
  });

  test('refusals end a wait at the earliest retry time: a cheaper request returns before a costly one', async () => {
    const subject = fresh();
    const given = limits([window(4, MINUTE), window(5, DAY)], { ...ESCALATION, ...exactly(2) });
    await times(4, subject, given);
    expect((await admit(subject, given, 2)).violated).toEqual(given.windows[1]);
    for (let minute = 0; minute < 5; minute++) {
      clock.pass(ESCALATION.grace);
      await state.reset(subject);
      await times(4, subject, given);
      await admit(subject, given, 2);
      clock.pass(ESCALATION.grace);
      expect(await admit(subject, given, 1)).toMatchObject({ verdict: 'limited', strikes: 0 });
      clock.pass(MINUTE);
    }
  });

  describe('what operators do', () => {
    test('a grant gives units back, never more than were used, in one window or in all', async () => {
      const subject = fresh();
      const given = limits([window(5, MINUTE), window(8, HOUR)]);
      await times(5, subject, given);
      await admit(subject, given);
      await state.grant(subject, given, 2, '60s');
      expect((await state.look(subject, given)).readings.map(remainingIn)).toEqual([2, 3]);
      expect((await times(3, subject, given)).map(({ verdict }) => verdict)).toEqual([
        'admitted',
        'admitted',
        'limited',
      ]);
      await state.grant(subject, given, 100, null);
      expect((await state.look(subject, given)).readings.map(remainingIn)).toEqual([5, 8]);
    });

    test('a grant gives back the newest units of a sliding window', async () => {
      const subject = fresh();
      const given = limits([window(4, MINUTE, 'sliding')]);
      await times(2, subject, given);
      clock.pass(30 * SECOND);
      await times(2, subject, given);
      await state.grant(subject, given, 3, null);
      expect(remainingIn((await state.look(subject, given)).readings[0]!)).toBe(3);
      clock.pass(35 * SECOND);
      expect(remainingIn((await state.look(subject, given)).readings[0]!)).toBe(4);
    });

    test('a grant to who used nothing leaves nothing behind', async () => {
      const subject = fresh();
      await state.grant(subject, FREE, 5, null);
      expect(remainingIn((await admit(subject)).readings[0]!)).toBe(59);
    });

    test('the list of bans has all banned subjects, with the end of each ban, and no others', async () => {
      const [banned, other, lifted] = [fresh(), fresh(), fresh()];
      for (const subject of [banned, other, lifted]) await admit(subject);
      await state.ban(banned, FREE, HOUR);
      await state.ban(lifted, FREE, HOUR);
      await state.liftBan(lifted);
      const ends = clock.now + HOUR;
      const bans = async () =>
        (await state.bans()).filter(({ subject }) => [banned, other, lifted].includes(subject));
      expect(await bans()).toEqual([
        { subject: banned, until: ends, since: clock.now, limit: null, level: 1 },
      ]);
      clock.pass(HOUR);
      expect(await bans()).toEqual([]);
    });

    test('an automatic ban has its limit and begin until an operator extends it, and keeps its level', async () => {
      const subject = fresh();
      const given = limits([window(2, MINUTE, 'sliding'), window(3, 100 * DAY)]);
      const bans = async () => (await state.bans()).filter((ban) => ban.subject === subject);
      const begins = async () => {
        const ban = await strikeOut(subject, given);
        // A shared state notes a ban a moment after the answer.
        await until('the ban is listed', async () => (await bans()).length === 1);
        return ban.bannedUntil;
      };
      const sliding = { kind: 'sliding', limit: 2, span: MINUTE };
      let ends = await begins();
      expect(await bans()).toEqual([
        { subject, until: ends, since: clock.now, limit: sliding, level: 1 },
      ]);
      clock.now = ends + MINUTE;
      ends = await begins();
      const daily = { kind: 'fixed', limit: 3, span: 100 * DAY };
      expect(await bans()).toEqual([
        { subject, until: ends, since: clock.now, limit: daily, level: 2 },
      ]);
      clock.pass(SECOND);
      await state.ban(subject, given, HOUR);
      expect(await bans()).toEqual([
        { subject, until: clock.now + HOUR, since: clock.now, limit: null, level: 2 },
      ]);
      clock.pass(HOUR);
      await state.ban(subject, given, HOUR);
      expect(await bans()).toMatchObject([{ level: 3 }]);
    });
  });
}
