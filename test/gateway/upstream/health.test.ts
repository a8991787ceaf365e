import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Upstream } from '../../../src/config/config.ts';
import type { Failure } from '../../../src/gateway/upstream/health.ts';
import {
  createHealth,
  type Health,
  type HealthSettings,
} from '../../../src/gateway/upstream/health.ts';

interface Given extends Partial<Upstream['ejection']> {
  readonly healthy?: number;
  readonly trusted?: boolean;
  readonly alone?: boolean;
}

function settings({
  healthy = 1,
  trusted = false,
  alone = true,
  ...ejection
}: Given = {}): HealthSettings {
  const backends = ['http://one', 'http://two']
    .slice(alone ? 1 : 0)
    .map((url) => ({ url, weight: 1 }));
  return {
    backends,
    ejection: {
      enabled: true,
      failures: 5,
      timeouts: 3,
      failureRate: 0.5,
      statuses: [],
      slowStart: 10_000,
      probeInterval: 1_000,
      ...ejection,
    },
    healthChecks: {
      path: trusted ? '/' : null,
      interval: 1_000,
      timeout: 1_000,
      statuses: [],
      healthyThreshold: healthy,
      unhealthyThreshold: 3,
    },
  };
}
const others = () => true;
const noOther = () => false;

let now = 0;
let health: Health;
beforeEach(() => {
  now = 1_000_000;
  health = createHealth(settings(), now);
});

function one(end: Failure | 'good', mayGo = others): boolean {
  const epoch = health.begin();
  return end === 'good' ? health.good(epoch, now) : health.bad(end, epoch, now, mayGo);
}

function several(count: number, end: Failure | 'good', mayGo = others): void {
  for (let i = 0; i < count; i++) one(end, mayGo);
}

function eject(): void {
  several(5, 'unreachable');
  expect(health.state).toBe('down');
}

function return_(): void {
  eject();
  now += 100;
  expect(health.checked('good', now, others)).toBe(true);
  expect(health.state).toBe('recovering');
}

describe('a backend is down', () => {
  test.each<[string, Failure, number]>([
    ['after five requests in a row that found no connection', 'unreachable', 5],
    ['after five in a row without a usable answer', 'broken', 5],
    ['after three in a row that took too long', 'hanging', 3],
    ['after five in a row with a status that counts', 'statuses', 5],
  ])('%s', (_what, failure, count) => {
    several(count - 1, failure);
    expect(health.state).toBe('up');
    expect(one(failure)).toBe(true);
    expect([health.state, health.reason]).toEqual(['down', failure]);
    expect(health.takes(true, now)).toBe(false);
  });

  test('after five truncated responses in a row, though their heads are good', () => {
    for (let i = 0; i < 5; i++) {
      expect(health.state).toBe('up');
      const epoch = health.begin();
      health.begun(epoch, now);
      now += 10;
      health.bad('broken', epoch, now, others);
    }
    expect([health.state, health.reason]).toEqual(['down', 'broken']);
  });

  test('if it returns and truncates responses again', () => {
    return_();
    const epochs = Array.from({ length: 3 }, () => health.begin());
    for (const epoch of epochs) health.begun(epoch, now);
    now += 1_000;
    expect(health.bad('broken', epochs[0]!, now, others)).toBe(true);
    expect(health.state).toBe('down');
  });

  test('not after as many with a good response between them', () => {
    for (let i = 0; i < 20; i++) {
      several(2, 'hanging');
      now += 2_000;
      one('good');
    }
    expect(health.state).toBe('up');
  });

  test('not because of one bad operation among good ones: a good response suspends the rule for a second', () => {
    for (let i = 0; i < 200; i++) {
      one('good');
      several(4, i % 2 === 0 ? 'hanging' : 'broken', noOther);
      now += 50;
    }
    expect(health.state).toBe('up');
  });

  test('but refused connections count for all operations', () => {
    one('good');
    several(5, 'unreachable', noOther);
    expect(health.state).toBe('down');
  });

  test('if half of the last requests failed and another backend is up, and not without another one', () => {
    for (const [mayGo, state] of [
      [noOther, 'up'],
      [others, 'down'],
    ] as const) {
      health = createHealth(settings(), now);
      for (let i = 0; i < 10; i++) {
        one('good', mayGo);
        one('broken', mayGo);
      }
      expect([health.state, health.reason]).toEqual([state, state === 'up' ? null : 'failing']);
    }
  });

  test('not for a share of too few requests', () => {
    one('good');
    several(4, 'broken');
    expect(health.state).toBe('up');
  });

  test('never, if ejection is off', () => {
    health = createHealth(settings({ enabled: false }), now);
    several(100, 'unreachable');
    several(100, 'hanging');
    expect(health.state).toBe('up');
  });

  test('after three failed checks in a row', () => {
    for (const verdict of ['silent', 'good', 'silent', 'bad'] as const)
      expect(health.checked(verdict, now, others)).toBe(false);
    expect(health.checked('silent', now, others)).toBe(true);
    expect([health.state, health.reason]).toEqual(['down', 'check']);
  });

  test('because of wrong responses to checks only if enough others are up: a wrong path must not remove all', () => {
    for (let i = 0; i < 9; i++) health.checked('bad', now, noOther);
    expect(health.state).toBe('up');
    health.checked('silent', now, noOther);
    expect(health.state).toBe('down');
  });
});

