import { expect, test } from '@jest/globals';
import { toAll } from '../../src/observe/events.ts';
import { sharedClock } from '../../src/observe/shared-clock.ts';

function ticking() {
  let reads = 0;
  return () => ++reads;
}

test('all listeners of one event read the same time, and those of the next a later one', () => {
  const { clock, of } = sharedClock(ticking());
  const read: number[] = [];
  const listener = () => void read.push(clock());
  const observe = of(toAll(listener, listener, listener));
  observe({ type: 'state.write_recovered' });
  observe({ type: 'state.write_recovered' });
  expect(read).toEqual([1, 1, 1, 2, 2, 2]);
});

test('between events the clock runs, and an event whose time is not read does not read it', () => {
  const { clock, of } = sharedClock(ticking());
  of(() => {})({ type: 'state.write_recovered' });
  expect([clock(), clock()]).toEqual([1, 2]);
});

test('a nested event has its own time, and the clock continues after both', () => {
  const { clock, of } = sharedClock(ticking());
  const read: number[] = [];
  const observe = of(
    toAll(({ type }) => {
      read.push(clock());
      if (type === 'state.write_recovered') observe({ type: 'state.recovered', duration: 1 });
    }),
  );
  observe({ type: 'state.write_recovered' });
  expect([...read, clock()]).toEqual([1, 2, 3]);
});
