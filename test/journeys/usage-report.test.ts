import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sumName } from '../../src/ledger/names.ts';
import { NO_CONTENT, packValue } from '../../src/ledger/value.ts';
import { createRowWriter } from '../../src/state/rows/row-writer.ts';
import { usageInFolder } from '../../src/state/usage-folder.ts';
import { adminOf } from '../support/admin.ts';
import { commandLine } from '../support/command-line.ts';
import { bodyOf } from '../support/failure.ts';
import { gatewaysOfTests, sendWith } from '../support/gateways.ts';
import { DAY, HOUR, MINUTE } from '../support/limits.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';

const PLANS = `plans:
  free: { windows: [{ limit: 10, per: minute }] }
  pro: { windows: [{ limit: 100000, per: day }] }
`;

const KEYS = 16;
const GATEWAYS = 3;

const { stops, gateway } = gatewaysOfTests({ plans: PLANS });

const reportAt = async (url: string, query: string) =>
  bodyOf(await adminOf(url)('GET', `/usage/report?${query}`));

/** A request is counted when its response has ended, which may be after the client has it. */
const counted = (url: string, total: number) =>
  until(`${total} are counted`, async () => {
    const { rows } = await reportAt(url, 'by=status');
    return rows.reduce((sum: number, row: { requests: number }) => sum + row.requests, 0) === total;
  });

/** A folder that has had a day long ago, whose hours were removed. */
async function oldDay(folder: string, start: number): Promise<{ readonly sums: number }> {
  const bytes = packValue({ start, span: DAY, policies: 0, sources: {} }, NO_CONTENT);
  const writer = createRowWriter(join(folder, 'data'));
  const ledger = usageInFolder(join(folder, 'data'), writer, () => {});
  const sums = new Map([[sumName('d', start, bytes), bytes]]);
  await ledger.inTurn((commit) => commit(sums, new Map()));
  const { sizes } = await ledger.index();
  await ledger.close();
  await writer.close();
  return { sums: sizes.size };
}

