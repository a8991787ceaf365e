import { expect, test } from '@jest/globals';
import { isDeep } from '../runner/fast-check.ts';
import { planOfSeed } from './plan.ts';
import { play, storyOf } from './play.ts';
import { shrink } from './shrink.ts';

/** Virtual days of a run. */
const DAYS = 3;
/** Seconds of CPU for random runs. */
const BUDGET = isDeep ? 1_250 : 5;
/** Milliseconds: only a guard, as a busy machine gives a run little of its time. */
const PATIENCE = 20 * 60_000 * (isDeep ? 50 : 1);

const seedGiven = process.env.STOREGATE_TEST_SEED;
const cpuSeconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

test(
  'gateways keep every promise in any order of what happens',
  async () => {
    const end = cpuSeconds() + BUDGET;
    let story: string | null = null;
    let seed = Number(seedGiven ?? Math.floor(Math.random() * 2 ** 31));
    for (; story === null && cpuSeconds() < end; seed++) {
      const plan = planOfSeed(seed, DAYS);
      const { failure } = await play(plan);
      if (failure === null) continue;
      const smallest = await shrink(plan, failure);
      story = storyOf(smallest.plan, smallest.failure);
    }
    expect(story).toBeNull();
  },
  PATIENCE,
);
