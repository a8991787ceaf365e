import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '../../support/until.ts';
import { type ConsoleFixture, goTo } from './fixture.ts';

export function requestsTests(fixture: ConsoleFixture): void {
  describe('the view Requests', () => {
    let page: Page;
    let complaints: string[];
    let initech: { secret: string; id: string };
    let umbrella: { secret: string; id: string };

    beforeAll(async () => {
      initech = await fixture.gateway.key({ account: 'initech', plan: 'pair' });
      umbrella = await fixture.gateway.key({ account: 'umbrella', plan: 'pair' });
      ({ page, complaints } = await fixture.open('read', 'requests'));
    });

    const get = async ({ secret }: { secret: string }, path = '/pets') =>
      (await fixture.gateway.client.get(path).set('X-API-Key', secret)).headers['x-request-id']!;
    const rows = () => page.getByRole('table').locator('tbody tr');

    test('lists earlier and new refusals, and can be filtered and stopped', async () => {
      await page.getByText('Live', { exact: true }).waitFor();
      for (let i = 0; i < 3; i++) await get(initech);
      await rows().filter({ hasText: 'initech' }).first().waitFor();
      fixture.gateway.clock.pass(1_000);
      await get(umbrella, '/nowhere');
      await rows().filter({ hasText: 'umbrella' }).filter({ hasText: 'not_found' }).waitFor();
      expect(await rows().first().innerText()).toContain('umbrella');

      expect(await page.getByRole('combobox', { name: 'API', exact: true }).count()).toBe(0);
      await page.getByLabel('Account').fill('initech');
      await rows().filter({ hasText: 'umbrella' }).waitFor({ state: 'detached' });
      await rows().first().waitFor();
      expect(await rows().allInnerTexts()).toEqual([
        expect.stringMatching(/429\s+rate_limit_exceeded\s+GET listPets/),
      ]);
      expect(new URL(page.url()).hash).toBe('#/requests?account=initech');
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByText('Paused').waitFor();
      await get(initech);
      await get(umbrella, '/nowhere');
      await page.getByRole('button', { name: 'Resume' }).click();
      await rows().getByText('2', { exact: true }).click();
      expect(
        await rows().filter({ hasText: 'initech' }).getByRole('link', { name: /:/ }).count(),
      ).toBe(2);
      expect(await rows().count()).toBe(1);
      await page.getByLabel('Code').selectOption('invalid_request');
      await page.getByText('None in memory. New ones appear here.').waitFor();
    });

    test('explains a request step by step, by its row or by the search for its id, or says why it cannot', async () => {
      const id = await get(initech);
      await page
        .getByRole('combobox', { name: 'Search', exact: true })
        .fill(` ${id.toUpperCase()} `);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Steps' }).waitFor();
      expect(new URL(page.url()).hash).toBe(`#/requests/${id}`);
      const steps = await page.locator('.steps li').allInnerTexts();
      expect(steps.map((step) => step.replace(/\s+/g, ' '))).toEqual([
        'http passed accepted',
        expect.stringMatching(
          new RegExp(`^authenticate passed ${initech.id} of initech, plan pair`),
        ),
        expect.stringMatching(
          /^admit refused limited; minute has less than 1 unit left; .*retry at (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d, in \d+ s/,
        ),
        'contract not reached',
        'backend not reached',
      ]);
      expect(await page.getByRole('row', { name: /^minute/ }).innerText()).toMatch(
        /minute\s+fixed\s+2\s+0\s+0/,
      );
      const who = page.locator('dl.facts').getByRole('link', { name: initech.id });
      expect(await who.getAttribute('href')).toBe(`#/keys/${initech.id}`);

      await page.goto(
        `${fixture.gateway.adminUrl}/console/#/requests/0b7f4a52-63c1-4c0e-9d0f-2f6f1c9a7b3e`,
      );
      await page
        .getByRole('alert')
        .getByText(/^No gateway has the request .* keeps good ones since \d/)
        .waitFor();
      await page.getByRole('link', { name: 'All refusals' }).click();
      await rows().first().getByRole('link').first().click();
      await page.getByRole('heading', { name: 'Steps' }).waitFor();
      expect(complaints.filter((complaint) => !complaint.includes('404'))).toEqual([]);
    });
  });
}

export function apisTests(fixture: ConsoleFixture): void {
  describe('with several APIs', () => {
    let settings: string;
    const file = () => join(fixture.gateway.folder, 'gateway.yaml');
    const use = async (text: string) => {
      writeFileSync(file(), text);
      expect((await fixture.admin('POST', '/reload')).status).toBe(200);
    };
    beforeAll(() => {
      settings = readFileSync(file(), 'utf8');
    });
    afterAll(() => use(settings));

    test('the views Requests, Usage and Top clients can be filtered by API', async () => {
      const { client } = fixture.gateway;
      const upstream = { url: 'http://127.0.0.1:1' };
      const apis = [{ name: 'files', path: '/files', contract: 'none', upstream }];
      await use(`${settings}apis: ${JSON.stringify(apis)}\n`);
      await client.get('/files/a').expect(401);
      await client.get('/pets').expect(401);
      const counted = async () => (await fixture.admin('GET', '/top?by=operations&api=files')).body;
      await until('the refusal is counted', async () => (await counted()).total === 1);

      const { page, complaints } = await fixture.open('read', 'requests');
      const choose = (api: string) =>
        page.getByRole('combobox', { name: 'API', exact: true }).selectOption(api);
      const rows = page.getByRole('table').locator('tbody tr');
      await choose('files');
      await page.waitForURL(/#\/requests\?api=files$/);
      await rows.filter({ hasText: 'listPets' }).first().waitFor({ state: 'detached' });
      await rows.filter({ hasText: 'GET files/(no operation)' }).waitFor();
      expect(await rows.count()).toBe(1);
      await goTo(page, 'top-clients?by=operations');
      await choose('files');
      await page.getByText('1 refused requests in the last hour').waitFor();
      await goTo(page, 'usage?by=operation');
      await choose('files');
      const usage = page.getByRole('region', { name: 'Usage' });
      await usage.getByRole('row', { name: /^Total 0 1 1 0 / }).waitFor();
      expect(complaints).toEqual([]);
    });

    test('a new key may be for one API alone', async () => {
      const { page, complaints } = await fixture.open('operate', 'keys');
      await page.getByRole('button', { name: 'Create a key' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('textbox', { name: 'Account' }).fill('of-files');
      await dialog.getByText('Limits, expiry, addresses, scopes, metadata').click();
      await dialog.getByLabel('APIs').fill('files');
      await dialog.getByRole('button', { name: 'Create a key' }).click();
      await dialog.getByText(/plan free, account of-files/).waitFor();
      const { body } = await fixture.admin('GET', '/keys?account=of-files');
      expect(body.keys).toMatchObject([{ apis: ['files'] }]);
      expect(complaints).toEqual([]);
    });
  });
}
