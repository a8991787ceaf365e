import { expect, test } from '@jest/globals';
import { until } from '../../support/until.ts';
import type { ConsoleStand } from './stand.ts';

export function topTests(stand: ConsoleStand): void {
  test('the view Top clients shows who sends and is refused most, with links to them', async () => {
    const { shop, crawler, mobile } = stand.operated;
    await until(
      'all are counted',
      async () => (await stand.admin('GET', '/top')).body.total === 44,
    );
    const { page, complaints } = await stand.open('read', 'top-clients');
    await page.getByText('44 requests with a valid key in the last hour').waitFor();
    const rows = page.getByRole('region', { name: 'Top clients, last hour' }).getByRole('row');
    expect(await rows.allInnerTexts()).toEqual([
      expect.stringMatching(/^Key\s+Count\s+Of all\s+Account/),
      expect.stringMatching(new RegExp(`^${shop.id}\\s+24\\s+55 %\\s+acme\\s+pro`)),
      expect.stringMatching(new RegExp(`^${crawler.id}\\s+12\\s+27 %\\s+northwind\\s+trial`)),
      expect.stringMatching(new RegExp(`^${mobile.id}\\s+8\\s+18 %\\s+acme\\s+free`)),
    ]);
    expect(await rows.nth(1).getByRole('link', { name: shop.id }).getAttribute('href')).toBe(
      `#/keys-and-accounts/${shop.id}`,
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
