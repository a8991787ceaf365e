import { describe, expect, test } from '@jest/globals';
import { type ConsoleFixture, goTo } from './fixture.ts';

const SIZE = { width: 390, height: 844 };

/** Elements with content that is wider than they are. The navigation scrolls on its own. */
const WIDE = `[document.documentElement, ...document.querySelectorAll('main, main :not(.unseen, input)')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth && clientWidth > 0)
  .map(({ tagName, className }) => tagName + ' ' + className)`;

const OPEN_ALL = `document.querySelectorAll('main summary').forEach((summary) => summary.click())`;

export function phoneTests(fixture: ConsoleFixture): void {
  describe('the console on a phone', () => {
    test('scrolls no view sideways, and shows the actions of a row before its cells', async () => {
      const { page } = await fixture.open('admin', 'plans');
      const { crawler } = fixture.operated;
      const hrefs = await page
        .locator('nav a[href^="#/"]')
        .evaluateAll((links) =>
          links.map((link) => (link as unknown as { hash: string }).hash.slice(2)),
        );
      expect(hrefs.length).toBeGreaterThan(5);
      await page.setViewportSize(SIZE);
      const places = [
        'plans/basic',
        'plans?new=plan',
        `keys/${crawler.id}`,
        'keys/acme',
        'keys?find=e',
      ];
      const wide: [place: string, elements: unknown][] = [];
      for (const place of [...hrefs, ...places]) {
        await goTo(page, place);
        await page.locator('main [aria-busy=true]').first().waitFor({ state: 'detached' });
        if (place === 'plans/basic') await page.getByRole('button', { name: 'Simulate' }).click();
        await page.evaluate(OPEN_ALL);
        wide.push([place, await page.evaluate(WIDE)]);
      }

      expect(wide).toEqual(wide.map(([place]) => [place, []]));
      const { id } = await fixture.gateway.key({ account: 'phone', plan: 'free' });
      await fixture.admin('PUT', `/bans/${id}`, { duration: '1h', reason: 'a test' });
      await goTo(page, 'bans');
      const row = page
        .getByRole('row')
        .filter({ hasText: id })
        .filter({ has: page.getByRole('button') });
      const action = await row.getByRole('button').first().boundingBox();
      expect(action!.y).toBeLessThan((await row.getByRole('cell').first().boundingBox())!.y);
      expect(await page.evaluate(WIDE)).toEqual([]);
      await page.setViewportSize({ width: 1280, height: 900 });
    });
  });
}
