import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { openRowFile } from '../../src/state/rows/row-file.ts';
import { adminOf } from '../support/admin.ts';
import { bodyOf } from '../support/failure.ts';
import type { GatewayOptions, TestGateway } from '../support/gateway.ts';
import { gatewaysOfTests, sendWith } from '../support/gateways.ts';
import { HOUR, MINUTE } from '../support/limits.ts';
import { startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';

const PLANS =
  'plans:\n  free: { windows: [{ limit: 10, per: minute }] }\n  pro: { windows: [{ limit: 1000, per: minute }] }\n';

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was said.
type Items = any[];
type History = {
  since: string;
  steps: Items;
  outages: Items;
  gateways: string[];
  unresponsive: string[];
  isolated: string | null;
};
const historyAt = async (url: string, query = ''): Promise<History> =>
  (await adminOf(url)('GET', `/history${query}`)).body;

const { stops, gateway: start } = gatewaysOfTests({ plans: PLANS });

async function gateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const started = await start(options);
  // At the first minute of an hour, so that the steps are known.
  started.clock.now = Math.ceil(started.clock.now / HOUR) * HOUR;
  return started;
}

/** A request is reported when its response has ended, which may be after the client has it. */
const untilLogged = (gateway: TestGateway, requests: number) =>
  until(
    `${requests} are logged`,
    () => gateway.log.filter(({ msg }) => msg === 'request').length === requests,
  );

const requestsOf = ({ steps }: History) =>
  steps.map(({ requests }) => requests).filter((count) => count > 0);

describe('a single gateway', () => {
  test('returns steps of time, in total and of an operation or a plan', async () => {
    const one = await gateway();
    const begin = one.clock.now;
    const [free, pro] = [await one.key(), await one.key({ account: 'globex', plan: 'pro' })];
    await sendWith(one.url, free.secret, 12);
    await sendWith(one.url, pro.secret, 3, '/categories');
    await untilLogged(one, 15);
    one.clock.pass(MINUTE);
    await sendWith(one.url, pro.secret, 1, '/nothing');
    await untilLogged(one, 16);
    expect(requestsOf(await historyAt(one.adminUrl, '?step=1m'))).toEqual([15]);
    one.clock.pass(HOUR);

    const { steps, gateways, unresponsive, isolated } = await historyAt(one.adminUrl);
    expect({ gateways: gateways.length, unresponsive, isolated }).toEqual({
      gateways: 1,
      unresponsive: [],
      isolated: null,
    });
    const hour = steps.find(({ at }) => at === new Date(begin).toISOString());
    expect(hour).toEqual({
      at: new Date(begin).toISOString(),
      minutes: 2,
      requests: 16,
      admitted: 14,
      limited: 2,
      banned: 0,
      classes: { '2xx': 13, '3xx': 0, '4xx': 3, '5xx': 0, aborted: 0 },
      statuses: { 404: 1, 429: 2 },
      p50: expect.any(Number),
      p95: expect.any(Number),
      p99: expect.any(Number),
      outagePolicies: [],
    });
    expect(hour.p50).toBeLessThanOrEqual(hour.p95);
    expect(hour.p95).toBeLessThanOrEqual(hour.p99);
    const of = async (query: string) => requestsOf(await historyAt(one.adminUrl, query));
    expect(await of('?step=10m')).toEqual([16]);
    expect(await of('?step=1m')).toEqual([15, 1]);
    expect(await of('?step=1m&operation=listPets')).toEqual([12]);
    expect(await of('?step=1m&plan=pro')).toEqual([3, 1]);
    expect(await of('?step=1m&operation=createPet')).toEqual([]);
    expect(await of('?step=1m&since=1h')).toEqual([1]);
  });

  test('drops a damaged row, and serves', async () => {
    const one = await gateway();
    const { secret } = await one.key();
    await sendWith(one.url, secret, 2);
    await one.close();
    const rows = openRowFile(join(one.folder, 'data'));
    rows.exec("UPDATE rows SET value = x'ff' WHERE kind = 'usage.1'");
    rows.close();
    await one.open();
    await sendWith(one.url, secret, 1);
    await untilLogged(one, 3);
    one.clock.pass(MINUTE);
    expect(requestsOf(await historyAt(one.adminUrl, '?step=1m'))).toEqual([1]);
    expect(JSON.stringify(one.log.filter(({ msg }) => msg === 'state.warning'))).toMatch(
      /ledger|usage/,
    );
  });
});

test('requests are counted in Redis if the data folder cannot be used', async () => {
  const own = await startRedis();
  stops.push(() => own.stop());
  const one = await gateway({
    env: { REDIS_URL: own.url, STOREGATE_DATA: '/dev/null/data' },
    settings: 'redis: { keyCache: { enabled: false } }\n',
  });
  const { adminUrl, clock, log } = one;
  const draft = { account: 'acme', plan: 'pro' };
  const { key } = bodyOf(await adminOf(adminUrl)('POST', '/keys', draft));
  await sendWith(one.url, key, 2);
  await untilLogged(one, 2);
  clock.pass(MINUTE);
  await until('both are counted', async () => {
    const found = requestsOf(await historyAt(adminUrl, '?step=1m'));
    return found.at(-1) === 2;
  });
  expect(log).toContainEqual(
    expect.objectContaining({
      warning: expect.stringMatching(/^cannot keep usage in .*ENOTDIR/),
    }),
  );
});
