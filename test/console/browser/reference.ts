import { expect, test } from '@jest/globals';
import { accessibilityFindings } from '../../support/axe.ts';
import type { ConsoleFixture } from './fixture.ts';

export function referenceTests(fixture: ConsoleFixture): void {
  test('an operator opens the reference, tries a read, sees the command for it, and returns', async () => {
    const { page, complaints } = await fixture.open('read', 'plans');
    await page.getByRole('link', { name: 'API reference' }).click();
    const list = page.locator('[id="/Keys/listKeys"]');
    await list.locator('> summary').click();
    await list.getByText('Needs a token of the role read, or of a higher one.').waitFor();
    await list.locator('.try').click();
    await list.locator('.execute').click();
    await list.locator('.answer', { hasText: '"account": "acme"' }).waitFor();
    const code = await list.locator('.snippets pre').textContent();
    expect(code).toContain(`${fixture.gateway.adminUrl}/keys`);
    expect(code).toContain('Authorization: Bearer YOUR_TOKEN');
    const create = page.locator('[id="/Keys/createKey"]');
    await create.locator('> summary').click();
    await create.getByText('It cannot be tried from this page').waitFor();
    expect(await create.locator('.fields tbody tr').count()).toBeGreaterThan(1);
    expect(await create.locator('.request-body').count()).toBe(1);
    expect(await create.locator('.content .code').count()).toBeGreaterThan(1);
    const controls = create.locator('.details').locator('input, select, textarea, .try, .execute');
    expect(await controls.count()).toBe(0);
    // test/reference has the rest of the page.
    expect(await accessibilityFindings(page, { within: '.operation[open]' })).toEqual([]);
    await page.getByRole('link', { name: 'Back to the console' }).click();
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    expect(complaints).toEqual([]);
  });
}
