import { expect, test } from '@jest/globals';
import { readinessOf } from '../../src/run/process-health.ts';

function readiness({ knowsKeys = true, aloneSince = null as number | null, isReady = true } = {}) {
  const ofState = { aloneSince, stateTime: null };
  return readinessOf({ ready: () => isReady }, { ofState }, { down: [], knowsKeys });
}

test('a process is not ready before it has loaded the data about keys that requests need', () => {
  expect(readiness({ knowsKeys: false })).toEqual({ readiness: 'state_away', down: ['state'] });
  expect(readiness()).toEqual({ readiness: 'ready', down: [] });
});

test('a process that starts in an outage is ready if the settings say so', () => {
  expect(readiness({ knowsKeys: false, aloneSince: 1 })).toEqual({
    readiness: 'ready',
    down: ['state'],
  });
  expect(readiness({ aloneSince: 1, isReady: false })).toEqual({
    readiness: 'state_away',
    down: ['state'],
  });
});
