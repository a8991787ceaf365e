import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityFindings } from '../../support/axe.ts';
import { Reader } from '../../support/reader.ts';
import type { ReferenceFixture } from './fixture.ts';

export function readingTests(fixture: ReferenceFixture): void {
  describe('a reader of the page', () => {
    test('gets it from this origin only, without a violation of the policy, small and without a layout shift', async () => {
      const { shipped, reader, complaints } = fixture;
      const origins = new Set<string>();
      reader.page.on('request', (request) => void origins.add(new URL(request.url()).origin));
      await reader.open(shipped.url);
      expect([...origins]).toEqual([shipped.url]);
      expect(complaints).toEqual([]);
      expect(await reader.page.evaluate(LAYOUT_SHIFT)).toBeLessThan(0.1);
      expect(await reader.page.evaluate(TRANSFERRED)).toBeLessThan(110_000);
    });

    test('sees the groups Pets and Store over the other tags', async () => {
      const groups = fixture.reader.page.locator('.tag-group');
      expect(await groups.locator('> h2').allTextContents()).toEqual(['Pets', 'Store', 'Gateway']);
      expect(await groups.nth(0).locator('> h3').allTextContents()).toEqual([
        'Animals',
        'Categories',
      ]);
      expect(await groups.nth(1).locator('> h3').allTextContents()).toEqual([
        'Orders',
        'Inventory',
      ]);
    });

    test('meets no serious barrier on it, on a screen and on a phone, in light and in dark mode', async () => {
      expect(await fixture.reader.accessibilityFindings()).toEqual([]);
    });

    test('finds no button and no field at an operation that cannot be tried', async () => {
      const orders = await fixture.reader.openOperation('Orders', 'listOrders');
      expect(await orders.textContent()).toContain('It cannot be tried from this page.');
      expect(await orders.locator('.fields tbody tr').count()).toBe(2);
      expect(await orders.locator('.responses .code').count()).toBeGreaterThan(0);
      expect(await orders.locator('.details').locator(CONTROLS).count()).toBe(0);
    });

    test('finds every shown operation in the table of contents, and gets there', async () => {
      const { reader } = fixture;
      const contents = reader.page.getByRole('navigation', { name: 'Contents' });
      const listed = await contents
        .locator('.group a')
        .evaluateAll((links) => links.map((link) => link.hash));
      const drawn = await reader.page
        .locator('.operation')
        .evaluateAll((blocks) => blocks.map((block) => block.id));
      expect(listed.map((hash) => decodeURIComponent(hash.slice(1))).sort()).toEqual(drawn.sort());
      expect(await contents.locator('.group > p').allTextContents()).toEqual([
        'Pets',
        'Store',
        'Gateway',
      ]);
      await contents.getByRole('link', { name: 'Show the usage of your key' }).click();
      await reader.operation('Usage', 'getUsage').locator('.details').waitFor();
    });

    test('sees beta and experimental operations, and the cost of an operation', async () => {
      const { reader } = fixture;
      expect(
        await reader.operation('Inventory', 'listInventory').locator('.badge').allTextContents(),
      ).toEqual(['beta']);
      const operation = await reader.openOperation('Inventory', 'setInventory');
      expect(await operation.locator('.badge').allTextContents()).toEqual(['experimental']);
      expect(await operation.locator('.details > .facts').textContent()).toContain(
        'Counts as 1 request.',
      );
    });

    test('follows a refusal of an operation to its remedy', async () => {
      const { page } = fixture.reader;
      const operation = fixture.reader.operation('Orders', 'listOrders');
      await operation.getByRole('link', { name: 'rate_limit_exceeded' }).click();
      await page.waitForURL(/#errors-rate_limit_exceeded$/);
      expect(await page.locator('#errors-rate_limit_exceeded').textContent()).toContain(
        'lead to a ban',
      );
    });

    test('has the list beside the operations on a wide screen, without a button for it', async () => {
      const { page } = fixture.reader;
      expect(await page.getByRole('navigation', { name: 'Contents' }).isVisible()).toBe(true);
      expect(await page.getByRole('button', { name: 'Contents' }).isVisible()).toBe(false);
    });

    test('without scripts finds limits, errors and the way to the contract', async () => {
      const { page } = await fixture.browser.page({ javaScriptEnabled: false });
      await page.goto(`${fixture.brief.url}/docs/`);
      expect(await page.locator('noscript').textContent()).toContain('openapi.json');
      expect(await page.locator('.plans tbody tr').count()).toBe(3);
      expect(await page.locator('.error').count()).toBeGreaterThan(20);
      await page.context().close();
    });
  });

  describe('a reader with a phone', () => {
    let phone: Reader;
    let page: Page;
    let complaints: string[];
    beforeAll(async () => {
      ({ page, complaints } = await fixture.browser.page({
        viewport: { width: 360, height: 740 },
        isMobile: true,
      }));
      phone = new Reader(page);
      await phone.open(fixture.shipped.url, '#retrying');
    });

    test('gets to the target of the URL, also below the operations, without a layout shift', async () => {
      await page.waitForFunction(`(() => {
        const { top } = document.getElementById('retrying').getBoundingClientRect();
        return top >= 0 && top < innerHeight / 2;
      })()`);
      expect(await page.evaluate(LAYOUT_SHIFT)).toBeLessThan(0.1);
    });

    test('jumps from the list of operations, which then closes', async () => {
      const contents = page.getByRole('navigation', { name: 'Contents' });
      const button = page.getByRole('button', { name: 'Contents' });
      expect(await contents.isVisible()).toBe(false);
      await page.locator('#errors').scrollIntoViewIfNeeded();
      await button.click();
      expect(
        await accessibilityFindings(page, { within: '#contents, [popovertarget=contents]' }),
      ).toEqual([]);
      await contents.getByRole('link', { name: 'Place an order' }).click();
      await phone.operation('Orders', 'createOrder').locator('.details').waitFor();
      expect(await contents.isVisible()).toBe(false);
      await button.click();
      await contents.getByRole('link', { name: 'Errors' }).click();
      expect(await contents.isVisible()).toBe(false);
      expect(complaints).toEqual([]);
    });

    test('scrolls in one direction only', async () => {
      for (const id of ['listPets', 'createPet', 'getPet'])
        await phone.openOperation('Animals', id);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      await page.context().close();
    });
  });
}

const CONTROLS = 'input, select, textarea, .try, .execute';

/** Cumulative layout shift since the page began to load (Layout Instability API). */
const LAYOUT_SHIFT = `new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => { for (const { value } of list.getEntries()) sum += value; })
    .observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => setTimeout(() => resolve(sum)));
})`;

/** Bytes over the wire, with headers, of the page and all resources. */
const TRANSFERRED = `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .reduce((sum, { transferSize }) => sum + transferSize, 0)`;
