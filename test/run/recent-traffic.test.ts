import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RecentTraffic } from '../../src/run/recent-traffic.ts';

const MINUTE = 60_000;
const STEP = 5_000;

const request = fc.record({
  wait: fc.integer({ min: 0, max: 30_000 }),
  status: fc.constantFrom(200, 404, 429, 500, 501, 503, 505),
  verdict: fc.constantFrom(null, 'admitted', 'limited', 'banned'),
});

test('counts the requests of the last minute, to a step of five seconds', () => {
  fc.assert(
    fc.property(fc.array(request, { maxLength: 60 }), (requests) => {
      const traffic = new RecentTraffic();
      let now = 0;
      const sent = requests.map(({ wait, ...one }) => {
        now += wait;
        traffic.count(one, now);
        return { ...one, at: now };
      });
      const within = (age: number) => sent.filter(({ at }) => at > now - age);
      const count = (age: number) => ({
        requests: within(age).length,
        failed: within(age).filter(({ status }) => [500, 503].includes(status)).length,
        refused: within(age).filter(({ verdict }) => /limited|banned/.test(verdict ?? '')).length,
      });
      const sum = traffic.sum(now);
      for (const name of ['requests', 'failed', 'refused'] as const) {
        expect(sum[name]).toBeGreaterThanOrEqual(count(MINUTE - STEP)[name]);
        expect(sum[name]).toBeLessThanOrEqual(count(MINUTE)[name]);
      }
    }),
  );
});

test('forgets after a minute, and when the clock is set back', () => {
  const traffic = new RecentTraffic();
  traffic.count({ status: 500, verdict: 'limited' }, 0);
  expect(traffic.sum(MINUTE - 1)).toEqual({ requests: 1, failed: 1, refused: 1 });
  expect(traffic.sum(MINUTE)).toEqual({ requests: 0, failed: 0, refused: 0 });
  traffic.count({ status: 500, verdict: 'limited' }, 2 * MINUTE);
  expect(traffic.sum(MINUTE)).toEqual({ requests: 0, failed: 0, refused: 0 });
});
