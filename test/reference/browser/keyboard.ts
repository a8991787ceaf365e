import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import type { ReferenceFixture } from './fixture.ts';

export function keyboardTests(fixture: ReferenceFixture): void {
  describe('a reader without a mouse', () => {
    let page: Page;
    let pets: Locator;
    beforeAll(async () => {
      ({ page } = await fixture.load(fixture.brief));
      pets = fixture.reader.operation('Animals', 'listPets');
    });

    const focused = () => page.evaluate('document.activeElement.textContent');

    async function tabTo(selector: string): Promise<void> {
      for (let presses = 0; presses < 80; presses++) {
        if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`))
          return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`The tab key does not lead to ${selector}.`);
    }

    test('skips to the content', async () => {
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.className')).toBe('skip');
      await page.keyboard.press('Enter');
      await page.locator('main:focus').waitFor();
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.id')).toBe('key-secret');
    });

    test('enters the key, opens, tries and sends by keyboard', async () => {
      const { secret } = await fixture.brief.key();
      await page.keyboard.type(secret);
      await page.keyboard.press('Enter');
      await tabTo('.operation:first-of-type > summary');
      await page.keyboard.press('Enter');
      await tabTo('.try');
      await page.keyboard.press('Enter');
      await tabTo('.execute');
      await page.keyboard.press('Enter');
      const limits = pets.locator('.limit-state');
      await limits.waitFor();
      expect(await limits.textContent()).toMatch(/Remaining\s*59/);
    });

    test('keeps the focus when a request is sent and its response cleared, and hears the response', async () => {
      await fixture.useKey('single');
      const announced = page.locator('#announcement');
      await pets.locator('.execute').focus();
      await page.keyboard.press('Enter');
      await announced.filter({ hasText: 'GET /pets: response 200. 0 left.' }).waitFor();
      expect(await focused()).toBe('Execute');
      await page.keyboard.press('Enter');
      await pets.locator('.limit-state.refused').waitFor();
      expect(await focused()).toBe('Execute');
      expect(await announced.textContent()).toMatch(
        /^GET \/pets: response 429\. Over the limit: wait \d+ seconds\.$/,
      );
      await pets.getByRole('button', { name: 'Clear' }).focus();
      await page.keyboard.press('Enter');
      await pets.locator('.limit-state').waitFor({ state: 'detached' });
      expect(await focused()).toBe('Execute');
    });

    test('sends nothing twice while a response is pending', async () => {
      await fixture.useKey('free');
      let sent = 0;
      const held = Promise.withResolvers<void>();
      await page.route('**/pets', async (route) => {
        sent++;
        await held.promise;
        await route.continue();
      });
      const execute = pets.locator('.execute');
      await execute.click();
      await pets.locator('.execute[aria-disabled=true]').waitFor();
      await execute.click({ force: true });
      await execute.press('Enter');
      held.resolve();
      await pets.locator('.limit-state').waitFor();
      expect(sent).toBe(1);
      expect(await execute.getAttribute('aria-disabled')).toBe('false');
      await page.unrouteAll();
    });
  });
}
