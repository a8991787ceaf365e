import fc from 'fast-check';
import { KIND_NAMES } from '../../src/limits/kinds.ts';
import type { Limits } from '../../src/limits/limits.ts';
import { fullNameOf, NO_SCOPES, type Scopes } from '../../src/limits/scopes.ts';
import { settlementOf } from '../../src/limits/settlement.ts';
import type { State } from '../../src/state/state.ts';
import {
  calendar,
  DAY,
  HOUR,
  limits,
  MINUTE,
  SECOND,
  scoped,
  window,
  withExcess,
} from '../support/limits.ts';

/**
 * Small limits and a short escalation, so that random sequences reach every corner of the rules.
 */
export const ESCALATION = {
  strikes: 3,
  window: 10 * SECOND,
  workers: 4,
  minWorkers: 2,
  grace: 100,
  durations: [20 * SECOND, MINUTE, HOUR],
  decay: HOUR,
};
const EXCESSES = ['watch', 'overage'] as const;
const SCOPES: readonly Scopes[] = [
  NO_SCOPES,
  ['login'],
  ['tag:search'],
  ['login', 'tag:search'],
  ['@notes', 'login'],
  ['none'],
];
export const PLANS: readonly Limits[] = [
  limits([window(3, MINUTE)], ESCALATION),
  limits([window(5, MINUTE), window(12, HOUR)], ESCALATION),
  limits([window(2, MINUTE), window(12, HOUR)], ESCALATION),
  limits([window(4, MINUTE, 'sliding'), window(9, HOUR)], ESCALATION),
  limits(
    [window(6, 10 * SECOND, 'sliding'), window(20, MINUTE, 'sliding'), window(30, DAY)],
    ESCALATION,
  ),
  limits([window(3, 7_001, 'sliding')], null),
  limits(
    [window(8, MINUTE), scoped('login', 3, MINUTE), scoped('tag:search', 5, HOUR)],
    ESCALATION,
  ),
  limits([scoped('login', 2, SECOND), window(12, MINUTE), scoped('login', 4, MINUTE)], ESCALATION),
  limits(
    [scoped('@notes', 2, MINUTE, 'sliding'), scoped('login', 2, MINUTE), window(9, HOUR)],
    ESCALATION,
  ),
  // The scripts know every kind of window; a kind that they took for another would count
  // differently.
  ...KIND_NAMES.map((kind) => limits([window(4, HOUR, kind)], ESCALATION)),
  limits([window(3, MINUTE), calendar(9, DAY, 'Europe/Berlin')], ESCALATION),
  limits([calendar(9, DAY, 'America/New_York'), calendar(40, 31 * DAY, 'UTC', 15)], ESCALATION),
  limits([{ ...calendar(2, HOUR, 'Asia/Kolkata'), scope: 'login' }, window(12, HOUR)], ESCALATION),
  ...EXCESSES.flatMap((excess) => [
    limits([withExcess(excess, window(3, MINUTE)), window(12, HOUR)], ESCALATION),
    limits([window(5, MINUTE), withExcess(excess, window(6, HOUR, 'sliding'))], ESCALATION),
    limits([withExcess(excess, scoped('login', 2, MINUTE)), window(3, MINUTE)], ESCALATION),
    limits([withExcess(excess, calendar(4, DAY, 'Europe/Berlin'))], ESCALATION),
  ]),
  // Close to the largest exact double; ioredis rounds the last hundred integers below it.
  limits([window(2 ** 53 - 100, DAY)], null),
];

/** `toString`: for the report of a failing sequence. */
interface Action {
  readonly take: (state: State, subject: string) => unknown;
  readonly toString: () => string;
}
/** What happens to a subject, so many milliseconds after the step before. */
export interface Step {
  readonly pass: number;
  readonly action: Action;
}

const named = (name: string, take: Action['take']): Action => ({ take, toString: () => name });
const weighted = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });

