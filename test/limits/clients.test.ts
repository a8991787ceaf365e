import { describe, expect, test } from '@jest/globals';
import type { Admission } from '../../src/limits/admission.ts';
import type { Limits } from '../../src/limits/limits.ts';
import { limitsOf } from '../../src/records/keys/subjects.ts';
import { createEmbeddedState } from '../../src/state/embedded/counters.ts';
import { MINUTE, SECOND, TestClock } from '../support/limits.ts';
import { loadPlans } from '../support/load-plans.ts';

const shipped = loadPlans('plans.yaml');
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
  /** Milliseconds from the first refusal to the ban; `null`: never banned. */
  readonly bannedAfter: number | null;
}

/** Lets the workers of one key send for `minutes`, or until the key is banned. */
function run(plan: string, { workers, pause, waits }: Clients, minutes: number): Outcome {
  const clock = new TestClock();
  const state = createEmbeddedState({ clock: clock.read });
  const limits = limitsOfPlan(plan);
  const end = clock.now + minutes * MINUTE;
  // The workers do not send at the same moment.
  const next = Array.from(
    { length: workers },
    (_, i) => clock.now + Math.floor((i * pause) / workers),
  );
  let firstRefusal: number | null = null;
  let refused = 0;
  for (;;) {
    const worker = next.indexOf(Math.min(...next));
    clock.now = next[worker]!;
    if (clock.now > end) return { refused, bannedAfter: null };
    const admission = state.admit('key:shared', limits, 1);
    if (admission.verdict === 'banned') return { refused, bannedAfter: clock.now - firstRefusal! };
    if (admission.verdict === 'limited') {
      refused += 1;
      firstRefusal ??= clock.now;
    }
    next[worker] = clock.now + LATENCY + (waits ? waitOf(admission, pause) : pause);
  }
}

/** As a client reads it: whole seconds. */
function waitOf({ verdict, retryAt, now }: Admission, pause: number): number {
  return verdict === 'admitted' ? pause : Math.ceil((retryAt - now) / SECOND) * SECOND;
}

describe.each(['free', 'pro', 'business'])('a key of the plan %s', (plan) => {
  const pools = [1, 12, 16, 40, 200].flatMap((workers) =>
    [50, 2 * SECOND, 20 * SECOND].map((pause) => [workers, pause] as const),
  );

  test.each(pools)(
    'whose %i workers wait, with pauses of %i ms, is never banned',
    (workers, pause) => {
      expect(run(plan, { workers, pause, waits: true }, 10).bannedAfter).toBeNull();
    },
  );
});

describe('a key whose clients do not wait is banned within a minute of its first refusal:', () => {
  const most = shipped.escalation!.workers + shipped.escalation!.strikes;

  test.each([
    ['free', 'one client, 5 per second', 1, 200],
    ['free', 'twenty clients, one per second each', 20, SECOND],
    ['free', 'one client without a pause', 1, 0],
    ['pro', 'one client, 15 per second', 1, 66],
    ['business', 'forty clients, one per second each', 40, SECOND],
    ['business', 'one client, 50 per second', 1, 20],
  ])('%s, %s', (plan, _clients, workers, pause) => {
    const { refused, bannedAfter } = run(plan, { workers, pause, waits: false }, 3);
    expect(bannedAfter).toBeLessThan(MINUTE);
    expect(refused).toBeLessThanOrEqual(most + shipped.escalation!.grace);
  });
});
