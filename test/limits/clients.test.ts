import { describe, expect, test } from '@jest/globals';
import { deafClients, stepOf } from '../../scripts/docs/deaf-clients.ts';
import type { Admission } from '../../src/limits/admission.ts';
import { freeIn } from '../../src/limits/ban-escalation.ts';
import type { Limits } from '../../src/limits/limits.ts';
import { escalationIn } from '../../src/limits/plans.ts';
import { limitsOf } from '../../src/records/keys/subjects.ts';
import { createEmbeddedState } from '../../src/state/embedded/counters.ts';
import { limits, MINUTE, SECOND, TestClock, window } from '../support/limits.ts';
import { loadPlans } from '../support/load-plans.ts';

const shipped = loadPlans('plans.yaml');
const escalation = shipped.escalation!;
const limitsOfPlan = (name: string): Limits => limitsOf(shipped.plans.get(name)!.windows!, shipped);

/** Milliseconds until the response arrives. */
const LATENCY = 3;

interface Clients {
  readonly workers: number;
  /** Milliseconds between a response and the next request of a worker that need not wait. */
  readonly pause: number;
  readonly waits: boolean;
}

interface Outcome {
  readonly refused: number;
  /** Milliseconds from the first request, and from the first refusal; `null`: never banned. */
  readonly banned: { readonly after: number; readonly afterRefusal: number } | null;
}

/** Lets the workers of one key send for `duration`, or until the key is banned. */
function run(limits: Limits, { workers, pause, waits }: Clients, duration: number): Outcome {
  const clock = new TestClock();
  const state = createEmbeddedState({ clock: clock.read });
  const begin = clock.now;
  // The workers do not send at the same moment.
  const next = Array.from({ length: workers }, (_, i) => begin + Math.floor((i * pause) / workers));
  let firstRefusal: number | null = null;
  let refused = 0;
  for (;;) {
    const worker = next.indexOf(Math.min(...next));
    const now = next[worker]!;
    clock.now = Math.floor(now);
    if (now > begin + duration) return { refused, banned: null };
    const admission = state.admit('key:shared', limits, 1);
    if (admission.verdict === 'banned')
      return { refused, banned: { after: now - begin, afterRefusal: now - firstRefusal! } };
    if (admission.verdict === 'limited') {
      refused += 1;
      firstRefusal ??= now;
    }
    next[worker] = now + (waits ? LATENCY + waitOf(admission, pause) : pause);
  }
}

/** As a client reads it: whole seconds. */
function waitOf({ verdict, retryAt, now }: Admission, pause: number): number {
  return verdict === 'admitted' ? pause : Math.ceil((retryAt - now) / SECOND) * SECOND;
}

describe.each([
  ['free', limitsOfPlan('free'), 60],
  ['pro', limitsOfPlan('pro'), 200],
  ['business', limitsOfPlan('business'), 200],
  ['with 5 units per hour', limits([window(5, 60 * MINUTE)], escalation), 20],
] as const)('a key of the plan %s', (_name, given, most) => {
  const pools = [1, 12, 16, 20, 40, 60, 200]
    .filter((workers) => workers <= most)
    .flatMap((workers) => [50, 2 * SECOND, 20 * SECOND].map((pause) => [workers, pause] as const));

  test.each(pools)(
    'whose %i workers wait, with pauses of %i ms, is never banned',
    (workers, pause) => {
      expect(run(given, { workers, pause, waits: true }, 10 * MINUTE).banned).toBeNull();
    },
  );
});

describe('a key whose clients do not wait is banned within a minute of its first refusal:', () => {
  test.each([
    ['free', 'one client, 4 per second', 1, 250],
    ['free', 'one client, 5 per second', 1, 200],
    ['free', 'twenty clients, one per second each', 20, SECOND],
    ['free', 'one client without a pause', 1, 1],
    ['pro', 'one client, 15 per second', 1, 66],
    ['business', 'forty clients, one per second each', 40, SECOND],
    ['business', 'one client, 50 per second', 1, 20],
  ])('%s, %s', (plan, _clients, workers, pause) => {
    const given = limitsOfPlan(plan);
    const { refused, banned } = run(given, { workers, pause, waits: false }, 3 * MINUTE);
    expect(banned!.afterRefusal).toBeLessThan(MINUTE);
    const most = freeIn(escalation, given.windows[0]!.limit) + escalation.strikes;
    expect(refused).toBeLessThanOrEqual(most + escalation.grace);
  });
});

describe.each(deafClients(shipped).map((row) => [`${row.plan}, ${row.window.name}`, row] as const))(
  'a client that never waits, under one window: %s',
  (_name, row) => {
    const { window, pace, bannedWithin, fasterWithin } = row;
    const own = limits([window], escalationIn(shipped.plans.get(row.plan), shipped));
    const deaf = (pace: number) => ({ workers: 1, pause: SECOND / pace, waits: false });

    test('is banned in the documented time from the documented pace on', () => {
      const within = (times: number) => run(own, deaf(times * pace), 4 * window.span).banned!.after;
      for (const times of [1, 1.05, 1.5]) expect(within(times)).toBeLessThanOrEqual(bannedWithin);
      for (const times of [2, 3, 10]) expect(within(times)).toBeLessThanOrEqual(fasterWithin);
    });

    test('is not banned if it is slower', () => {
      expect(run(own, deaf(pace - stepOf(pace)), 1.5 * window.span).banned).toBeNull();
    });
  },
);
