import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeToken } from '../../src/records/operators/tokens.ts';
import { adminOf } from '../support/admin.ts';
import { TestBrowser } from '../support/browser.ts';
import { bodyOf } from '../support/failure.ts';
import { TestGateway } from '../support/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';

const PLANS = `
plans:
  free: { windows: [{ limit: 3, per: day }] }
bans: { strikes: 2, workers: 1, window: 1m, grace: 0s, durations: [1h], decay: 1d }
`;
const root = makeToken();
const REASON = 'acme calls: their job looped, „fixed“ now';

describe('two gateways on one Redis', () => {
  let redis: RedisServer;
  let browser: TestBrowser;
  let here: TestGateway;
  let there: TestGateway;
  beforeAll(async () => {
    redis = await startRedis();
    const options = {
      plans: PLANS,
      env: { REDIS_URL: redis.url, STOREGATE_ADMIN_TOKEN: root },
    };
    [browser, here, there] = await Promise.all([
      TestBrowser.start(),
      TestGateway.start(options),
      TestGateway.start(options),
    ]);
  });
  afterAll(async () => {
    await Promise.all([browser?.stop(), here?.stop(), there?.stop()]);
    await redis?.stop();
  });

  test('a complaint is traced to its cause, fixed, and the fix verified, in the console of another gateway', async () => {
    const admin = adminOf(here.adminUrl, { Authorization: `Bearer ${root}` });
    const { token } = bodyOf(await admin('POST', '/tokens', { name: 'alice', role: 'operate' }));
    const make = async (account: string): Promise<{ id: string; key: string }> =>
      bodyOf(await admin('POST', '/keys', { account, plan: 'free' }));
    const [acme, umbrella] = [await make('acme'), await make('umbrella')];
    const get = ({ key }: { key: string }) => there.client.get('/pets').set('X-API-Key', key);
    /** Repeats the request: a gateway may know of a refusal or a lifted ban a moment later. */
    const answered = async (status: number, who: { key: string }) => {
      let response = await get(who);
      await until(`it answers ${status}`, async () => {
        if (response.status !== status) response = await get(who);
        return response.status === status;
      });
      return response;
    };
    const limited = await answered(429, acme);
    const banned = await answered(403, acme);
    await answered(429, umbrella);
    const [first, complaint] = [limited, banned].map(
      ({ headers }) => headers['x-request-id'] as string,
    );

    const { page, complaints } = await browser.page();
    const addresses: string[] = [];
    page.on('request', (request) => void addresses.push(request.url()));
    page.on('framenavigated', (frame) => void addresses.push(frame.url()));
    const pages: string[] = [];
    const navigation = page.getByRole('navigation');
    const goTo = (view: string) =>
      navigation.getByRole('link', { name: view, exact: true }).click();
    const row = (table: string, name: RegExp) =>
      page.getByRole('region', { name: table }).getByRole('row', { name });
    const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
    /** Keeps the page content, to look for secrets in it. */
    const seen = async () => void pages.push(await page.content());

    await page.goto(`${here.adminUrl}/console/`);
    await page.getByLabel('Admin token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();

    const search = page.getByRole('combobox', { name: 'Search', exact: true });
    await search.fill(complaint!);
    await page.keyboard.press('Enter');
    const admit = page.locator('.steps li').filter({ hasText: 'admit' });
    // With the date if the ban ends tomorrow.
    await admit.getByText(/^banned until (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d/).waitFor();
    await seen();
    await search.fill(first!);
    await page.keyboard.press('Enter');
    await admit.getByText(/^limited; day has less than 1 unit left/).waitFor();

    await page.getByRole('note').getByRole('link', { name: acme.id }).click();
    await heading(acme.id);
    await page
      .getByText(
        /^banned until .* automatically: sent 2 more requests within 1m after the limit of 3 per day was used up/,
      )
      .waitFor();
    await page.getByText('3 of 3 · used up').waitFor();
    await row('Ban history', /banned .* in force .* automatic/).waitFor();
    await row('Latest refusals and failures', /GET listPets 403 key_banned/).waitFor();
    await row('Latest refusals and failures', /GET listPets 429 daily_quota_exceeded/)
      .first()
      .waitFor();
    await seen();

    await goTo('Top clients');
    await page
      .getByRole('combobox', { name: 'By', exact: true })
      .selectOption({ label: 'Refusals' });
    await row('Top clients, last hour', /umbrella/).waitFor();
    await row('Top clients, last hour', /acme/).getByRole('link', { name: acme.id }).click();

    const dialog = page.getByRole('dialog');
    const action = async (verb: string, field?: string) => {
      await page.getByRole('main').getByRole('button', { name: verb }).click();
      if (field !== undefined) await dialog.getByLabel(field).fill('1');
      await dialog.getByLabel('Reason, for the audit log').fill(REASON);
      await dialog.getByRole('button', { name: verb }).click();
    };
    await action('Lift ban');
    await dialog.getByText(`The ban of ${acme.id} is lifted.`).waitFor();
    await page.getByText(/^No strikes, ban level 0.* last lifted by alice/).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    // The button is removed with the ban: keyboard focus moves to the heading.
    expect(await page.evaluate('document.activeElement.textContent')).toBe(acme.id);
    await row('Ban history', /^\S+ banned .* lifted by alice/).waitFor();

    const next = await answered(429, acme);
    expect(next.body).toMatchObject({ code: 'daily_quota_exceeded' });
    await page.getByText('3 of 3 · used up').waitFor();
    await action('Grant units', 'Units');
    await dialog.getByText('Up to 1 units were refunded').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByText('2 of 3', { exact: true }).waitFor();
    await answered(200, acme);

    await goTo('Audit');
    const entry = (action: string) =>
      row('Audit log, newest first', new RegExp(`${action} ${acme.id}`)).innerText();
    await row('Audit log, newest first', /usage\.grant/).waitFor();
    for (const action of ['bans.lift', 'usage.grant'])
      expect((await entry(action)).split(/\t|\n/)).toEqual(
        expect.arrayContaining(['alice', action, acme.id, REASON]),
      );
    await seen();
    expect(complaints).toEqual([]);

    // From here on a poll may return 401.
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Admin token').waitFor();
    await seen();
    const session = await page.request.get(`${here.adminUrl}/console/api/keys`);
    expect(session.status()).toBe(401);

    const output = JSON.stringify([pages, addresses, complaints, here.log, there.log]);
    for (const secret of [token, root, acme.key, umbrella.key])
      expect(output).not.toContain(secret.slice(0, 24));
  });

  test('a gateway that was killed is lost, and an operator forgets it on the page of gateways', async () => {
    const admin = adminOf(here.adminUrl, { Authorization: `Bearer ${root}` });
    const lost = async () => (await admin('GET', '/status')).body.lost;
    const name = 'killed:1';
    await redis.admin.zadd('sg:fleet', Date.now() - 3_600_000, name);
    expect(await lost()).toHaveLength(1);

    const { page, complaints } = await browser.page();
    const row = page.getByRole('region', { name: 'Lost gateways' }).getByRole('row', { name });
    await page.goto(`${here.adminUrl}/console/`);
    await page.getByLabel('Admin token').fill(root);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation').getByRole('link', { name: 'Gateways' }).click();
    await row.getByRole('button', { name: 'Forget' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('If it still runs, it is listed again.').waitFor();
    await dialog.getByLabel('Reason, for the audit log').fill(REASON);
    await dialog.getByRole('button', { name: 'Forget' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await lost()).toEqual([]);
    const [entry] = (await admin('GET', '/audit?limit=1')).body.entries;
    expect(entry).toMatchObject({ action: 'gateways.forget', target: name, reason: REASON });
    expect(complaints).toEqual([]);
  });
});
