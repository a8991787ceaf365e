import type { Locator, Page } from 'playwright-core';
import { findingsInAllLooks } from './axe.ts';

export class Reader {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async open(url: string, place = ''): Promise<void> {
    await this.page.goto(`${url}/docs/${place}`);
    await this.page.locator('#reference:not([aria-busy])').waitFor();
  }

  /** Waits until the gateway has answered where the key stands, or refused it. */
  async useKey(secret: string): Promise<void> {
    await this.page.getByLabel('Your API key').fill(secret);
    await this.page.getByRole('button', { name: 'Use this key' }).click();
    await this.page.locator('#key-note', { hasText: /Plan \w+:|refuses it|could not/ }).waitFor();
  }

  /** `id`: the operationId. */
  operation(tag: string, id: string): Locator {
    return this.page.locator(`[id="/${tag}/${id}"]`);
  }

  async openOperation(tag: string, id: string): Promise<Locator> {
    const operation = this.operation(tag, id);
    if ((await operation.getAttribute('open')) === null)
      await operation.locator('> summary').click();
    await operation.locator('.responses').waitFor();
    return operation;
  }

  async tryIt(operation: Locator): Promise<void> {
    await operation.locator('.try').click();
    await operation.locator('.execute').waitFor();
  }

  /** Waits for the response, and returns the limits above it. */
  async send(operation: Locator): Promise<string> {
    const answered = this.page.waitForResponse((response) => !/openapi|docs/.test(response.url()));
    await operation.locator('.execute').click();
    const id = (await answered).headers()['x-request-id']!;
    await operation.locator('.answer', { hasText: id }).waitFor();
    return (await operation.locator('.limit-state').textContent())!;
  }

  async accessibilityFindings(within = 'html'): Promise<string[]> {
    return await findingsInAllLooks(this.page, within);
  }
}
