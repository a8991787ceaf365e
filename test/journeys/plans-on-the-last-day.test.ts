import { describe, expect, test } from '@jest/globals';
import { adminOf } from '../support/admin.ts';
import { bodyOf } from '../support/failure.ts';
import { gatewaysOfTests, sendWith } from '../support/gateways.ts';
import { HOUR, MINUTE, window } from '../support/limits.ts';
import { until } from '../support/until.ts';

const PLANS = `plans:
  free: { windows: [{ limit: 10, per: minute }, { limit: 40, per: day }] }
  team: { count: account, windows: [{ limit: 10, per: minute }] }
`;

const { gateway } = gatewaysOfTests({ plans: PLANS });

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was said.
async function tried(url: string, limits: string, plan = 'free'): Promise<any> {
  return bodyOf(await adminOf(url)('POST', `/plans/${plan}/simulate`, { limits })).lastDay;
}

const minuteOf = (at: number) => new Date(Math.floor(at / MINUTE) * MINUTE).toISOString();

/** A request is reported when its response has ended, which may be after the client has it. */
const counted = (url: string, total: number) =>
  until(`${total} are counted`, async () => {
    return (await adminOf(url)('GET', '/top?window=day')).body.total === total;
  });

describe('a simulated plan', () => {
  test('returns which clients its windows would have refused in the last day, with the number of requests', async () => {
    const one = await gateway();
    const began = one.clock.now;
    const [busy, calm] = [await one.key(), await one.key({ account: 'globex' })];
    const own = await one.key({ account: 'umbrella', windows: [window(20, MINUTE)] });
    await sendWith(one.url, busy.secret, 9);
    await sendWith(one.url, calm.secret, 4);
    await sendWith(one.url, own.secret, 15);
    one.clock.pass(10 * MINUTE);
    expect(await sendWith(one.url, busy.secret, 11)).toContain(429);
    await counted(one.adminUrl, 39);
    one.clock.pass(2 * MINUTE);

    const day = await tried(one.adminUrl, '4/minute,18/day,100/hour');
    expect(day).toMatchObject({
      since: minuteOf(began),
      requests: { admitted: 38, refused: 1 },
      windows: [
        {
          name: 'minute',
          limit: 4,
          counted: true,
          floor: 0,
          limited: 1,
          refused: { least: 11, most: 11 },
        },
        { name: 'hour', limit: 100, counted: false, floor: null, limited: 0, refused: null },
        {
          name: 'day',
          limit: 18,
          counted: true,
          floor: 0,
          limited: 1,
          refused: { least: 1, most: 1 },
        },
      ],
      unresponsive: [],
      isolated: null,
    });
    expect(day.subjects).toEqual([
      {
        key: busy.id,
        account: 'acme',
        windows: [
          {
            window: 'minute',
            peak: 10,
            began: new Date(began + 10 * MINUTE).toISOString(),
            times: 2,
            refused: { least: 11, most: 11 },
          },
          {
            window: 'day',
            peak: 19,
            began: new Date(began).toISOString(),
            times: 1,
            refused: { least: 1, most: 1 },
          },
        ],
      },
    ]);
    expect((await tried(one.adminUrl, '10/minute')).subjects).toEqual([]);

    const put = one.clock.now;
    expect((await adminOf(one.adminUrl)('PUT', '/plans/free', { limits: '100/hour' })).status).toBe(
      200,
    );
    one.clock.pass(MINUTE);
    const [minute, hour] = (await tried(one.adminUrl, '4/minute,50/hour')).windows;
    expect([minute.since, minute.limited]).toEqual([minuteOf(began), 1]);
    expect([hour.since, hour.limited]).toEqual([new Date(put).toISOString(), 0]);
    one.clock.pass(26 * HOUR);
    expect((await tried(one.adminUrl, '4/minute')).subjects).toEqual([]);
  });
});
