import { describe, expect, test } from '@jest/globals';
import { adminOf } from '../support/admin.ts';
import { gatewaysOfTests, sendWith } from '../support/gateways.ts';
import { SECOND } from '../support/limits.ts';
import { until } from '../support/until.ts';

const PLANS =
  'plans:\n  free: { windows: [{ limit: 10, per: minute }] }\n  pro: { windows: [{ limit: 1000, per: minute }] }\nbans: { workers: 1 }\n';

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was said.
type Items = any[];
type Top = {
  total: number;
  error: number;
  items: Items;
  gateways: Items;
  unresponsive: string[];
  isolated: string | null;
};
const topAt = async (url: string, query = ''): Promise<Top & Record<string, unknown>> =>
  (await adminOf(url)('GET', `/top${query}`)).body;
const seen = ({ items }: Top) =>
  items.map(({ key, operation, count }) => [key ?? operation, count]);

const second = (at: number) => new Date(Math.floor(at / SECOND) * SECOND).toISOString();

const { gateway } = gatewaysOfTests({ plans: PLANS });

/** A request is reported when its response has ended, which may be after the client has it. */
const counted = (url: string, query: string, total: number) =>
  until(`${total} are counted ${query}`, async () => (await topAt(url, query)).total === total);

describe('a single gateway', () => {
  test('returns the clients that send most, are refused, near a limit, or continue after a refusal', async () => {
    const one = await gateway({});
    const [free, pro] = [await one.key(), await one.key({ account: 'globex', plan: 'pro' })];
    expect(await sendWith(one.url, free.secret, 11)).toEqual([...Array(10).fill(200), 429]);
    one.clock.pass(SECOND);
    expect(await sendWith(one.url, free.secret, 1)).toEqual([429]);
    expect(await sendWith(one.url, pro.secret, 20)).not.toContain(429);
    expect(await sendWith(one.url, pro.secret, 1, '/nothing')).toEqual([404]);
    expect(await sendWith(one.url, 'no-key', 2)).toEqual([401, 401]);

    await counted(one.adminUrl, '', 33);
    const top = await topAt(one.adminUrl);
    expect(top).toMatchObject({
      window: 'hour',
      by: 'requests',
      unresponsive: [],
      isolated: null,
    });
    expect(top.gateways).toHaveLength(1);
    expect(top.items).toEqual([
      {
        key: pro.id,
        account: 'globex',
        plan: 'pro',
        operation: null,
        count: 21,
        share: 0.6364,
        last: second(one.clock.now),
      },
      expect.objectContaining({ key: free.id, account: 'acme', plan: 'free', count: 12 }),
    ]);
    expect(seen(await topAt(one.adminUrl, '?limit=1'))).toEqual([[pro.id, 21]]);
    expect(seen(await topAt(one.adminUrl, '?by=refused&window=minute'))).toEqual([
      [free.id, 2],
      [pro.id, 1],
    ]);
    expect(seen(await topAt(one.adminUrl, '?by=near-limit'))).toEqual([[free.id, 3]]);
    expect(seen(await topAt(one.adminUrl, '?by=strikes'))).toEqual([[free.id, 1]]);
    expect(Object.fromEntries(seen(await topAt(one.adminUrl, '?by=operations')))).toEqual({
      listPets: 2,
      none: 3,
    });
  });
});