describe('a backend that is down', () => {
  test('is not judged by requests that began before', () => {
    const epochs = Array.from({ length: 9 }, () => health.begin());
    return_();
    for (const epoch of epochs) expect(health.bad('hanging', epoch, now, others)).toBe(false);
    expect(health.state).toBe('recovering');
  });

  test('is not judged by their number either, once it is up', () => {
    health = createHealth(settings({ slowStart: 0 }), now);
    const epochs = Array.from({ length: 40 }, () => health.begin());
    return_();
    one('good');
    expect(health.state).toBe('up');
    for (const epoch of epochs) health.bad('hanging', epoch, now, others);
    expect(one('broken')).toBe(false);
  });

  test('is up after the configured number of successful checks in a row', () => {
    health = createHealth(settings({ healthy: 2 }), now);
    eject();
    for (const verdict of ['good', 'bad', 'good'] as const) health.checked(verdict, now, others);
    expect(health.state).toBe('down');
    expect(health.checked('good', now, others)).toBe(true);
    expect(health.state).toBe('recovering');
  });
});

describe('a half-open backend', () => {
  test('gets one safe request first, and more with each good response', () => {
    return_();
    expect([health.isTrial, health.takes(false, now), health.takes(true, now)]).toEqual([
      true,
      false,
      true,
    ]);
    const epoch = health.begin();
    expect(health.takes(true, now)).toBe(false);
    health.good(epoch, now);
    expect(health.isTrial).toBe(false);
    for (let under = 0; under < 5; under++) {
      expect(health.takes(false, now)).toBe(true);
      health.begin();
    }
    expect(health.takes(false, now)).toBe(false);
  });

  test('gets a first request of each of a few operations, and one that hangs does not block the others', () => {
    return_();
    const hanging = health.begin('a');
    expect(['a', 'b'].map((operation) => health.takes(true, now, operation))).toEqual([
      false,
      true,
    ]);
    expect(health.takes(false, now + 1_000, 'b')).toBe(false);
    const epochs = ['b', 'c', 'd'].map((operation) => health.begin(operation));
    expect(health.takes(true, now, 'e')).toBe(false);
    for (const epoch of epochs) health.cancelled(epoch);
    expect(['b', 'e'].map((operation) => health.takes(true, now, operation))).toEqual([
      false,
      true,
    ]);
    health.good(health.begin('e'), now);
    expect([health.isTrial, health.takes(false, now, 'a')]).toEqual([false, true]);
    expect(health.bad('hanging', hanging, now, noOther)).toBe(false);
  });

  test('tries an operation again whose first request was cancelled', () => {
    return_();
    health.cancelled(health.begin('a'));
    expect(health.takes(true, now, 'a')).toBe(true);
    health.begin('a');
    expect(health.takes(true, now, 'a')).toBe(false);
  });

  test('gets any request if no safe one came for a second', () => {
    return_();
    now += 1_000;
    expect(health.takes(false, now)).toBe(true);
  });

  test('gets several at once if the path of its checks is configured', () => {
    health = createHealth(settings({ trusted: true }), now);
    return_();
    expect([health.isTrial, health.takes(false, now)]).toEqual([false, true]);
    one('hanging');
    now += 100;
    health.checked('good', now, others);
    expect(health.isTrial).toBe(true);
  });

  test('is down again at its first failure, and is tried at longer intervals', () => {
    return_();
    for (const times of [1, 2, 3]) {
      expect(one('hanging')).toBe(true);
      expect([health.state, health.failedReturns]).toEqual(['down', times]);
      health.checked('good', now, others);
    }
    expect(health.downSince).toBe(1_000_000);
  });

  test('is not down again because of one bad operation while it answers others', () => {
    health = createHealth(settings({ alone: false }), now);
    return_();
    for (let i = 0; i < 40; i++) {
      one('good');
      one('good');
      expect(one('hanging')).toBe(false);
      now += 200;
    }
    expect(health.state).toBe('recovering');
    now += 1_000;
    expect(one('hanging')).toBe(true);
    expect([health.state, health.reason]).toEqual(['down', 'hanging']);
  });

  test('is down again at once if it refuses a connection, whatever it answered', () => {
    return_();
    one('good');
    expect(one('unreachable')).toBe(true);
  });

  test('gets its share gradually, up to all of it', () => {
    return_();
    one('good');
    const shares = [0, 1_000, 5_000, 9_000].map((after) => health.share(now + after));
    expect(shares).toEqual([0.1, 0.1, 0.5, 0.9]);
    now += 10_000;
    expect(one('good')).toBe(true);
    expect([health.state, health.reason, health.share(now), health.failedReturns]).toEqual([
      'up',
      null,
      1,
      0,
    ]);
  });

  test('is up after some good responses if it is the only one', () => {
    return_();
    several(63, 'good');
    expect(health.state).toBe('recovering');
    one('good');
    expect(health.state).toBe('up');
  });

  test('is up after a time without requests', () => {
    return_();
    expect(health.tick(now + 9_999)).toBe(false);
    expect(health.tick(now + 10_000)).toBe(true);
  });

  test('has capacity again when a client leaves', () => {
    return_();
    health.cancelled(health.begin());
    expect(health.takes(true, now)).toBe(true);
  });
});

