import { expect, test } from '@jest/globals';
import { accessibilityFindings } from '../../support/axe.ts';
import type { ConsoleStand } from './stand.ts';

export function referenceTests(stand: ConsoleStand): void {
  test('an operator opens the reference, tries a read, sees the command for it, and returns', async () => {
    const { page, complaints } = await stand.open('read', 'plans');
    await page.getByRole('link', { name: 'API reference' }).click();
    const list = page.locator('#operations-Keys-listKeys');
    await list.locator('.opblock-summary-control').click();
    await list.getByText('Needs a token of the role read, or of a higher one.').waitFor();
    await list.locator('.try').click();
    await list.locator('.execute').click();
    await list.locator('.live-responses-table', { hasText: '"account": "acme"' }).waitFor();
    expect(await list.locator('.curl').textContent()).toContain(`${stand.gateway.adminUrl}/keys`);
    expect(await list.locator('.curl').textContent()).toContain('Authorization: Bearer YOUR_TOKEN');
    const create = page.locator('#operations-Keys-createKey');
    await create.locator('.opblock-summary-control').click();
    await create.getByText('It cannot be tried from this page').waitFor();
    expect(await create.locator('.parameter__name').count()).toBeGreaterThan(1);
    expect(await create.locator('.opblock-section-request-body').count()).toBe(1);
    expect(await create.locator('.model-example').count()).toBeGreaterThan(1);
    const controls = create
      .locator('.opblock-body')
      .locator('input, select, textarea, .try, .execute');
    expect(await controls.and(create.locator(':not(.examples-select-element)')).count()).toBe(0);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Back to the console' }).click();
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    expect(complaints).toEqual([]);
  });
}
