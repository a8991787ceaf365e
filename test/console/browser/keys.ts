import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '../../support/until.ts';
import { type ConsoleFixture, goTo } from './fixture.ts';

export function keysTests(fixture: ConsoleFixture): void {
  describe('the view Keys', () => {
    beforeAll(async () => {
      for (let i = 1; i <= 105; i++) {
        fixture.gateway.clock.pass(1);
        await fixture.admin('POST', '/keys', {
          account: `shop-${i % 2}`,
          plan: 'free',
          label: `till ${i}`,
        });
      }
    });

    const labels = (page: Page) => page.locator('td[data-title=Label]').allTextContents();
    const shows = (page: Page, label: string) =>
      page.getByRole('cell', { name: label, exact: true }).waitFor();

    test('pages through all matching keys in both directions, and filters them by the URL', async () => {
      const { page, complaints } = await fixture.open('read', 'keys?find=till');
      const next = page.getByRole('button', { name: 'Next' });
      const back = page.getByRole('button', { name: 'Back' });
      await shows(page, 'till 105');
      expect(await labels(page)).toHaveLength(50);
      expect(await page.getByRole('button', { name: 'Create a key' }).count()).toBe(0);
      await next.focus();
      await page.keyboard.press('Enter');
      await shows(page, 'till 55');
      await page.keyboard.press('Enter');
      await shows(page, 'till 5');
      expect(await labels(page)).toEqual(['till 5', 'till 4', 'till 3', 'till 2', 'till 1']);
      expect(await next.isDisabled()).toBe(true);
      await page.goBack();
      await shows(page, 'till 55');
      await back.click();
      await shows(page, 'till 105');
      expect(await page.getByRole('button', { name: 'First page' }).isDisabled()).toBe(true);
      await page.getByLabel('Order').selectOption('oldest first');
      await shows(page, 'till 1');
      await page.getByLabel('Find').fill('TILL 1');
      await page.getByLabel('Account', { exact: true }).fill('shop-1');
      await page.getByLabel('Account', { exact: true }).press('Enter');
      const found = [
        'till 1',
        'till 11',
        'till 13',
        'till 15',
        'till 17',
        'till 19',
        'till 101',
        'till 103',
        'till 105',
      ];
      await until('only those are there', async () => isDeepStrictEqual(await labels(page), found));
      expect(page.url()).toContain('account=shop-1');
      expect(complaints).toEqual([]);
    });

    test('finds banned keys, keys of a plan, accounts and operations', async () => {
      const { id } = await fixture.gateway.key({ account: 'tilda', plan: 'trial' });
      await fixture.admin('PUT', `/bans/${id}`, { duration: '2h', reason: 'why' });
      const { page } = await fixture.open('read', 'keys');
      await page.getByLabel('Status').selectOption('banned');
      await page.getByLabel('Plan').selectOption('trial');
      await page.getByRole('row', { name: new RegExp(`^${id} tilda . trial banned`) }).waitFor();
      expect(await page.getByRole('cell', { name: 'active', exact: true }).count()).toBe(0);
      await page.getByRole('combobox', { name: 'Search', exact: true }).fill('ti');
      await page.keyboard.press('Enter');
      await page.getByText('Accounts: ').getByRole('link', { name: 'tilda' }).waitFor();
      await page.getByRole('combobox', { name: 'Search', exact: true }).fill('listpets');
      await page.keyboard.press('Enter');
      await page.waitForURL(/#\/usage\?operation=listPets$/);
      await page.getByRole('row', { name: /^acme / }).waitFor();
    });

    test('suggests while one types, and opens the chosen or the only match', async () => {
      const { id } = await fixture.gateway.key({ account: 'suggester', label: 'night train' });
      const { page, complaints } = await fixture.open('read', 'keys');
      const search = page.getByRole('combobox', { name: 'Search', exact: true });
      const matches = page.getByRole('listbox', { name: 'Matches' }).getByRole('option');
      await search.pressSequentially('suggest');
      await matches.nth(1).waitFor();
      expect(await matches.allInnerTexts()).toEqual([
        expect.stringMatching(/^Account\s+suggester$/),
        expect.stringMatching(new RegExp(`^Key\\s+${id}\\s+night train, suggester$`)),
      ]);
      await search.press('ArrowDown');
      expect(await search.getAttribute('aria-activedescendant')).toBe('match-0');
      await search.press('Enter');
      await page.waitForURL(/#\/keys\/suggester$/);
      expect(await search.inputValue()).toBe('');
      await search.fill('night tr');
      await search.press('Enter');
      await page.waitForURL(new RegExp(`#/keys/${id}$`));
      await search.fill('invent');
      await matches.filter({ hasText: 'listInventory' }).click();
      await page.waitForURL(/#\/usage\?operation=listInventory$/);
      const [refused] = (await fixture.admin('GET', '/requests?limit=1')).body.requests;
      await search.fill(refused.id.slice(0, 13));
      await matches.filter({ hasText: refused.id }).waitFor();
      await search.press('Escape');
      expect(await matches.count()).toBe(0);
      expect(complaints).toEqual([]);
    });

    test('shows the time of the keys while the state is down', async () => {
      const { page } = await fixture.open('read', 'plans');
      await page.route('**/console/api/keys?**', async (route) => {
        const response = await route.fetch();
        await route.fulfill({
          response,
          json: { ...(await response.json()), asOf: '2030-01-31T10:20:30Z' },
        });
      });
      await goTo(page, 'keys?find=till');
      await shows(page, 'till 105');
      const text =
        /^As of 2030-01-31 \d\d:\d0:30; Redis does not respond\. Changes fail until it is up\.$/;
      expect(await page.getByRole('note').textContent()).toMatch(text);
      await page.unroute('**/console/api/keys?**');
    });

    test('stays with a key that is being created: its secret is shown once', async () => {
      const { page } = await fixture.open('operate', 'keys');
      const [sent, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      await page.route('**/console/api/keys', async (route) => {
        sent.resolve();
        await release.promise;
        await route.continue();
      });
      await page.getByRole('button', { name: 'Create a key' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('textbox', { name: 'Account' }).fill('patient');
      await dialog.getByRole('button', { name: 'Create a key' }).click();
      await sent.promise;
      await page.keyboard.press('Escape');
      expect(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
      release.resolve();
      expect(await dialog.locator('code.secret').textContent()).toMatch(/^sg_live_/);
      await page.unrouteAll();
    });

    test('creates a key with all fields, and shows its secret once', async () => {
      const { page } = await fixture.open('operate', 'keys');
      await page.getByRole('button', { name: 'Create a key' }).click();
      const dialog = page.getByRole('dialog');
      const create = dialog.getByRole('button', { name: 'Create a key' });
      await dialog.getByRole('textbox', { name: 'Account' }).fill('no account');
      await create.click();
      await dialog.getByRole('alert').getByText('account', { exact: false }).first().waitFor();
      await dialog.getByRole('textbox', { name: 'Account' }).fill('made');
      await dialog.getByLabel('Label').fill('made here');
      await dialog.getByText('Limits, expiry, addresses').click();
      for (const [name, value] of Object.entries({
        'Own limits': '9/minute',
        'Expires in': '90d',
        Addresses: '10.0.0.0/8, ::1',
        Scopes: 'pets:write,pets:read',
        Metadata: 'team=pets, cost=a=b',
      }))
        await dialog.getByLabel(name).fill(value);
      await dialog.getByLabel('Reason').fill('Ticket 7');
      await create.click();
      const secret = (await page.locator('code.secret').textContent())!;
      expect(secret).toMatch(/^sg_live_/);
      await dialog.getByRole('button', { name: 'Close' }).click();
      await page.locator('dialog').waitFor({ state: 'detached' });
      expect(await page.content()).not.toContain(secret);
      await shows(page, 'made here');
      const [made] = (await fixture.admin('GET', '/keys?account=made')).body.keys;
      expect(made).toMatchObject({
        label: 'made here',
        limits: '9/minute',
        addresses: ['10.0.0.0/8', '::1'],
        metadata: { team: 'pets', cost: 'a=b' },
      });
      expect(made.scopes.toSorted()).toEqual(['pets:read', 'pets:write']);
      const [entry] = (await fixture.admin('GET', '/audit?limit=1')).body.entries;
      expect(entry).toMatchObject({
        action: 'keys.create',
        actor: 'operateer',
        reason: 'Ticket 7',
      });
    });
  });
}