test('is always in a valid state, gets requests if it is up, and recovers if all is well', () => {
  const step = fc.record({
    after: fc.integer({ min: 0, max: 5_000 }),
    what: fc.constantFrom(
      'begin',
      'good',
      'begun',
      'unreachable',
      'broken',
      'hanging',
      'statuses',
      'forgone',
      'well',
      'ill',
      'mute',
    ),
    which: fc.nat({ max: 20 }),
  });
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 200 }),
      fc.boolean(),
      fc.boolean(),
      (steps, alone, trusted) => {
        now = 1_000_000;
        health = createHealth(settings({ alone, trusted }), now);
        const open: number[] = [];
        for (const { after, what, which } of steps) {
          now += after;
          const request = () => open.splice(which % open.length, 1)[0]!;
          if (what === 'begin') {
            if (health.takes(which % 2 === 0, now)) open.push(health.begin());
          } else if (what === 'well') health.checked('good', now, others);
          else if (what === 'ill') health.checked('bad', now, others);
          else if (what === 'mute') health.checked('silent', now, others);
          else if (open.length === 0) continue;
          else if (what === 'good') health.good(request(), now);
          else if (what === 'begun') health.begun(open[which % open.length]!, now);
          else if (what === 'forgone') health.cancelled(request());
          else health.bad(what, request(), now, others);
          if (health.state === 'up')
            expect([health.takes(false, now), health.reason]).toEqual([true, null]);
          if (health.state === 'down') expect(health.takes(true, now)).toBe(false);
          expect(health.share(now)).toBeGreaterThan(0);
          expect(health.share(now)).toBeLessThanOrEqual(1);
        }
        for (const epoch of open) health.cancelled(epoch);
        for (let i = 0; i < 3 && health.state !== 'up'; i++) {
          now += 20_000;
          health.checked('good', now, others);
          if (health.takes(true, now)) health.good(health.begin(), now);
          health.tick(now + 10_000);
        }
        expect(health.state).toBe('up');
      },
    ),
  );
});
