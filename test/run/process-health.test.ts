import { expect, test } from '@jest/globals';
import { readinessOf } from '../../src/run/process-health.ts';

function readiness({ knowsKeys = true, localSince = null as number | null, isReady = true } = {}) {
  const ofState = { localSince, stateTime: null };
  return readinessOf({ ready: () => isReady }, { ofState }, { down: [], knowsKeys });
}

test('a process is not ready before it has loaded the data about keys that requests need', () => {
  expect(readiness({ knowsKeys: false })).toEqual({ readiness: 'state_down', down: ['state'] });
  expect(readiness()).toEqual({ readiness: 'ready', down: [] });
});

test('a process that starts in an outage is ready if the settings say so', () => {
  expect(readiness({ knowsKeys: false, localSince: 1 })).toEqual({
    readiness: 'ready',
    down: ['state'],
  });
  expect(readiness({ localSince: 1, isReady: false })).toEqual({
    readiness: 'state_down',
    down: ['state'],
  });
});
