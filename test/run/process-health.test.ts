import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Event } from '../../src/observe/events.ts';
import { createProcessHealth, readinessOf } from '../../src/run/process-health.ts';

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

describe('conditions of a process', () => {
  const NONE = { logLines: 0, requests: 0 };
  const START = 1_000_000;
  let now = START;
  beforeEach(() => {
    now = START;
    jest.spyOn(Date, 'now').mockImplementation(() => now);
  });
  afterEach(() => void jest.restoreAllMocks());

  const error = new Error('no space left');
  const reason = 'the disk is full';

  test.each<readonly [begin: Event, end: Event, type: string, detail: string]>([
    [
      { type: 'state.outage', policy: 'local', error },
      { type: 'state.recovered', duration: 1 },
      'redis_down_local',
      reason,
    ],
    [
      { type: 'usage.export_failed', endpoint: 'meter', error: 'HTTP 400' },
      { type: 'usage.export_recovered', endpoint: 'meter', failures: 1 },
      'usage_not_exported',
      'HTTP 400',
    ],
    [{ type: 'state.write_failed', error }, { type: 'state.write_recovered' }, 'unsaved', reason],
    [
      { type: 'state.data_doubted', isDoubted: true },
      { type: 'state.data_doubted', isDoubted: false },
      'redis_data_doubted',
      '',
    ],
    [
      { type: 'state.connection', of: 'messages', isCut: true },
      { type: 'state.connection', of: 'messages', isCut: false },
      'redis_connection',
      '',
    ],
  ])('begin with %j, and end with %j', (begin, end, type, detail) => {
    const health = createProcessHealth();
    health.observe(begin);
    now += 5_000;
    health.observe(begin);
    expect(health.conditions(NONE)).toEqual([{ type, since: START, detail }]);
    health.observe(end);
    expect(health.conditions(NONE)).toEqual([]);
  });

  test('report a loss from the first one until 5 minutes after the last', () => {
    const health = createProcessHealth();
    const losses = (logLines: number) =>
      health.conditions({ logLines, requests: 0 }).map(({ since, detail }) => [since, detail]);
    expect(losses(0)).toEqual([]);
    expect(losses(1)).toEqual([[START, '1 line']]);
    now += 200_000;
    expect(losses(3)).toEqual([[START, '3 lines']]);
    now += 300_000;
    expect(losses(3)).toEqual([[START, '3 lines']]);
    now += 1;
    expect(losses(3)).toEqual([]);
    expect(losses(5)).toEqual([[START + 500_001, '2 lines']]);
  });

  test('report data that Redis has lost for an hour', () => {
    const health = createProcessHealth();
    health.observe({ type: 'state.data_lost' });
    const condition = { type: 'redis_data_lost', since: START, detail: '1 time' };
    expect(health.conditions(NONE)).toEqual([condition]);
    now += 3_600_000;
    expect(health.conditions(NONE)).toEqual([condition]);
    now += 1;
    expect(health.conditions(NONE)).toEqual([]);
  });

  test('name what was lost', () => {
    const health = createProcessHealth();
    health.observe({ type: 'ban_log.dropped', count: 2 });
    const conditions = health.conditions({ logLines: 1, requests: 3 });
    expect(conditions.map(({ type, detail }) => `${type} ${detail}`)).toEqual([
      'log_dropped 1 line',
      'usage_dropped 3 requests',
      'bans_dropped 2 bans',
    ]);
  });
});
