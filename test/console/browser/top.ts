import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { until } from '../../support/until.ts';
import type { ConsoleFixture } from './fixture.ts';

export function usageTests(fixture: ConsoleFixture): void {
  test('the view Usage sums up a month, downloads it, and names callers of deprecated operations', async () => {
    const { mobile } = fixture.operated;
    const { page, complaints } = await fixture.open('read', 'usage');
    const usage = page.getByRole('region', { name: 'Usage' });
    await usage.getByRole('row', { name: /^acme \d+ \d+ % 32 6 0 / }).waitFor();
    await usage.getByRole('row', { name: /^without a valid key 0 0 % 3 3 0 / }).waitFor();
    await usage.getByRole('row', { name: /^Total \d+ +47 16 0 / }).waitFor();
    const { crawler } = fixture.operated;
    const near = page.getByRole('region', { name: 'Clients near a limit' });
    await near.getByRole('row', { name: `${crawler.id} northwind trial 2 ` }).waitFor();
    const days = page.locator('figure').filter({ hasText: 'Requests per day' });
    expect(await days.getByRole('slider').getAttribute('aria-valuetext')).toMatch(
      /^\d{4}-\d\d-\d\d: answered \d+, limited \d+, banned \d+, other refusals \d+, failed 0$/,
    );
    await page.getByLabel('By').selectOption('Account and operation');
    await page.getByLabel('Account', { exact: true }).fill('acme');
    await page.keyboard.press('Enter');
    await usage.getByRole('row', { name: /^acme getPet / }).waitFor();
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download (CSV)' }).click();
    const file = await downloading;
    expect(file.suggestedFilename()).toMatch(/^usage-\d{4}-\d\d-by-account-operation\.csv$/);
    const text = readFileSync(await file.path(), 'utf8');
    expect(text).toMatch(/^account,operation,requests,/);
    expect(text).toContain('\nacme,listPets,');
    expect(text).not.toContain('northwind');
    const deprecated = page.getByRole('region', { name: 'Calls of deprecated operations' });
    await deprecated.getByRole('row', { name: `getPet acme ${mobile.id} 2 ` }).waitFor();
    expect(complaints).toEqual([]);
  });
}

export function topTests(fixture: ConsoleFixture): void {
  test('the view Top clients shows who sends and is refused most, with links to them', async () => {
    const { shop, crawler, mobile } = fixture.operated;
    await until(
      'all are counted',
      async () => (await fixture.admin('GET', '/top')).body.total === 44,
    );
    const { page, complaints } = await fixture.open('read', 'top-clients');
    await page.getByText('44 requests with a valid key in the last hour').waitFor();
    const rows = page.getByRole('region', { name: 'Top clients, last hour' }).getByRole('row');
    expect(await rows.allInnerTexts()).toEqual([
      expect.stringMatching(/^Key\s+Count\s+Of all\s+Account/),
      expect.stringMatching(new RegExp(`^${shop.id}\\s+24\\s+55 %\\s+acme\\s+pro`)),
      expect.stringMatching(new RegExp(`^${crawler.id}\\s+12\\s+27 %\\s+northwind\\s+trial`)),
      expect.stringMatching(new RegExp(`^${mobile.id}\\s+8\\s+18 %\\s+acme\\s+free`)),
    ]);
    expect(await rows.nth(1).getByRole('link', { name: shop.id }).getAttribute('href')).toBe(
      `#/keys/${shop.id}`,
    );
    await page
      .getByRole('combobox', { name: 'By', exact: true })
      .selectOption({ label: 'Refusals by operation' });
    await page.getByRole('rowheader', { name: 'listPets' }).waitFor();
    await page
      .getByRole('combobox', { name: 'In the', exact: true })
      .selectOption({ label: 'Last minute' });
    await page.getByText(/^\d+ refused requests in the last minute/).waitFor();
    expect(page.url()).toMatch(/#\/top-clients\?window=minute&by=operations$/);
    await page
      .getByRole('combobox', { name: 'By', exact: true })
      .selectOption({ label: 'Deprecated operations' });
    await page.getByText(/^\d+ calls? of deprecated operations in the last minute/).waitFor();
    expect(complaints).toEqual([]);
  });
}
