import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestBrowser } from '../support/browser.ts';
import { describeInBrowser } from '../support/browser-tests.ts';
import { TestGateway } from '../support/gateway.ts';
import { Reader } from '../support/reader.ts';

const PLANS = `
plans:
  free: { windows: [{ limit: 60, per: minute }, { limit: 1000, per: day }] }
  tiny: { windows: [{ limit: 1, per: minute }] }
`;
const DESKTOP = { viewport: { width: 1280, height: 900 } };
/** All that changes when this operation is opened and tried. */
const changedBy = (tag: string, id: string) => `#operations-${tag}-${id}, #announcement`;
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true };

describeInBrowser('a reader without a mouse or without eyes', () => {
  let browser: TestBrowser;
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await TestGateway.start({ plans: PLANS });
    browser = await TestBrowser.start();
  });
  afterAll(async () => {
    await browser?.stop();
    await gateway?.stop();
  });

  async function reader(options: Parameters<TestBrowser['page']>[0] = {}, plan: string | null = 'free') {
    const { page } = await browser.page(options);
    const it = new Reader(page);
    await it.open(gateway.url);
    if (plan !== null) await it.useKey((await gateway.key({ plan })).secret);
    return { it, page };
  }

  // No style depends on both, the size and the colours, so each once with either is enough: axe takes most of a suite's time.
  describe.each([
    ['a screen, light', { ...DESKTOP, colorScheme: 'light' }],
    ['a phone, dark', { ...PHONE, colorScheme: 'dark' }],
  ] as const)('meets no serious barrier on %s', (_what, options) => {
    /** One page that goes from state to state: opening it costs more than looking at it. */
    let it: Reader;
    beforeAll(async () => {
      ({ it } = await reader(options));
    });
    const findings = (tag: string, id: string) => it.accessibilityFindings(changedBy(tag, id));

    test('before anything is touched', async () => {
      expect(await it.accessibilityFindings()).toEqual([]);
    });

    test.each([
      ['Animals', 'listPets'],
      ['Animals', 'getPet'],
      ['Orders', 'listOrders'],
      ['Orders', 'createOrder'],
    ])('in an operation that is open: %s, %s', async (tag, id) => {
      await it.openOperation(tag, id);
      expect(await findings(tag, id)).toEqual([]);
    });

    test('in forms', async () => {
      await it.tryIt(it.operation('Orders', 'createOrder'));
      await it.tryIt(it.operation('Animals', 'listPets'));
      await it.operation('Animals', 'listPets').getByRole('button', { name: 'Add integer item' }).click();
      expect(await findings('Orders', 'createOrder')).toEqual([]);
      expect(await findings('Animals', 'listPets')).toEqual([]);
    });

    test('in an answer', async () => {
      await it.send(it.operation('Animals', 'listPets'));
      expect(await findings('Animals', 'listPets')).toEqual([]);
    });

    test('in a form that lacks something, and in an error', async () => {
      const operation = it.operation('Animals', 'getPet');
      const petId = operation.locator('[data-param-name=petId] input');
      await it.tryIt(operation);
      await petId.fill('');
      await operation.locator('.execute').click();
      await operation.locator('.validation-errors').waitFor();
      expect(await findings('Animals', 'getPet')).toEqual([]);
      await petId.fill('4711');
      await it.send(operation);
      expect(await operation.locator('.live-responses-table').textContent()).toContain('404');
      expect(await findings('Animals', 'getPet')).toEqual([]);
    });

    test('in a refusal', async () => {
      await it.useKey((await gateway.key({ plan: 'tiny' })).secret);
      const operation = await it.openOperation('Categories', 'listCategories');
      await it.tryIt(operation);
      await it.send(operation);
      expect(await it.send(operation)).toContain('Over the limit');
      expect(await findings('Categories', 'listCategories')).toEqual([]);
    });

    test('where no answer came', async () => {
      const operation = it.operation('Categories', 'listCategories');
      await it.page.route('**/categories', (route) => route.abort());
      await operation.locator('.execute').click();
      await it.page.getByText('no answer').waitFor();
      expect(await findings('Categories', 'listCategories')).toEqual([]);
    });
  });

  test('skips to the content, and is there', async () => {
    const { page } = await reader({}, null);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.className')).toBe('skip');
    await page.keyboard.press('Enter');
    await page.locator('main:focus').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.id')).toBe('key-secret');
  });

  test('keeps the focus when a request is sent and its answer cleared, and hears what came back', async () => {
    const { it, page } = await reader({}, 'tiny');
    const operation = await it.openOperation('Categories', 'listCategories');
    const focused = () => page.evaluate('document.activeElement.textContent');
    const heard = page.locator('#announcement');
    await it.tryIt(operation);
    await operation.locator('.execute').focus();
    await page.keyboard.press('Enter');
    await operation.locator('.standing').waitFor();
    expect(await focused()).toBe('Execute');
    expect(await heard.textContent()).toBe('GET /categories: answer 200. 0 left.');
    await page.keyboard.press('Enter');
    await operation.locator('.standing.refused').waitFor();
    expect(await focused()).toBe('Execute');
    expect(await heard.textContent()).toMatch(/^GET \/categories: answer 429\. Over the limit: wait \d+ seconds\.$/);
    await operation.getByRole('button', { name: 'Clear' }).focus();
    await page.keyboard.press('Enter');
    await operation.locator('.standing').waitFor({ state: 'detached' });
    expect(await focused()).toBe('Execute');
  });

  test('sends nothing twice while an answer is on its way', async () => {
    const { it, page } = await reader();
    const operation = await it.openOperation('Categories', 'listCategories');
    await it.tryIt(operation);
    let asked = 0;
    let letGo = () => {};
    await page.route('**/categories', async (route) => {
      asked++;
      await new Promise<void>((resolve) => {
        letGo = resolve;
      });
      await route.continue();
    });
    const execute = operation.locator('.execute');
    await execute.click();
    await operation.locator('.execute[aria-disabled=true]').waitFor();
    await execute.click({ force: true });
    await execute.press('Enter');
    letGo();
    await operation.locator('.standing').waitFor();
    expect(asked).toBe(1);
    expect(await execute.getAttribute('aria-disabled')).toBe('false');
  });
});
