import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { draftOf } from '../../src/console/browser/views/plans/draft.ts';
import { adminOf } from '../support/admin.ts';
import { TestBrowser } from '../support/browser.ts';
import { TestGateway } from '../support/gateway.ts';
import { MINUTE } from '../support/limits.ts';
import { until } from '../support/until.ts';

const PLANS =
  'plans:\n  free: { windows: [{ limit: 20, per: minute }, { limit: 100, per: day }], concurrency: 9, weight: 3 }\n';

describe('a plan as it is written in the field', () => {
  const free = { limits: '60/minute,1000/day' };
  test.each([
    ['30/minute,1000/day', { limits: '30/minute,1000/day' }],
    [' 30/minute ', { limits: '30/minute', drop: ['day'] }],
    ['10/10s:sliding, 5/hour', { limits: '10/10s:sliding, 5/hour', drop: ['minute', 'day'] }],
    ['', { limits: null }],
  ])('%j is all that it has then', (text, expected) => {
    expect(draftOf(free, text, 'key')).toEqual({ ...expected, count: 'key' });
  });

  test('drops nothing of a plan that had none', () => {
    expect(draftOf({ limits: null }, '1/day', 'account')).toEqual({ limits: '1/day', count: 'account' });
  });
});

describe('the view of plans', () => {
  let browser: TestBrowser;
  let gateway: TestGateway;
  let page: Page;
  let complaints: string[];
  beforeAll(async () => {
    gateway = await TestGateway.start({ plans: PLANS });
    browser = await TestBrowser.start();
    ({ page, complaints } = await browser.page());
  });
  afterAll(async () => {
    await browser?.stop();
    await gateway?.stop();
  });

  const open = (hash: string) => page.goto(`${gateway.adminUrl}/console/#/${hash}`);

  test('lists them, and whose they are', async () => {
    await gateway.key();
    await open('plans');
    const row = page.getByRole('row', { name: /^free/ });
    expect(await row.innerText()).toMatch(/20\/minute,100\/day\s+each key\s+1/);
    expect(await row.getByRole('link', { name: '1', exact: true }).getAttribute('href')).toBe('#/keys?plan=free');
    await row.getByRole('link', { name: 'free' }).click();
    await page.getByRole('heading', { name: 'Plan free', level: 1 }).waitFor();
  });

  test('tells whom other limits would have refused, and puts them in force with a reason', async () => {
    const { id, secret } = await gateway.key({ account: 'globex' });
    for (let i = 0; i < 9; i++) await gateway.client.get('/pets').set('X-API-Key', secret);
    await until('all are counted', async () => {
      return (await adminOf(gateway.adminUrl)('GET', '/top')).body.total === 9;
    });
    gateway.clock.pass(2 * MINUTE);
    await open('plans/free');
    await page.getByRole('textbox', { name: 'Limits' }).fill('4/minute,100/day,50/hour');
    await page.getByRole('button', { name: 'Try' }).click();
    await page.getByText('1 key would have been limited.').waitFor();
    expect(await page.getByText('Nobody would be refused at once.').count()).toBe(1);
    expect(await page.getByText('What was used by hour is not known').count()).toBe(1);
    const row = page.getByRole('region', { name: 'Who would have been limited' }).getByRole('row', { name: id });
    expect(await row.innerText()).toMatch(/globex\s+minute\s+9 of 4\s+\S+\s+1\s+5/);
    expect(await row.getByRole('link', { name: id }).getAttribute('href')).toBe(`#/who/${id}`);

    await page.getByRole('textbox', { name: 'Limits' }).fill('10/minute');
    await page.getByRole('button', { name: 'Try' }).click();
    await page.getByText('Nobody would have been limited.').waitFor();
    await page.getByRole('button', { name: 'Put in force …' }).click();
    await page.getByLabel(/^Reason/).fill('too many crawlers');
    await page.getByRole('button', { name: 'Put in force', exact: true }).click();
    await page.getByText('Plan free has 10/minute now.').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.locator('dl.facts').getByText('10/minute', { exact: true }).waitFor();
    await page.locator('dl.facts').getByText('9 at once', { exact: true }).waitFor();
    expect((await adminOf(gateway.adminUrl)('GET', '/plans/free')).body).toMatchObject({
      limits: '10/minute',
      concurrency: 9,
      weight: 3,
    });
  });

  test('says what is wrong with limits, and of a plan that there is not', async () => {
    await open('plans/free');
    await page.getByRole('textbox', { name: 'Limits' }).fill('many');
    await page.getByRole('button', { name: 'Try' }).click();
    await page.getByRole('alert').filter({ hasText: 'must look like 60/minute' }).waitFor();
    await open('plans/gold');
    await page.getByRole('alert').filter({ hasText: 'There is no plan "gold"' }).waitFor();
  });

  test('shows what limits did to the requests of the plan', async () => {
    await open('plans/free');
    await page.getByText('As a table').click();
    await page.getByRole('cell', { name: '9', exact: true }).waitFor();
  });

  test('offers to put a plan only to those who may', async () => {
    const admin = adminOf(gateway.adminUrl);
    const { body } = await admin('POST', '/tokens', { name: 'reader', role: 'read' });
    await open('plans/free');
    await page.reload();
    await page.getByLabel('Admin token').fill(body.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Try' }).click();
    await page.getByText('no key has other limits then').waitFor();
    expect(await page.getByRole('button', { name: /^Put/ }).count()).toBe(0);
    expect(complaints.filter((complaint) => !/status of 4\d\d/.test(complaint))).toEqual([]);
  });
});
