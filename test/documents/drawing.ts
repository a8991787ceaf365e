import type { Page } from 'playwright-core';
import { TestBrowser } from '../support/browser.ts';
import { TestGateway } from '../support/gateway.ts';
import type { Examined } from './examine.ts';

/** In milliseconds, for the largest documents. */
const PATIENCE = 120_000;

const LINKS = 'nav a[href^="#/"]';

/**
 * Opens the reference of each document in a browser. Prints every difference, and returns the
 * number of documents with one.
 */
export async function drawAll(all: readonly Examined[]): Promise<number> {
  const browser = await TestBrowser.start();
  let different = 0;
  try {
    for (const one of all) {
      const differences = await draw(browser, one);
      for (const difference of differences) console.log(`${one.name}: drawn, ${difference}`);
      if (differences.length > 0) different++;
    }
  } finally {
    await browser.stop();
  }
  console.log(`${all.length - different} drawn, ${different} not`);
  return different;
}

async function draw(browser: TestBrowser, { path, outcome }: Examined): Promise<string[]> {
  const env = { STOREGATE_CONTRACT: path };
  const gateway = await TestGateway.start({ env, settings: 'usage: { enabled: false }' });
  const { page, complaints } = await browser.page();
  page.setDefaultTimeout(PATIENCE);
  try {
    await page.goto(`${gateway.url}/docs/`);
    await page.waitForSelector(LINKS, { state: 'attached' });
    return [...(await differencesOn(page, gateway.url, outcome.operations)), ...complaints];
  } catch (error) {
    return [String(error).split('\n')[0]!, ...complaints];
  } finally {
    await page.context().close();
    await gateway.stop();
  }
}

async function differencesOn(page: Page, url: string, operations: number): Promise<string[]> {
  const links = await operationLinks(page);
  const differences =
    links.length === operations ? [] : [`the contents have ${links.length} of ${operations}`];
  const last = links.at(-1);
  if (last === undefined) return differences;
  await page.goto('about:blank');
  await page.goto(`${url}/docs/${last.href}`);
  await page
    .locator(OPENED)
    .filter({ hasText: withBreaks(last.path) })
    .first()
    .waitFor();
  return differences;
}

interface OperationLink {
  readonly href: string;
  readonly path: string;
}

/** In the contents an operation has the fragment `#/tag/operationId`, once for each of its tags. */
async function operationLinks(page: Page): Promise<OperationLink[]> {
  const links = await page.$$eval(LINKS, (found) =>
    found.map((link) => ({
      href: link.getAttribute('href') ?? '',
      path: link.getAttribute('title') ?? '',
    })),
  );
  const byOperation = new Map<string, OperationLink>();
  for (const link of links) {
    const [, tag, id] = link.href.split('/');
    if (tag && id) byOperation.set(id, link);
  }
  return [...byOperation.values()];
}

const OPENED = 'main details[open], main .is-open';

/** Long paths have places where a line may break. */
const withBreaks = (path: string): RegExp =>
  new RegExp([...path].map((char) => char.replace(/[^\w]/, '\\$&')).join('\u200b?'));
