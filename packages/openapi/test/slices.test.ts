import { expect, test } from '@jest/globals';
import { inPauses, Slices } from '../src/slices.ts';

/** Each step is a slice of its own. */
function* slow(count: number, done: (step: number) => void): Generator<void, void, void> {
  for (let step = 0; step < count; step++) {
    for (const end = performance.now() + 5; performance.now() < end; );
    done(step);
    yield;
  }
}

test('however many jobs there are, the event loop turns after each slice', async () => {
  const slices = new Slices();
  const steps: string[] = [];
  const job = (name: string) => slices.run(slow(3, (step) => steps.push(`${name}${step}`)));
  let turning = true;
  const turn = () => {
    steps.push('turn');
    if (turning) setImmediate(turn);
  };
  setImmediate(turn);
  await Promise.all([job('a'), job('b')]);
  turning = false;
  expect(steps.filter((one) => one !== 'turn')).toEqual(['a0', 'a1', 'a2', 'b0', 'b1', 'b2']);
  expect(
    steps.some((one, i) => one !== 'turn' && steps[i + 1] !== undefined && steps[i + 1] !== 'turn'),
  ).toBe(false);
});

test('a job that throws ends alone; the next one continues', async () => {
  const slices = new Slices();
  const broken = slices.run(
    slow(1, () => {
      throw new Error('no');
    }),
  );
  const good = slices.run(slow(1, () => {}));
  await expect(broken).rejects.toThrow('no');
  await good;
  await slices.run(slow(1, () => {}));
});

test('work in the pauses ends when it is stopped', async () => {
  const stop = new AbortController();
  let steps = 0;
  await inPauses(
    slow(1_000, (step) => {
      steps++;
      if (step === 3) stop.abort();
    }),
    stop.signal,
  );
  expect(steps).toBe(4);
});
