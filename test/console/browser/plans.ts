import { describe, expect, test } from '@jest/globals';
import { MINUTE } from '../../support/limits.ts';
import { until } from '../../support/until.ts';
import { type ConsoleFixture, goTo } from './fixture.ts';

export function plansTests(fixture: ConsoleFixture): void {
  describe('the view of plans', () => {
    const open = async (place: string) => (await fixture.open('admin', place)).page;

    test('lists them with their keys, and shows the public limits', async () => {
      await fixture.gateway.key({ plan: 'basic' });
      const page = await open('plans');
      const row = page.getByRole('row', { name: /^basic/ });
      expect(await row.innerText()).toMatch(/20 per minute, 100 per day\s+each key\s+1/);
      expect(await row.getByRole('link', { name: '1', exact: true }).getAttribute('href')).toBe(
        '#/keys?plan=basic',
      );
      const limits = page
        .locator('dl.facts')
        .filter({ hasText: 'requests without a key, per client address' });
      expect(await limits.innerText()).toMatch(/^Limits\s+8 per minute\s.*In flight\s+2 at once$/s);
      await row.getByRole('link', { name: 'basic' }).click();
      await page.getByRole('heading', { name: 'Plan basic', level: 1 }).waitFor();
    });

    test('simulates limits, and sets them with a reason', async () => {
      const { id, secret } = await fixture.gateway.key({ account: 'globex', plan: 'basic' });
      const before = (await fixture.admin('GET', '/top')).body.total;
      for (let i = 0; i < 9; i++)
        await fixture.gateway.client.get('/pets').set('X-API-Key', secret);
      await until('all are counted', async () => {
        return (await fixture.admin('GET', '/top')).body.total === before + 9;
      });
      fixture.gateway.clock.pass(2 * MINUTE);
      const page = await open('plans/basic');
      await page.getByRole('textbox', { name: 'Limits' }).fill('4/minute,100/day,50/hour');
      await page.getByRole('button', { name: 'Simulate' }).click();
      await page.getByText('1 key would have been limited.').waitFor();
      expect(await page.getByText('No client would be refused at once.').count()).toBe(1);
      expect(await page.getByText('The plan has not counted by hour so far').count()).toBe(1);
      const row = page
        .getByRole('region', { name: 'Limited clients' })
        .getByRole('row', { name: id });
      expect(await row.innerText()).toMatch(/globex\s+minute\s+9 of 4\s+\S+\s+1\s+5/);
      expect(await row.getByRole('link', { name: id }).getAttribute('href')).toBe(`#/keys/${id}`);

      await page.getByRole('textbox', { name: 'Limits' }).fill('10/minute');
      await page.getByRole('button', { name: 'Simulate' }).click();
      await page.getByText('No client would have been limited.').waitFor();
      await page.getByRole('button', { name: 'Apply …' }).click();
      await page.getByLabel(/^Reason/).fill('too many crawlers');
      await page.getByRole('button', { name: 'Apply', exact: true }).click();
      await page.getByText('Plan basic has 10 per minute now.').waitFor();
      await page.getByRole('button', { name: 'Close' }).click();
      await page.locator('dl.facts').getByText('10 per minute', { exact: true }).waitFor();
      await page.locator('dl.facts').getByText('9 at once', { exact: true }).waitFor();
      expect((await fixture.admin('GET', '/plans/basic')).body).toMatchObject({
        limits: '10/minute',
        concurrency: 9,
        weight: 3,
      });
      expect((await fixture.page('admin')).complaints).toEqual([]);
    });

    test('creates a plan after a simulation, and reports its mistakes in the form', async () => {
      const page = await open('plans');
      await page.getByRole('link', { name: 'New plan' }).click();
      await page.getByRole('heading', { name: 'New plan', level: 1 }).waitFor();
      const simulate = async (name: string, limits: string) => {
        await page.getByRole('textbox', { name: 'Name' }).fill(name);
        await page.getByRole('textbox', { name: 'Limits' }).fill(limits);
        await page.getByRole('button', { name: 'Simulate' }).click();
      };
      const alert = page.locator('main form').getByRole('alert');
      await simulate('Gold', '7/minute');
      await alert.filter({ hasText: 'must be a name of lower-case letters' }).waitFor();
      await simulate('basic', '7/minute');
      await alert.filter({ hasText: 'The plan basic exists already.' }).waitFor();
      expect(await page.getByRole('button', { name: 'Apply …' }).count()).toBe(0);
      await page.getByRole('spinbutton', { name: 'In flight' }).fill('5');
      await simulate('gold', '7/minute,70/day');
      await page.getByText(', 5 at once: no key would have other limits').waitFor();
      await page.getByRole('button', { name: 'Apply …' }).click();
      await page.getByLabel(/^Reason/).fill('a new offer');
      await page.getByRole('button', { name: 'Apply', exact: true }).click();
      await page.getByText('Plan gold has 7 per minute, 70 per day now.').waitFor();
      await page.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('heading', { name: 'Plan gold', level: 1 }).waitFor();
      expect((await fixture.admin('GET', '/plans/gold')).body).toMatchObject({
        limits: '7/minute,70/day',
        count: 'key',
        concurrency: 5,
      });
      expect(
        (await fixture.page('admin')).complaints.filter(
          (complaint) => !/status of 4\d\d/.test(complaint),
        ),
      ).toEqual([]);
    });

    test('reports invalid limits and an unknown plan', async () => {
      const page = await open('plans/basic');
      await page.getByRole('textbox', { name: 'Limits' }).fill('many');
      await page.getByRole('button', { name: 'Simulate' }).click();
      await page.getByRole('alert').filter({ hasText: 'must look like 60/minute' }).waitFor();
      await goTo(page, 'keys');
      await goTo(page, 'plans/platinum');
      await page
        .getByRole('alert')
        .filter({ hasText: 'The plan "platinum" does not exist' })
        .waitFor();
      expect(
        (await fixture.page('admin')).complaints.filter(
          (complaint) => !/status of 4\d\d/.test(complaint),
        ),
      ).toEqual([]);
    });

    test('shows the effect of limits on the requests of the plan', async () => {
      const page = await open('plans/basic');
      await page.getByText('As a table').click();
      await page.getByRole('cell', { name: '9', exact: true }).waitFor();
    });

    test('shows what a window that only watches would have refused', async () => {
      const { secret } = await fixture.gateway.key({ account: 'hooli', plan: 'watched' });
      for (let i = 0; i < 3; i++)
        await fixture.gateway.client.get('/pets').set('X-API-Key', secret);
      const page = await open('plans/watched');
      await page
        .getByText('hour would have refused 2 requests of 1 key in the last day.')
        .waitFor();
    });

    test('offers to set or create a plan only to operators with the role', async () => {
      const { page, complaints } = await fixture.open('read', 'plans/basic');
      await page.getByRole('button', { name: 'Simulate' }).click();
      await page.getByText('no key would have other limits').waitFor();
      expect(await page.getByRole('button', { name: /^Apply/ }).count()).toBe(0);
      await goTo(page, 'plans?new=plan');
      await page.getByRole('row', { name: /^basic/ }).waitFor();
      expect(await page.getByRole('link', { name: 'New plan' }).count()).toBe(0);
      expect(complaints).toEqual([]);
    });
  });
}