const forward = fc.oneof(
  weighted(6, fc.integer({ min: 0, max: 150 })),
  weighted(3, fc.integer({ min: 0, max: 20_000 })),
  weighted(2, fc.constantFrom(MINUTE, HOUR, 20 * SECOND, 10 * SECOND, DAY)),
);
/** The clock is corrected: by a little, and by more than any span. */
const backward = fc.oneof(
  fc.integer({ min: -50, max: 0 }),
  fc.constantFrom(-SECOND, -20 * SECOND, -HOUR, -3 * DAY),
);
const plan = fc.nat({ max: PLANS.length - 1 });
const cost = fc.oneof(weighted(8, fc.constant(1)), fc.constantFrom(0, 2, 5, 40));
const scopes = fc.constantFrom(...SCOPES);
/** Any request, under a plan by its number. */
export const request = fc.record({ plan, cost, scopes });

const ofPlan = (name: string, take: (state: State, s: string, p: Limits) => unknown) =>
  plan.map((p) => named(`${name} under ${p}`, (state, s) => take(state, s, PLANS[p]!)));
const settlement = fc.record({
  plan,
  scopes,
  units: fc.constantFrom(-40, -2, -1, 1, 2, 40),
  ago: fc.constantFrom(0, HOUR, DAY),
});
const length = fc.constantFrom(SECOND, MINUTE, HOUR);

const action = fc.oneof(
  weighted(
    30,
    request.map(({ plan, cost, scopes }) =>
      named(`admit ${cost} under ${plan} in ${scopes}`, (state, s) =>
        state.admit(s, PLANS[plan]!, cost, scopes),
      ),
    ),
  ),
  weighted(
    3,
    ofPlan('look', (state, s, p) => state.look(s, p)),
  ),
  weighted(
    2,
    ofPlan('level', (state, s, p) => state.banLevel(s, p)),
  ),
  weighted(
    1,
    ofPlan('grant', (state, s, p) => state.grant(s, p, 2, null)),
  ),
  weighted(
    1,
    ofPlan('grant of one', (state, s, p) => state.grant(s, p, 4, fullNameOf(p.windows[0]!))),
  ),
  weighted(
    6,
    settlement.map(({ plan, scopes, units, ago }) =>
      named(`settle ${units} under ${plan} in ${scopes}`, async (state, s) => {
        const given = PLANS[plan]!;
        const admission = await state.admit(s, given, 1, scopes);
        const ends = settlementOf(admission, units, scopes).ends.map((end) => end - ago);
        if (admission.verdict === 'admitted') await state.settle(s, given, { units, scopes, ends });
        return state.look(s, given);
      }),
    ),
  ),
  weighted(
    4,
    ofPlan('strike', (state, s, p) => state.strike(s, p)),
  ),
  weighted(1, fc.constant(named('lift', (state, s) => state.liftBan(s)))),
  weighted(1, fc.constant(named('reset', (state, s) => state.reset(s)))),
  weighted(
    1,
    fc
      .tuple(plan, length)
      .map(([p, ban]) => named(`ban for ${ban}`, (state, s) => state.ban(s, PLANS[p]!, ban))),
  ),
);

/** Requests under one plan make strikes and bans likely. */
export function burstOf(plan: number, count: number, scopes: Scopes, cost = 1): Step[] {
  const action = named(`burst ${cost} under ${plan} in ${scopes}`, (state, s) =>
    state.admit(s, PLANS[plan]!, cost, scopes),
  );
  return Array.from({ length: count }, () => ({ pass: 110, action }));
}

/** Single steps that mix the plans, and bursts. `setBack`: the clock is set back too. */
export function sequences({ setBack = false } = {}): fc.Arbitrary<Step[]> {
  const pass = setBack ? fc.oneof(weighted(11, forward), weighted(2, backward)) : forward;
  const single = fc.record({ pass, action }).map((one) => [one]);
  const burst = fc
    .tuple(request, fc.integer({ min: 2, max: 12 }))
    .map(([{ plan, cost, scopes }, count]) => burstOf(plan, count, scopes, cost));
  return fc
    .array(fc.oneof(weighted(3, single), weighted(1, burst)), { minLength: 1, maxLength: 40 })
    .map((parts) => parts.flat());
}
