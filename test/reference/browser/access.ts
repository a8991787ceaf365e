import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestBrowser } from '../support/browser.ts';
import { TestGateway } from '../support/gateway.ts';
import { Reader } from '../support/reader.ts';

const PLANS = `
plans:
  free: { windows: [{ limit: 60, per: minute }, { limit: 1000, per: day }] }
  tiny: { windows: [{ limit: 1, per: minute }] }
`;
const LIST_PETS = ['Animals', 'listPets'] as const;
const GET_PET = ['Animals', 'getPet'] as const;
const LIST_ORDERS = ['Orders', 'listOrders'] as const;
const CREATE_ORDER = ['Orders', 'createOrder'] as const;
const LIST_CATEGORIES = ['Categories', 'listCategories'] as const;
const PET_ID = '[data-param-name=petId] input';

const DESKTOP = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true };

describe('a reader without a mouse or without eyes', () => {
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
      ({ it } = await reader(options, 'tiny'));
    });

    /** Looks once at all that changes when these operations are opened and tried. */
    const findings = (...operations: (readonly [tag: string, id: string])[]) =>
      it.accessibilityFindings(['#announcement', ...operations.map((it) => `#operations-${it.join('-')}`)].join(', '));

    test('before anything is touched', async () => {
      expect(await it.accessibilityFindings()).toEqual([]);
    });

    test('in operations that are open', async () => {
      for (const [tag, id] of [LIST_PETS, GET_PET, LIST_ORDERS, CREATE_ORDER]) await it.openOperation(tag, id);
      expect(await findings(LIST_PETS, GET_PET, LIST_ORDERS, CREATE_ORDER)).toEqual([]);
    });

    test('in forms, in one that lacks something, and in a refusal', async () => {
      const [pets, pet] = [it.operation(...LIST_PETS), it.operation(...GET_PET)];
      const categories = await it.openOperation(...LIST_CATEGORIES);
      await it.tryIt(categories);
      await it.send(categories);
      expect(await it.send(categories)).toContain('Over the limit');
      await it.tryIt(it.operation(...CREATE_ORDER));
      await it.tryIt(pets);
      await pets.getByRole('button', { name: 'Add integer item' }).click();
      await it.tryIt(pet);
      await pet.locator(PET_ID).fill('');
      await pet.locator('.execute').click();
      await pet.locator('.validation-errors').waitFor();
      expect(await findings(LIST_PETS, GET_PET, CREATE_ORDER, LIST_CATEGORIES)).toEqual([]);
      expect(await categories.locator('.standing.refused').count()).toBe(1);
    });

    test('in an answer, in an error, and where no answer came', async () => {
      const [pet, categories] = [it.operation(...GET_PET), it.operation(...LIST_CATEGORIES)];
      await it.useKey((await gateway.key({ plan: 'free' })).secret);
      await it.send(it.operation(...LIST_PETS));
      await pet.locator(PET_ID).fill('4711');
      await it.send(pet);
      expect(await pet.locator('.live-responses-table').textContent()).toContain('404');
      await it.page.route('**/categories', (route) => route.abort());
      await categories.locator('.execute').click();
      await it.page.getByText('no answer').waitFor();
      expect(await findings(LIST_PETS, GET_PET, LIST_CATEGORIES)).toEqual([]);
      expect(await it.page.locator('.live-responses-table').count()).toBe(3);
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
