import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { makeToken } from '../../src/operators/tokens.ts';
import { accessibilityFindings, RULES_OF_LOOKS } from '../support/axe.ts';
import { TestBrowser } from '../support/browser.ts';
import { TestGateway } from '../support/gateway.ts';
import { OPERATED_PLANS, operate } from '../support/operated.ts';

const root = makeToken();
const SCREEN = { colorScheme: 'light', reducedMotion: 'reduce' } as const;
const PHONE = {
  colorScheme: 'dark',
  reducedMotion: 'reduce',
  viewport: { width: 390, height: 844 },
  isMobile: true,
} as const;

describe('an operator without a mouse or without eyes', () => {
  let browser: TestBrowser;
  let gateway: TestGateway;
  let screen: Page;
  let phone: Page;
  let banned: string;
  beforeAll(async () => {
    gateway = await TestGateway.start({ plans: OPERATED_PLANS, env: { STOREGATE_ADMIN_TOKEN: root } });
    browser = await TestBrowser.start();
    banned = (await operate(gateway, root)).crawler.id;
    screen = (await browser.page(SCREEN)).page;
    phone = (await browser.page(PHONE)).page;
  });
  afterAll(async () => {
    await browser?.stop();
    await gateway?.stop();
  });

  const navigation = (page: Page) => page.getByRole('navigation');
  const focused = (page: Page) => page.evaluate('document.activeElement.textContent');

  /** The navigation is the list of views, so those to come are looked at too; and the view of a key that is banned. */
  async function views(page: Page): Promise<string[]> {
    const links = await navigation(page).getByRole('link').all();
    const hrefs = await Promise.all(links.map((link) => link.getAttribute('href')));
    return [...(hrefs.filter((href) => href!.startsWith('#/')) as string[]), `#/who/${banned}`];
  }

  /** Goes there by the navigation where it can, and waits until the view has what it asked for. */
  async function visit(page: Page, href: string) {
    const link = page.locator(`nav a[href="${href}"]`);
    if ((await link.count()) > 0) await link.click();
    else await page.evaluate(`location.hash = '${href}'`);
    await page.locator(`nav a[href="${href.split('/', 2).join('/')}"][aria-current=page]`).waitFor();
    await page.locator('main [aria-busy=true]').first().waitFor({ state: 'detached' });
    await page.locator('main h1').waitFor();
  }

  test('signs in without a barrier, with a wrong token first', async () => {
    for (const page of [screen, phone]) {
      await page.goto(`${gateway.adminUrl}/console/`);
      await page.locator('input[type=password]:focus').waitFor();
      await page.keyboard.type('wrong');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
    }
    expect(await accessibilityFindings(screen)).toEqual([]);
    expect(await accessibilityFindings(phone, { rules: RULES_OF_LOOKS })).toEqual([]);
    for (const page of [screen, phone]) {
      // What was wrong is selected, to be written over.
      await page.keyboard.type(root);
      await page.keyboard.press('Enter');
      await navigation(page).waitFor();
    }
  });

  test('meets no serious barrier in any view, on a screen and on a phone, in light and in dark', async () => {
    const found: Record<string, readonly string[]> = {};
    for (const href of await views(screen)) {
      await visit(screen, href);
      found[href] = await accessibilityFindings(screen);
      await visit(phone, href);
      const wide = await phone.evaluate('document.documentElement.scrollWidth > innerWidth');
      const looks = await accessibilityFindings(phone, { rules: RULES_OF_LOOKS });
      found[`${href} on a phone`] = wide ? [...looks, 'is wider than the screen'] : looks;
    }
    expect(Object.keys(found).length).toBeGreaterThan(1);
    expect(Object.entries(found).filter(([, findings]) => findings.length > 0)).toEqual([]);
  });

  test('is at the heading of a view when it opens, and skips to the content', async () => {
    const atHeading = async (href: string) => {
      expect([href, await screen.evaluate('document.activeElement.tagName')]).toEqual([href, 'H1']);
      expect(await screen.title()).toBe(`${await focused(screen)} · storegate console`);
    };
    const [first, ...others] = await views(screen);
    await visit(screen, first!);
    await screen.reload();
    await screen.locator('main h1').waitFor();
    await atHeading(first!);
    for (const href of others) {
      await visit(screen, href);
      await atHeading(href);
    }
    await screen.locator('.skip').focus();
    await screen.keyboard.press('Enter');
    expect(await screen.evaluate('document.activeElement.id')).toBe('content');
  });

  test('opens what asks before it acts, leaves it with Escape, and is where they were', async () => {
    const opened: string[] = [];
    for (const href of await views(screen)) {
      await visit(screen, href);
      // One for each word: rows repeat theirs.
      const buttons = screen.locator('main button[aria-haspopup=dialog]:enabled');
      const words = [...new Set(await buttons.allTextContents())];
      for (const word of words) {
        const button = buttons.getByText(word, { exact: true }).first();
        await button.focus();
        await screen.keyboard.press('Enter');
        await screen.locator('dialog[open]').waitFor();
        expect([href, word, await screen.evaluate('document.activeElement.closest("dialog") !== null')]).toEqual([
          href,
          word,
          true,
        ]);
        expect([href, word, await accessibilityFindings(screen, { within: 'dialog[open]' })]).toEqual([href, word, []]);
        await screen.keyboard.press('Escape');
        await screen.locator('dialog').waitFor({ state: 'detached' });
        await button.and(screen.locator(':focus')).waitFor();
        opened.push(`${href} ${word}`);
      }
    }
    expect(opened.length).toBeGreaterThan(10);
  });

  test('is told where the gateway does not answer', async () => {
    await screen.route('**/console/api/**', (route) => route.abort());
    await screen.reload();
    await screen.getByRole('alert').first().waitFor();
    expect(await accessibilityFindings(screen, { within: 'main' })).toEqual([]);
    await screen.unroute('**/console/api/**');
  });

  test('is asked in a dialog whether they are still there', async () => {
    await phone.clock.install();
    await phone.reload();
    await navigation(phone).waitFor();
    await phone.clock.fastForward('29:01');
    await phone.getByRole('alertdialog', { name: 'Still there?' }).waitFor();
    expect(await focused(phone)).toBe('Stay signed in');
    expect(await accessibilityFindings(phone, { within: 'dialog' })).toEqual([]);
  });
});
