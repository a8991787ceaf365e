import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { makeToken } from '../src/records/operators/tokens.ts';
import { TestBrowser } from '../test/support/browser.ts';
import { TestGateway } from '../test/support/gateway.ts';
import { OPERATED_PLANS, operate } from '../test/support/operated.ts';

/**
 * Takes the pictures of the console that the README and docs/ show, from real gateways with the
 * real store.
 */
const folder = join(import.meta.dirname, '../docs/images');

const MINUTE = 60_000;
/** Minutes of traffic before the pictures. */
const MINUTES = 60;

mkdirSync(folder, { recursive: true });
const token = makeToken();
const browser = await TestBrowser.start();
const gateway = await TestGateway.start({
  plans: OPERATED_PLANS,
  env: { STOREGATE_ADMIN_TOKEN: token },
});
try {
  await takeConsole();
} finally {
  await gateway.stop();
  await browser.stop();
}

/** The console after an ordinary morning: the views in light, the first in the dark too. */
async function takeConsole() {
  gateway.clock.now = Date.now() - MINUTES * MINUTE;
  const { shop, mobile, crawler } = await operate(gateway, token);
  const keys = [shop.key, shop.key, shop.key, mobile.key, crawler.key];
  await fillHistory(keys);
  const ended = new AbortController();
  const traffic = send(keys, ended.signal);
  const { page } = await browser.page({
    viewport: { width: 1200, height: 800 },
    reducedMotion: 'reduce',
  });
  await page.goto(`${gateway.adminUrl}/console/`);
  await page.getByLabel('Admin token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation').waitFor();
  // The line of the last minutes is drawn as they go by.
  await page.waitForTimeout(60_000);
  await shoot(page, 'overview');
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await shoot(page, 'overview-dark');
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.evaluate(`location.hash = '#/keys/${crawler.id}'`);
  await shoot(page, 'clients');
  await page.evaluate("location.hash = '#/plans/free'");
  await page.getByLabel('Limits', { exact: true }).fill('20/minute,1000/day');
  await page.getByRole('button', { name: 'Simulate', exact: true }).click();
  await page.getByRole('heading', { name: 'On the last day' }).waitFor();
  await shoot(page, 'plans');
  await page.evaluate("location.hash = '#/requests'");
  await shoot(page, 'requests');
  ended.abort();
  await traffic;
}

/** Sends some requests in each of the minutes before, by the clock of the gateway. */
async function fillHistory(keys: readonly string[]) {
  for (let minute = MINUTES; minute > 0; minute--) {
    gateway.clock.now = Date.now() - minute * MINUTE;
    const requests = 60 + ((minute * 37) % 41);
    for (let sent = 0; sent < requests; sent++) {
      const path = sent % 5 === 4 ? '/pets?limit=ten' : '/pets';
      await gateway.client.get(path).set('X-API-Key', keys[sent % keys.length]!);
    }
    // A report is complete: it writes what was counted, in the minute of the clock.
    await gateway.admin.get('/usage/report').set({ Authorization: `Bearer ${token}` });
  }
}

/** Sends some ten requests a second by these keys in turn, under a clock that goes. */
async function send(keys: readonly string[], ended: AbortSignal) {
  const paths = ['/pets', '/categories', '/store/inventory', '/pets?limit=ten'];
  for (let sent = 0; !ended.aborted; sent++) {
    gateway.clock.now = Date.now();
    const path = paths[sent % 13 === 0 ? 3 : sent % 3]!;
    await gateway.client.get(path).set('X-API-Key', keys[sent % keys.length]!);
    await setTimeout(60 + (sent % 7) * 15);
  }
}

/** A picture of the console when the view has what it asked for. */
async function shoot(page: Page, view: string) {
  const path = join(folder, `console-${view}.png`);
  await page.locator('main h1').waitFor();
  await page.locator('main [aria-busy=true]').first().waitFor({ state: 'detached' });
  // Its ring would be in the picture.
  await page.evaluate('document.activeElement.blur()');
  await page.screenshot({ path, animations: 'disabled' });
  process.stdout.write(`${path}\n`);
}