describe('a report of usage', () => {
  test('has units, refusals, failures, bytes and durations, by what is asked for', async () => {
    const one = await gateway();
    const day = new Date(one.clock.now).toISOString().slice(0, 10);
    const [free, pro] = [await one.key(), await one.key({ account: 'globex', plan: 'pro' })];
    await sendWith(one.url, free.secret, 12);
    await sendWith(one.url, pro.secret, 3, '/categories');
    await sendWith(one.url, 'unknown', 1);
    await counted(one.adminUrl, 16);

    const { rows, by, since, lost, dropped, isolated } = await reportAt(
      one.adminUrl,
      'by=account,status,day&from=2020-01-01',
    );
    expect({ by, lost, dropped, isolated }).toEqual({
      by: ['day', 'account', 'status'],
      lost: [],
      dropped: 0,
      isolated: null,
    });
    expect(Date.parse(since)).toBeLessThanOrEqual(one.clock.now);
    const shown = rows.map((row: Record<string, unknown>) => [
      ...['day', 'account', 'status', 'requests', 'units', 'refused', 'failed', 'received'].map(
        (name) => row[name],
      ),
      Number(row.sent) > 0,
    ]);
    expect(shown.sort()).toEqual([
      [day, null, 401, 1, 0, 1, 0, 0, true],
      [day, 'acme', 200, 10, 10, 0, 0, 0, true],
      [day, 'acme', 429, 2, 0, 2, 0, 0, true],
      [day, 'globex', 200, 3, 3, 0, 0, 0, true],
    ]);
    for (const { requests, ...row } of rows) {
      const { within10ms, within100ms, within1s, within10s, slower } = row;
      expect(within10ms + within100ms + within1s + within10s + slower).toBe(requests);
    }
    const filtered = await reportAt(one.adminUrl, 'by=operation&plan=pro');
    expect(filtered.rows).toMatchObject([{ operation: 'listCategories', requests: 3 }]);
    expect((await reportAt(one.adminUrl, 'by=key&status=500')).rows).toEqual([]);
    const earlier = new Date(Math.floor(one.clock.now / HOUR - 48) * HOUR).toISOString();
    const before = await reportAt(one.adminUrl, `from=${earlier}&to=${day}`);
    expect(before.rows).toEqual([]);
  });

  test('comes as CSV, from the command line too, also without a gateway; and as lines of JSON', async () => {
    const one = await gateway();
    const { secret } = await one.key({ plan: 'pro' });
    await sendWith(one.url, secret, 2);
    await counted(one.adminUrl, 2);
    const month = new Date(one.clock.now).toISOString().slice(0, 7);
    const args = ['usage', 'report', '--month', month, '--by', 'account,operation'];
    const run = (...more: string[]) =>
      commandLine(one.folder)([...args, ...more], { env: { STOREGATE_ADMIN_URL: one.adminUrl } });
    const header =
      'account,operation,requests,units,refused,failed,received,sent,within10ms,within100ms,within1s,within10s,slower\n';
    const csv = (await run('-o', 'csv')).out;
    expect(csv.startsWith(`${header}acme,listPets,2,2,0,0,0,`)).toBe(true);
    const lines = await fetch(`${one.adminUrl}/usage/report?format=ndjson`);
    expect(JSON.parse(await lines.text())).toMatchObject({ account: 'acme', units: 2 });
    expect((await run()).out).toMatch(/^account +operation +requests +units .*\n.*listPets +2 +2 /);
    const hours = await run('--by', 'hour,status');
    expect(hours.out).toMatch(/^hour +status +requests .*\n20\d\d-\d\d-\d\dT\d\d:00Z +200 +2 /);
    expect(await run('--by', 'colour')).toMatchObject({ code: 2 });
    expect(await run('--month', '2026-13')).toMatchObject({ code: 2 });
    expect((await commandLine(one.folder)(['keys', 'list', '-o', 'csv'])).code).toBe(2);
    await one.close();
    expect((await commandLine(one.folder)([...args, '-o', 'csv'])).out).toBe(csv);
  });

  test('has minutes of the last two hours, and calls of deprecated operations alone', async () => {
    const one = await gateway();
    const { secret } = await one.key({ plan: 'pro' });
    await sendWith(one.url, secret, 2);
    await counted(one.adminUrl, 2);
    one.clock.pass(3 * MINUTE);
    await sendWith(one.url, secret, 3, '/pets/1');
    await counted(one.adminUrl, 5);
    const minute = (at: number) => new Date(Math.floor(at / MINUTE) * MINUTE).toISOString();
    const from = minute(one.clock.now - HOUR);
    const { rows } = await reportAt(one.adminUrl, `by=minute,operation&from=${from}`);
    const minutes = rows.map((row: { minute: string }) => Date.parse(row.minute) / MINUTE);
    expect(minutes).toEqual([minutes[0], minutes[0] + 3]);
    expect((await reportAt(one.adminUrl, 'by=operation&deprecated=true')).rows).toMatchObject([
      { operation: 'getPet', requests: 3 },
    ]);
    const tooEarly = minute(one.clock.now - 3 * HOUR);
    const refused = await adminOf(one.adminUrl)('GET', `/usage/report?by=minute&from=${tooEarly}`);
    expect(refused.body).toMatchObject({ status: 400, message: /2 hours/ });
  });

  test('is refused for parts of days of which only the sum is left', async () => {
    const one = await gateway();
    const day = Math.floor(one.clock.now / DAY) * DAY;
    await one.close();
    expect(await oldDay(one.folder, day - 60 * DAY)).toEqual({ sums: 1 });
    await one.open();
    const at = (time: number) => new Date(time).toISOString();
    const old = day - 60 * DAY;
    const admin = adminOf(one.adminUrl);
    for (const [query, pointer] of [
      [`by=hour&from=${at(old)}`, '/from'],
      [`from=${at(old + HOUR)}`, '/from'],
      [`from=${at(old - DAY)}&to=${at(old + HOUR)}`, '/to'],
    ] as const)
      expect(await admin('GET', `/usage/report?${query}`)).toMatchObject({
        status: 400,
        body: { details: [{ in: 'query', pointer }] },
      });
    for (const query of [`from=${at(old)}`, `by=hour&from=${at(old + DAY)}`])
      expect(await admin('GET', `/usage/report?${query}`)).toMatchObject({ status: 200 });
  });
});

