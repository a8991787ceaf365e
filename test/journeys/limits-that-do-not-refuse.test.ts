import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { KIND_NAMES } from '../../src/limits/kinds.ts';
import { TestGateway } from '../support/gateway.ts';

/** What follows the kind of each window of a plan, and which of them clients see. */
const SHAPES = {
  'a refusing window beside overage': [['', ', overage: true'], [0]],
  'a refusing window beside one that watches': [['', ', enforce: false'], [0]],
  'two refusing windows beside overage': [
    ['', '', ', overage: true'],
    [0, 1],
  ],
  'overage alone': [[', overage: true'], [0]],
  'overage beside one that watches': [[', overage: true', ', enforce: false'], [0]],
  'a window that watches alone': [[', enforce: false'], [0]],
} as const satisfies Record<string, readonly [readonly string[], readonly number[]]>;

/** Units and length of each window, in order. */
const WINDOWS = [
  [3, 'hour'],
  [3, 'day'],
  [2, 'month'],
] as const;

const ALL = KIND_NAMES.flatMap((kind) =>
  Object.entries(SHAPES).map(([name, [options, shown]]) => {
    // Only calendar windows have months.
    const windows = options.map((option, i) => {
      const [limit, per] = WINDOWS[i]!;
      const isMonth = per === 'month' && kind !== 'calendar';
      return { limit, per: isMonth ? '31d' : per, option };
    });
    return { kind, name, windows, shown, plan: `${kind}-${Object.keys(SHAPES).indexOf(name)}` };
  }),
);

const PLANS = `plans:
${ALL.map(
  ({ plan, kind, windows }) =>
    `  ${plan}: { windows: [${windows
      .map(({ limit, per, option }) => `{ limit: ${limit}, per: ${per}, kind: ${kind}${option} }`)
      .join(', ')}] }\n`,
).join('')}bans: { workers: 20, strikes: 10 }
`;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({ plans: PLANS });
});
afterAll(() => gateway.stop());

describe.each(ALL)('$kind: $name', ({ plan, windows, shown }) => {
  test('clients see windows that refuse, and otherwise one that they need not wait for', async () => {
    const { secret } = await gateway.key({ plan });
    const refuses = windows[shown[0]]!.option === '';
    for (let sent = 1; sent <= 5; sent++) {
      const { status, headers } = await gateway.client.get('/pets').set('X-API-Key', secret);
      expect(status).toBe(refuses && sent > 3 ? 429 : 200);
      const names = [...headers.ratelimit!.matchAll(/"([^"]+)";r=(\d+);t=(\d+)/g)];
      expect(names.map(([, name]) => name)).toEqual(shown.map((i) => windows[i]!.per));
      const policies = [...headers['ratelimit-policy']!.matchAll(/"([^"]+)";q=(\d+)/g)];
      expect(policies.map(([, name]) => name)).toEqual(shown.map((i) => windows[i]!.per));
      const { limit } = windows[shown.at(-1)!]!;
      const remaining = Math.max(0, limit - sent);
      expect(headers).toMatchObject({
        'x-ratelimit-limit': `${limit}`,
        'x-ratelimit-remaining': `${remaining}`,
      });
      const wait = Number(headers['x-ratelimit-reset']) * 1000 - gateway.clock.now;
      expect(wait > 0).toBe(refuses);
      for (const [, , others, seconds] of names) {
        expect(Number(others)).toBe(remaining);
        expect(Number(seconds) > 0).toBe(refuses);
      }
    }
  });
});
