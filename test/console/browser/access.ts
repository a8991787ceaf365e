import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityFindings, findingsInAllLooks } from '../../support/axe.ts';
import type { ConsoleFixture } from './fixture.ts';

export function accessTests(fixture: ConsoleFixture): void {
  describe('an operator with keyboard or screen reader', () => {
    let page: Page;
    beforeAll(async () => {
      ({ page } = await fixture.page('admin'));
    });

    const navigation = () => page.getByRole('navigation');

    async function views(): Promise<string[]> {
      const links = await navigation().getByRole('link').all();
      const hrefs = (await Promise.all(links.map((link) => link.getAttribute('href')))) as string[];
      return [
        ...hrefs.filter((href) => href.startsWith('#/')),
        `#/keys/${fixture.operated.crawler.id}`,
      ];
    }

    async function visit(href: string) {
      const link = page.locator(`nav a[href="${href}"]`);
      if ((await link.count()) > 0) await link.click();
      else await page.evaluate(`location.hash = '${href}'`);
      await settled(href);
    }

    async function settled(href: string) {
      await page
        .locator(`nav a[href="${href.split('/', 2).join('/')}"][aria-current=page]`)
        .waitFor();
      await page.locator('main [aria-busy=true]').first().waitFor({ state: 'detached' });
      await page.locator('main h1').waitFor();
    }

    async function isAtHeading(href: string) {
      expect([href, await page.evaluate('document.activeElement.tagName')]).toEqual([href, 'H1']);
      const heading = await page.evaluate('document.activeElement.textContent');
      expect(await page.title()).toBe(`${heading} · storegate console`);
    }

    test('signs in without accessibility barriers, after a wrong token', async () => {
      await page.goto(`${fixture.gateway.adminUrl}/console/`);
      await page.locator('input[type=password]:focus').waitFor();
      await page.keyboard.type('wrong');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
      expect(await findingsInAllLooks(page)).toEqual([]);
      await page.keyboard.type(await fixture.token('admin'));
      await page.keyboard.press('Enter');
      await navigation().waitFor();
    });

    test('is at the heading of each opened view, without serious findings in it', async () => {
      const hrefs = await views();
      expect(hrefs.length).toBeGreaterThan(5);
      await visit(hrefs[0]!);
      await page.reload();
      for (const href of hrefs) {
        if (href === hrefs[0]) await settled(href);
        else await visit(href);
        await isAtHeading(href);
        await page.evaluate(
          `document.querySelectorAll('[aria-label^="Last "] tr:nth-child(n+4)').forEach((row) => row.remove())`,
        );
        if (href === '#/configuration') await page.getByLabel('Only settings from').fill('log.');
        // What is around the view is the same in each.
        const within = href === hrefs[0] ? 'html' : 'main';
        expect([href, await findingsInAllLooks(page, within)]).toEqual([href, []]);
      }
    });

    test('skips to the content', async () => {
      await page.locator('.skip').focus();
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('content');
    });

    test('opens a dialog before an action, leaves it with Escape, and gets the focus back', async () => {
      const opened = new Set<string>();
      for (const href of await views()) {
        await visit(href);
        // One button per label: rows and views repeat the same buttons.
        const buttons = page.locator('main button[aria-haspopup=dialog]:enabled');
        const words = new Set(await buttons.allTextContents()).difference(opened);
        for (const word of words) {
          const button = buttons.getByText(word, { exact: true }).first();
          await button.focus();
          await page.keyboard.press('Enter');
          await page.locator('dialog[open]').waitFor();
          expect([
            href,
            word,
            await page.evaluate('document.activeElement.closest("dialog") !== null'),
          ]).toEqual([href, word, true]);
          expect([
            href,
            word,
            await accessibilityFindings(page, { within: 'dialog[open]' }),
          ]).toEqual([href, word, []]);
          await page.keyboard.press('Escape');
          await page.locator('dialog').waitFor({ state: 'detached' });
          await button.and(page.locator(':focus')).waitFor();
          opened.add(word);
        }
      }
      expect(opened.size).toBeGreaterThan(8);
    });

    test('is notified if the gateway does not respond', async () => {
      await page.route('**/console/api/**', (route) => route.abort());
      await page.reload();
      await page.getByRole('alert').first().waitFor();
      expect(await accessibilityFindings(page, { within: 'main' })).toEqual([]);
      await page.unroute('**/console/api/**');
      await page.reload();
      await navigation().waitFor();
    });
  });
}
