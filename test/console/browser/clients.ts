import { describe, expect, test } from '@jest/globals';
import { makeSecret } from '../../../src/records/keys/secret.ts';
import type { ConsoleFixture } from './fixture.ts';

export function whoTests(fixture: ConsoleFixture): void {
  describe('the page of a key or account', () => {
    const make = async (draft: object): Promise<{ id: string; key: string }> =>
      (await fixture.admin('POST', '/keys', { plan: 'three', ...draft })).body;
    const send = (key: string) => fixture.gateway.client.get('/pets').set('X-API-Key', key);

    test('leads from a part of the label to quota, refusals and the author of a ban', async () => {
      const { id, key } = await make({
        account: 'acme',
        label: `Nightly import ${'x'.repeat(150)}`,
      });
      for (let i = 0; i < 4; i++) await send(key);
      await fixture.admin('PUT', `/bans/${id}`, {
        duration: '2h',
        reason: 'scrapes the catalogue',
      });
      const { page, complaints } = await fixture.open('read', 'keys');
      await page.getByRole('combobox', { name: 'Search', exact: true }).fill('nightly');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: id }).waitFor();
      await page.getByText(/banned until .* by configured: scrapes the catalogue/).waitFor();
      await page.getByText('3 of 3 · used up').waitFor();
      const traffic = page.getByRole('region', { name: 'Requests', exact: true });
      await traffic.getByLabel('In').selectOption('since this morning');
      await traffic.getByText('4 requests, 1 refused or failed.').waitFor();
      await traffic.getByRole('row', { name: 'rate_limit_exceeded listPets 429 1' }).waitFor();
      const addresses = page.getByRole('region', { name: 'Addresses of requests' });
      await addresses.getByRole('row', { name: /^127\.0\.0\.1 3 1 / }).waitFor();
      const calls = page.getByRole('region', { name: 'Last successful calls' }).getByRole('row');
      expect(await calls.allInnerTexts()).toEqual([
        expect.stringMatching(/^When\s+Request\s+Status\s+From\s+Took$/),
        ...Array(3).fill(expect.stringMatching(/GET listPets\s+200\s+127\.0\.0\.1\s+[\d.]+ ms$/)),
      ]);
      await page.getByText('3 of 1,000').waitFor();
      const refused = page.getByRole('link', { name: 'GET listPets' });
      expect(await refused.first().getAttribute('href')).toMatch(/^#\/requests\/[0-9a-f-]{36}$/);
      await page.getByRole('cell', { name: '429 rate_limit_exceeded' }).waitFor();
      await page.setViewportSize({ width: 390, height: 800 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      await page.setViewportSize({ width: 1280, height: 900 });
      // An operator with read access is offered no actions.
      expect(await page.getByRole('main').getByRole('button').allTextContents()).toEqual([]);
      expect(complaints).toEqual([]);
    });

    test('shows a new secret once, and refusals of the API in words', async () => {
      const { id, key: old } = await make({ account: 'gamma' });
      const { page } = await fixture.open('operate', `keys/${id}`);
      const rotate = async () => {
        await page.getByRole('main').getByRole('button', { name: 'Rotate' }).first().click();
        await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
      };
      await rotate();
      const secret = (await page.locator('code.secret').textContent())!;
      expect((await send(secret)).status).toBe(200);
      expect((await send(old)).headers['x-key-retires']).toBeDefined();
      await page.getByRole('button', { name: 'Close' }).click();
      // A closed dialog has no role, but stays for a moment.
      await page.locator('dialog').waitFor({ state: 'detached' });
      expect(await page.content()).not.toContain(secret);
      await page.getByText('the previous secret works until').waitFor();

      await rotate();
      await page
        .getByRole('dialog')
        .getByRole('alert')
        .getByText('to end it now, add force', { exact: false })
        .waitFor();
      expect((await send(old)).status).toBe(200);
      await page.getByLabel('End the previous secret now').check();
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
      await page.locator('code.secret').waitFor();
      expect((await send(old)).status).toBe(401);
    });

    test('names the keys that an action on an account affects', async () => {
      const { id } = await make({ account: 'delta', plan: 'team' });
      await make({ account: 'delta', plan: 'team' });
      const { page } = await fixture.open('operate', `keys/${id}`);
      await page.getByRole('main').getByRole('button', { name: 'Ban', exact: true }).click();
      await page
        .getByText('Refuses every request of all keys of delta on plan team (counted together)')
        .waitFor();
    });

    test('keeps what is typed into a search as soon as the field is there', async () => {
      const { page } = await fixture.open('read', 'keys');
      const typed = await page.evaluate(`new Promise((resolve) => {
        new MutationObserver((_, observer) => {
          const field = document.querySelector('input[name=actor]');
          if (field === null) return;
          observer.disconnect();
          field.value = 'typed';
          requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(() => setTimeout(() => resolve(field.value)))));
        }).observe(document.body, { childList: true, subtree: true });
        location.hash = '#/audit';
      })`);
      expect(typed).toBe('typed');
    });

    test('sends no secret that is pasted into the search, and leaves it in no URL', async () => {
      const secret = makeSecret('live');
      const { page } = await fixture.open('read', 'keys');
      const sent: string[] = [];
      const goBy = (hash: string) => page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      page.on('request', (request) => void sent.push(`${request.url()} ${request.postData()}`));
      await page.getByRole('combobox', { name: 'Search', exact: true }).fill(secret);
      await page.keyboard.press('Enter');
      await page.getByText('This looks like the secret of a key or token').waitFor();
      await goBy(`#/keys/${secret}`);
      await page.waitForURL(/#\/keys\?refused=secret$/);
      await goBy(`#/keys?find=${secret}`);
      await page.waitForURL(/#\/keys\?refused=secret$/);
      for (const [hash, view] of [
        [`#/${secret}`, 'keys'],
        [`#/requests/${secret}`, 'requests'],
        [`#/audit?target=${secret}`, 'audit'],
        [`#/plans/${secret}`, 'plans'],
      ]) {
        await goBy(hash!);
        await page.waitForURL(new RegExp(`#/${view}\\?refused=secret$`));
      }
      for (const [view, field] of [
        ['requests', 'Key'],
        ['audit', 'Operator'],
      ]) {
        await goBy(`#/${view}`);
        await page.getByLabel(field!, { exact: true }).fill(secret);
        await page.waitForURL(new RegExp(`#/${view}\\?refused=secret$`));
      }
      expect(sent.join('\n')).not.toContain(secret.slice(0, 24));
      expect(await page.content()).not.toContain(secret);
    });
  });
}