describe('gateways that share a Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  test('report how much a process that was killed lacks at most, in every form', async () => {
    const env = { REDIS_URL: `${redis.url}/1` };
    const [one, killed] = await Promise.all([gateway({ env }), gateway({ env })]);
    const { secret } = await killed.key({ plan: 'pro' });
    await sendWith(killed.url, secret, 3);
    await counted(one.adminUrl, 3);
    // As if it had been silent since then.
    one.clock.now = killed.clock.now + MINUTE;
    const run = (...args: string[]) =>
      commandLine(one.folder)(['usage', 'report', ...args], {
        env: { STOREGATE_ADMIN_URL: one.adminUrl },
      });
    const missing =
      'did not shut down: at most its last second is missing; its busiest second had 3 requests.';
    expect((await run('-o', 'csv')).err).toBe(`1 process ${missing}\n`);
    const { out } = await run();
    expect(out).toMatch(/ was last seen at .* and did not shut down/);
    expect(out).toContain(missing);
    const { lost } = await reportAt(one.adminUrl, '');
    expect(lost).toEqual([{ gateway: expect.any(String), at: expect.any(String), requests: 3 }]);
  });

  test('have the units of all keys in their ledger that the counters were charged', async () => {
    const all = await Promise.all(
      Array.from({ length: GATEWAYS }, () =>
        gateway({ env: { REDIS_URL: redis.url }, settings: 'log: { level: error }\n' }),
      ),
    );
    const keys: { readonly id: string; readonly secret: string }[] = [];
    for (let i = 0; i < KEYS; i++)
      keys.push(await all[i % GATEWAYS]!.key({ account: `a${i}`, plan: 'pro' }));
    await Promise.all(
      all.map(async ({ url }, at) => {
        for (const [i, { secret }] of keys.entries()) await sendWith(url, secret, (i + at) % 4);
      }),
    );
    const expected = keys.map((_, i) => all.reduce((sum, _, at) => sum + ((i + at) % 4), 0));
    const total = expected.reduce((sum, units) => sum + units, 0);
    for (const { adminUrl, clock } of all) {
      clock.now = all[0]!.clock.now;
      await counted(adminUrl, total);
      const { rows } = await reportAt(adminUrl, 'by=key');
      const units = new Map(
        rows.map((row: { key: string; units: number }) => [row.key, row.units]),
      );
      expect(keys.map(({ id }) => units.get(id))).toEqual(expected);
    }
    const used = await Promise.all(
      keys.map(async ({ id }) => {
        const { usage } = bodyOf(await adminOf(all[0]!.adminUrl)('GET', `/usage/${id}`));
        return usage[0].windows[0].used;
      }),
    );
    expect(used).toEqual(expected);
  });

  test('refuse a report while Redis is down, and say in each form what a partial one is', async () => {
    const down = await startRedis();
    stops.push(() => down.stop());
    const one = await gateway({ env: { REDIS_URL: down.url } });
    const { secret } = await one.key({ plan: 'pro' });
    await sendWith(one.url, secret, 5);
    await counted(one.adminUrl, 5);
    await down.kill();
    await sendWith(one.url, secret, 2);
    const run = (...more: string[]) =>
      commandLine(one.folder)(['usage', 'report', ...more], {
        env: { STOREGATE_ADMIN_URL: one.adminUrl },
      });
    const admin = adminOf(one.adminUrl);
    for (const format of ['json', 'csv', 'ndjson']) {
      const { status, body, headers } = await admin('GET', `/usage/report?format=${format}`);
      expect({ format, status, code: body.code }).toEqual({
        format,
        status: 503,
        code: 'state_unavailable',
      });
      expect(headers['retry-after']).toBe('1');
    }
    for (const form of [[], ['--json'], ['-o', 'csv']]) {
      const { code, out, err } = await run(...form);
      expect({ form, code, out }).toEqual({ form, code: 1, out: '' });
      expect(err).toMatch(/is not complete.*--partial/);
    }
    const partial = (...form: string[]) => run('--partial', ...form);
    await until('the requests of the outage are counted', async () =>
      /\nacme,[2-7],/.test((await partial('-o', 'csv')).out),
    );
    const csv = await partial('-o', 'csv');
    expect(csv).toMatchObject({ code: 0, err: expect.stringContaining('Redis is down: only') });
    expect(csv.out).toMatch(/^account,requests,.*,partial\nacme,[2-7],.*,true\n$/);
    expect(JSON.parse((await partial('--json')).out)).toMatchObject({
      isolated: expect.any(String),
    });
    expect((await partial()).out).not.toContain('complete since');
    expect((await partial()).out).toMatch(
      /Redis has not answered since 20\S+Z; figures of this gateway alone\./,
    );
    const whole = await gateway();
    const complete = await commandLine(whole.folder)(
      ['usage', 'report', '-o', 'csv', '--partial'],
      { env: { STOREGATE_ADMIN_URL: whole.adminUrl } },
    );
    expect(complete).toMatchObject({ code: 0, err: '' });
    expect(complete.out).toMatch(/,partial\n$/);
  });
});
