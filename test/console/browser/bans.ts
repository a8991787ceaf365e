import { beforeAll, describe, expect, test } from '@jest/globals';
import type { ConsoleFixture } from './fixture.ts';

export function bansTests(fixture: ConsoleFixture): void {
  describe('the view Bans', () => {
    let one: string;
    let other: string;
    beforeAll(async () => {
      const make = async (account: string) =>
        (await fixture.admin('POST', '/keys', { account, plan: 'free' })).body.id as string;
      [one, other] = [await make('acme'), await make('beta')];
      await fixture.admin('PUT', `/bans/${one}`, { duration: '2h', reason: 'scrapes' });
      await fixture.admin('PUT', `/bans/${other}`, { duration: '1h', reason: 'loops' });
    });

    test('shows bans with reasons, extends and lifts them, and shows the results', async () => {
      const { page, complaints } = await fixture.open('operate', 'bans');
      const inForce = page.getByRole('region', { name: 'Current bans' });
      const row = (id: string) => inForce.getByRole('row').filter({ hasText: id });
      await row(one).waitFor();
      expect(await row(one).getByRole('cell').allTextContents()).toEqual(
        expect.arrayContaining(['configuredscrapes', '1next 1h']),
      );

      await row(other).getByRole('button', { name: 'Extend' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Extension').fill('3h');
      await dialog.getByLabel('Reason').fill('still loops');
      await dialog.getByRole('button', { name: 'Extend' }).click();
      await dialog.getByText(`${other} is banned until`).waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
      await row(other).getByText('still loops').waitFor();

      await row(one).getByRole('button', { name: 'Lift ban' }).click();
      await dialog.getByRole('button', { name: 'Lift ban' }).click();
      await dialog.getByText(`The ban of ${one} is lifted.`).waitFor();
      await row(one).waitFor({ state: 'detached' });
      expect(await dialog.getByText(`The ban of ${one} is lifted.`).isVisible()).toBe(true);
      const log = page.getByRole('region', { name: 'Ban history' });
      await log.getByRole('cell', { name: 'lifted', exact: true }).waitFor();
      expect(
        await log.getByRole('row').filter({ hasText: 'scrapes' }).getByText('in force').count(),
      ).toBe(0);
      expect(complaints).toEqual([]);
    });

    test('has the history of one key or account, and offers no actions to a reader', async () => {
      const { page } = await fixture.open('read', 'bans');
      const log = page.getByRole('region', { name: 'Ban history' });
      await log.getByText('scrapes').waitFor();
      expect(await page.getByRole('main').getByRole('button').allTextContents()).toEqual([]);
      await page.getByLabel('Key or account').fill('beta');
      await log.getByText('scrapes').waitFor({ state: 'detached' });
      await log.getByText('loops', { exact: true }).waitFor();
      expect(page.url()).toContain('subject=beta');
    });
  });
}
