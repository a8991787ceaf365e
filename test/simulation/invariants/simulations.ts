import { MINUTE } from '../../../src/common/time.ts';
import type { Plans } from '../../../src/limits/plans.ts';
import { OPERATIONS } from '../gateway/operations.ts';
import type { MakeInvariant } from './invariant.ts';

const PLAN = 'small';
/** Milliseconds by which windows may be longer than their span in true time. */
const TOLERANCE = 100;

interface Charge {
  readonly at: number;
  readonly units: number;
}

/** A simulated plan never shows more use of a window than a key had. */
export const simulations: MakeInvariant = ({ simulation, disturbances }) => {
  const charges = new Map<string, Charge[]>();

  /** The most units that were admitted in a span of a minute. */
  function peakOf(key: string): number {
    const all = charges.get(key) ?? [];
    const sums = all.map(({ at }) =>
      all
        .filter((one) => one.at >= at && one.at < at + MINUTE + TOLERANCE)
        .reduce((sum, { units }) => sum + units, 0),
    );
    return Math.max(0, ...sums);
  }

  return {
    name: 'a simulated plan shows the use of each window',
    observe(fact) {
      if (fact.type !== 'answer' || fact.answer.key?.plan !== PLAN || fact.answer.status !== 200)
        return null;
      const { key, decidedAt, operation } = fact.answer;
      const existing = charges.get(key.id) ?? [];
      charges.set(key.id, existing);
      existing.push({ at: decidedAt, units: OPERATIONS[operation].cost });
      return null;
    },
    async check() {
      const { world, gateways, plans } = simulation;
      // A window may hold requests whose answers were lost, and units of a clock that jumped.
      if (disturbances.between(0, world.now, ['clock', 'pause', 'loss']).length > 0) return null;
      const shown = await world.settle(
        gateways[0]!.within(({ lastDay }) => lastDay(PLAN, withLimitOfOne(plans))),
      );
      for (const { key, windows } of shown?.subjects ?? []) {
        const peak = windows.find(({ window }) => window === 'minute')?.peak ?? 0;
        if (key !== null && peak > peakOf(key))
          return `a peak of ${peakOf(key)} for ${key}, not ${peak}`;
      }
      return null;
    },
  };
};

function withLimitOfOne(plans: Plans): Plans {
  const plan = plans.plans.get(PLAN)!;
  const windows = plan.windows!.map((window) => ({ ...window, limit: 1 }));
  return { ...plans, plans: new Map([...plans.plans, [PLAN, { ...plan, windows }]]) };
}
