import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { TestBrowser, whyNoBrowser } from '../test/support/browser.ts';
import { TestGateway } from '../test/support/gateway.ts';
import { Reader } from '../test/support/reader.ts';

/** Takes the pictures of the reference that the README and docs/ show, from a real gateway with the real store. */
const folder = join(import.meta.dirname, '../docs/images');

const top = (selector: string) => `document.querySelector('${selector}').scrollIntoView({ behavior: 'instant' })`;

const scenes: Readonly<Record<string, (reader: Reader, secret: string) => Promise<void>>> = {
  async operations({ page }) {
    await page.evaluate(top('.tag-group'));
  },
  async try(reader, secret) {
    await reader.useKey(secret);
    const operation = await reader.openOperation('Inventory', 'getInventory');
    await reader.tryIt(operation);
    await reader.send(operation);
    await reader.page.evaluate(top('.opblock-body .parameters-container'));
  },
  async limits({ page }) {
    await page.evaluate(top('#limits'));
  },
};

const reason = whyNoBrowser();
if (reason !== null) throw new Error(`No screenshots: ${reason}`);
mkdirSync(folder, { recursive: true });
const gateway = await TestGateway.start();
const browser = await TestBrowser.start();
try {
  const { secret } = await gateway.key();
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [name, prepare] of Object.entries(scenes)) {
      await take(`reference-${name}-${colorScheme}`, { colorScheme }, (reader) => prepare(reader, secret));
    }
  }
  await take('reference-phone', { viewport: { width: 390, height: 844 }, isMobile: true }, async (reader) => {
    await reader.openOperation('Animals', 'getPet');
    await reader.page.evaluate(top('.tag-group'));
  });
} finally {
  await browser.stop();
  await gateway.stop();
}

async function take(name: string, options: BrowserContextOptions, prepare: (reader: Reader) => Promise<void>) {
  const { page } = await browser.page({ viewport: { width: 1200, height: 800 }, reducedMotion: 'reduce', ...options });
  const reader = new Reader(page);
  await reader.open(gateway.url);
  await prepare(reader);
  await withoutFocus(page);
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
  process.stdout.write(`docs/images/${name}.png\n`);
}

/** Removes the focus, whose ring would be in the picture. */
async function withoutFocus(page: Page): Promise<void> {
  await page.evaluate('document.activeElement.blur()');
}
