import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { TestBrowser } from '../support/browser.ts';
import { TestGateway } from '../support/gateway.ts';
import { Reader } from '../support/reader.ts';

describe('a reader of the page', () => {
  let browser: TestBrowser;
  let gateway: TestGateway;
  /** One page for tests that only read, because opening a page takes longer than reading it. */
  let desk: Reader;
  beforeAll(async () => {
    gateway = await TestGateway.start();
    browser = await TestBrowser.start();
    desk = (await reader()).reader;
  });
  afterAll(async () => {
    await browser?.stop();
    await gateway?.stop();
  });

  async function reader(options: Parameters<TestBrowser['page']>[0] = {}, place = '') {
    const { page, complaints } = await browser.page(options);
    const reader = new Reader(page);
    await reader.open(gateway.url, place);
    return { reader, page, complaints };
  }

  test('gets it from this origin alone, without a complaint of the policy, light and without a jump', async () => {
    const { page, complaints } = await browser.page();
    const origins = new Set<string>();
    page.on('request', (request) => void origins.add(new URL(request.url()).origin));
    await new Reader(page).open(gateway.url);
    expect([...origins]).toEqual([gateway.url]);
    expect(complaints).toEqual([]);
    expect(await page.evaluate(LAYOUT_SHIFT)).toBeLessThan(0.1);
    expect(await page.evaluate(TRANSFERRED)).toBeLessThan(460_000);
  });

  test('sees the groups Pets and Store over the other tags', async () => {
    const { page } = desk;
    const groups = page.locator('.tag-group');
    expect(await groups.locator('> h2').allTextContents()).toEqual(['Pets', 'Store', 'Gateway']);
    expect(await groups.nth(0).locator('.opblock-tag > a').allTextContents()).toEqual(['Animals', 'Categories']);
    expect(await groups.nth(1).locator('.opblock-tag > a').allTextContents()).toEqual(['Orders', 'Inventory']);
  });

  test('finds a button at every operation but GET /store/orders', async () => {
    const without: string[] = [];
    await desk.leafThrough(async (operation) => {
      const buttons = await operation
        .locator('.opblock-body')
        .getByRole('button', { name: /try|execute/i })
        .count();
      if (buttons === 0) without.push((await operation.getAttribute('id'))!);
    });
    expect(without).toEqual(['operations-Orders-listOrders']);
    const orders = await desk.openOperation('Orders', 'listOrders');
    expect(await orders.textContent()).toContain('It cannot be tried from this page.');
  });

  test('finds nothing to fill in where nothing can be tried', async () => {
    const { page } = await browser.page();
    await page.route('**/openapi.json', async (route) => {
      const answer = await route.fetch();
      const { paths, ...contract } = (await answer.json()) as { paths: Record<string, Record<string, object>> };
      for (const operation of Object.values(paths).flatMap((item) => Object.values(item))) {
        Object.assign(operation, { 'x-try-it': false });
      }
      await route.fulfill({ response: answer, json: { ...contract, paths } });
    });
    const it = new Reader(page);
    await it.open(gateway.url);
    let parameters = 0;
    let examples = 0;
    await it.leafThrough(async (operation) => {
      // Which of several examples is shown can be chosen all the same.
      const controls = operation.locator('.opblock-body').locator('input, select, textarea, .try, .execute');
      expect(await controls.and(operation.locator(':not(.examples-select-element)')).count()).toBe(0);
      parameters += await operation.locator('.parameter__name').count();
      examples += await operation.locator('.model-example').count();
    });
    expect(parameters).toBeGreaterThan(10);
    expect(examples).toBeGreaterThan(10);
  });

  test('finds every operation that is drawn in the list of contents, and gets there', async () => {
    const contents = desk.page.getByRole('navigation', { name: 'Contents' });
    const listed = await contents.locator('.group a').evaluateAll((links) => links.map((link) => link.hash));
    const drawn = await desk.page.locator('.opblock').evaluateAll((blocks) => blocks.map((block) => block.id));
    expect(listed.map((hash) => hash.replace('#/', 'operations/').replaceAll('/', '-')).sort()).toEqual(drawn.sort());
    expect(await contents.locator('.group > p').allTextContents()).toEqual(['Pets', 'Store', 'Gateway']);
    await contents.getByRole('link', { name: 'Tell where your key stands' }).click();
    await desk.operation('Usage', 'getUsage').locator('.opblock-body').waitFor();
  });

  test('follows a deprecated operation to its successor', async () => {
    const { reader: it, page } = await reader({}, '#/Animals/getPet');
    const notice = it.operation('Animals', 'getPet').locator('.deprecation');
    expect(await notice.textContent()).toMatch(/1 October 2026.*Served until 1 October 2027/);
    await notice.getByRole('link', { name: /List pets/ }).click();
    await it.operation('Animals', 'listPets').locator('.opblock-body').waitFor();
    await page.waitForURL(/#\/Animals\/listPets$/);
  });

  test('lands where the address says, also below the operations, without a jump', async () => {
    const { page } = await reader({}, '#retrying');
    await page.waitForFunction(`(() => {
      const { top } = document.getElementById('retrying').getBoundingClientRect();
      return top >= 0 && top < innerHeight / 2;
    })()`);
    expect(await page.evaluate(LAYOUT_SHIFT)).toBeLessThan(0.1);
  });

  test('sees what is beta, what is experimental and what an operation costs', async () => {
    const it = desk;
    expect(await it.operation('Inventory', 'listInventory').locator('.badge').allTextContents()).toEqual(['beta']);
    expect(await it.operation('Inventory', 'setInventory').locator('.badge').allTextContents()).toEqual([
      'experimental',
    ]);
    const operation = await it.openOperation('Inventory', 'setInventory');
    expect(await operation.locator('.facts').textContent()).toContain('Counts as 1 request.');
  });

  test('comes from a refusal of an operation to what can be done about it', async () => {
    const { page } = desk;
    const operation = await desk.openOperation('Orders', 'getOrder');
    await operation.getByRole('link', { name: 'rate_limit_exceeded' }).click();
    await page.waitForURL(/#error-rate_limit_exceeded$/);
    expect(await page.locator('#error-rate_limit_exceeded').textContent()).toContain('back off exponentially');
  });

  describe('with a phone', () => {
    let phone: Awaited<ReturnType<typeof reader>>;
    beforeAll(async () => {
      phone = await reader({ viewport: { width: 360, height: 740 }, isMobile: true });
    });

    test('jumps from the list of operations, which then is out of the way', async () => {
      const { reader: it, page, complaints } = phone;
      const contents = page.getByRole('navigation', { name: 'Contents' });
      const button = page.getByRole('button', { name: 'Contents' });
      expect(await contents.isVisible()).toBe(false);
      await page.locator('#errors').scrollIntoViewIfNeeded();
      await button.click();
      expect(await it.accessibilityFindings()).toEqual([]);
      await contents.getByRole('link', { name: 'Place an order' }).click();
      await it.operation('Orders', 'createOrder').locator('.opblock-body').waitFor();
      expect(await contents.isVisible()).toBe(false);
      await button.click();
      await contents.getByRole('link', { name: 'Errors' }).click();
      expect(await contents.isVisible()).toBe(false);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(complaints).toEqual([]);
    });

    test('scrolls in one direction only', async () => {
      const { reader: it, page } = phone;
      for (const id of ['listPets', 'createPet', 'getPet']) await it.openOperation('Animals', id);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    });
  });

  test('has the list beside the operations where there is room, and needs no button for it', async () => {
    const { page } = desk;
    expect(await page.getByRole('navigation', { name: 'Contents' }).isVisible()).toBe(true);
    expect(await page.getByRole('button', { name: 'Contents' }).isVisible()).toBe(false);
  });

  test('needs no mouse: gives the key, opens, tries and sends by keyboard', async () => {
    const { reader: it, page } = await reader();
    const { secret } = await gateway.key();
    await tabTo(page, '#key-secret');
    await page.keyboard.type(secret);
    await page.keyboard.press('Enter');
    await tabTo(page, '#operations-Animals-listPets .opblock-summary-control');
    await page.keyboard.press('Enter');
    await tabTo(page, '#operations-Animals-listPets .try');
    await page.keyboard.press('Enter');
    await tabTo(page, '#operations-Animals-listPets .execute');
    await page.keyboard.press('Enter');
    const standing = it.operation('Animals', 'listPets').locator('.standing');
    await standing.waitFor();
    expect(await standing.textContent()).toMatch(/Remaining\s*59/);
  });

  test('without scripts finds limits, errors and the way to the contract', async () => {
    const { page } = await browser.page({ javaScriptEnabled: false });
    await page.goto(`${gateway.url}/docs/`);
    expect(await page.locator('noscript').textContent()).toContain('openapi.json');
    expect(await page.locator('.plans tbody tr').count()).toBe(4);
    expect(await page.locator('.error').count()).toBeGreaterThan(20);
  });
});

async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`The tab key does not lead to ${selector}.`);
}

/** Cumulative layout shift since the page began to load (Layout Instability API). */
const LAYOUT_SHIFT = `new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => { for (const { value } of list.getEntries()) sum += value; })
    .observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => setTimeout(() => resolve(sum)));
})`;

/** Bytes over the wire, with headers, of the page and everything it loaded. */
const TRANSFERRED = `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .reduce((sum, { transferSize }) => sum + transferSize, 0)`;
