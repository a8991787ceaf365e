import { expect, test } from '@jest/globals';
import { checkNext, NEXT_STATES, type State } from '../src/client-states.ts';

const STATES = Object.keys(NEXT_STATES) as State[];

test.each<State[]>([
  ['idle', 'waiting', 'head', 'whole', 'complete', 'idle'],
  ['idle', 'waiting', 'head', 'streaming', 'complete', 'idle'],
  ['idle', 'waiting', 'head', 'tunnel', 'closed'],
])('a connection may go from %s to %s to %s to %s to %s', (...states) => {
  for (const [i, next] of states.slice(1).entries()) checkNext(states[i]!, next);
});

test('each state can be reached, and each but the last may close', () => {
  const reached = new Set<State>(['idle']);
  for (const state of reached) for (const next of NEXT_STATES[state]) reached.add(next);
  expect([...reached].sort()).toEqual([...STATES].sort());
  for (const state of STATES.filter((one) => one !== 'closed')) checkNext(state, 'closed');
});

test('each change that the table does not have is an error', () => {
  for (const state of STATES) {
    const allowed: readonly State[] = NEXT_STATES[state];
    for (const next of STATES.filter((one) => !allowed.includes(one)))
      expect(() => checkNext(state, next)).toThrow(`"${next}" cannot follow "${state}"`);
  }
});
