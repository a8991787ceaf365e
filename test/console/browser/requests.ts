import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { TestBrowser } from '../support/browser.ts';
import { TestGateway } from '../support/gateway.ts';

const PLANS = 'plans:\n  free: { windows: [{ limit: 2, per: minute }] }\n';

describe('the view Requests', () => {
  let browser: TestBrowser;
  let gateway: TestGateway;
  let page: Page;
  let complaints: string[];
  let acme: { secret: string; id: string };
  let umbrella: { secret: string; id: string };

  beforeAll(async () => {
    [browser, gateway] = await Promise.all([TestBrowser.start(), TestGateway.start({ plans: PLANS })]);
    [acme, umbrella] = [await gateway.key(), await gateway.key({ account: 'umbrella' })];
    ({ page, complaints } = await browser.page());
    await page.goto(`${gateway.adminUrl}/console/#/requests`);
  });
  afterAll(async () => {
    await browser.stop();
    await gateway.stop();
  });

  const get = async ({ secret }: { secret: string }, path = '/pets') =>
    (await gateway.client.get(path).set('X-API-Key', secret)).headers['x-request-id']!;
  const rows = () => page.getByRole('table').locator('tbody tr');

  test('lists refusals as they come, also those before, and can be filtered and stopped', async () => {
    await page.getByText('Gateways have none in memory').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    for (let i = 0; i < 3; i++) await get(acme);
    await rows().filter({ hasText: 'rate_limit_exceeded' }).first().waitFor();
    await get(umbrella, '/nowhere');
    await rows().filter({ hasText: 'not_found' }).waitFor();
    expect(await rows().first().innerText()).toContain('umbrella');

    await page.getByLabel('Account').fill('acme');
    await page.getByRole('button', { name: 'Filter' }).click();
    await rows().filter({ hasText: 'umbrella' }).waitFor({ state: 'detached' });
    expect(await rows().allInnerTexts()).toEqual([expect.stringMatching(/429\s+rate_limit_exceeded\s+GET listPets/)]);
    expect(new URL(page.url()).hash).toBe('#/requests?account=acme');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused').waitFor();
    await get(acme);
    await get(umbrella, '/nowhere');
    await page.getByRole('button', { name: 'Go on' }).click();
    await rows().nth(1).waitFor();
    expect(await rows().filter({ hasText: 'acme' }).count()).toBe(2);
  });

  test('explains one step by step, by its row or by its id, and says why it cannot', async () => {
    const id = await get(acme);
    await page.getByLabel('X-Request-Id').fill(` ${id.toUpperCase()} `);
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByRole('heading', { name: 'Its way' }).waitFor();
    expect(new URL(page.url()).hash).toBe(`#/requests/${id}`);
    const steps = await page.locator('.steps li').allInnerTexts();
    expect(steps.map((step) => step.replace(/\s+/g, ' '))).toEqual([
      'door passed taken',
      expect.stringMatching(new RegExp(`^authenticate passed ${acme.id} of acme, plan free`)),
      expect.stringMatching(
        /^admit refused limited; nothing is left of minute for 1 unit; .*try again at \d\d:\d\d:\d\d, in \d+ s/,
      ),
      'contract not reached',
      'store not reached',
    ]);
    expect(await page.getByRole('row', { name: /^minute/ }).innerText()).toMatch(/minute\s+fixed\s+2\s+0\s+0/);
    const who = page.locator('dl.facts').getByRole('link', { name: acme.id });
    expect(await who.getAttribute('href')).toBe(`#/who/${acme.id}`);

    await page.goto(`${gateway.adminUrl}/console/#/requests/0b7f4a52-63c1-4c0e-9d0f-2f6f1c9a7b3e`);
    await page
      .getByRole('alert')
      .getByText(/^No gateway has the request .* keeps good ones since 20/)
      .waitFor();
    await page.getByRole('link', { name: 'All refusals' }).click();
    await rows().first().getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Its way' }).waitFor();
    expect(complaints.filter((complaint) => !complaint.includes('404'))).toEqual([]);
  });
});
