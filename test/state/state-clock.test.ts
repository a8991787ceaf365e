import { expect, test } from '@jest/globals';
import { createStateClock } from '../../src/state/shared/clock.ts';
import { HOUR, SECOND } from '../support/limits.ts';

function open() {
  let local = 0;
  const clock = createStateClock(() => local);
  const pass = (milliseconds: number) => {
    local += milliseconds;
  };
  return { clock, pass };
}

test('a slow response does not set the clock back, until the estimate is outdated', () => {
  const { clock, pass } = open();
  clock.learn(5_000);
  pass(SECOND);
  clock.learn(5_900);
  expect(clock.read()).toBe(6_000);
  pass(10 * SECOND);
  clock.learn(15_900);
  expect(clock.read()).toBe(15_900);
});

test('a remote whose clock was set back is followed at once', () => {
  const { clock, pass } = open();
  clock.learn(2 * HOUR);
  pass(SECOND);
  clock.learn(HOUR);
  expect(clock.read()).toBe(HOUR);
});
