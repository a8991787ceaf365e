import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { until } from '../../support/until.ts';
import type { ConsoleFixture } from './fixture.ts';

export function auditAndConfigurationTests(fixture: ConsoleFixture): void {
  describe('the views Audit and Configuration', () => {
    test('lists changes of operators, with filters and pages', async () => {
      const { body } = await fixture.admin('POST', '/keys', { account: 'umbrella', plan: 'free' });
      await fixture.admin('PATCH', `/keys/${body.id}`, { label: 'web shop' });
      for (let i = 0; i < 50; i++)
        await fixture.admin('POST', `/keys/${body.id}/${i % 2 === 0 ? 'disable' : 'enable'}`);
      const { page } = await fixture.open('admin', `audit?target=${body.id}`);
      const rows = page.getByRole('region', { name: 'Audit log, newest first' }).getByRole('row');
      await rows.nth(50).waitFor();
      expect(await rows.count()).toBe(51);
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByText('label: none → web shop').waitFor();
      expect(await rows.count()).toBe(3);
      await page.getByText('new: account umbrella, plan free').click();
      await page.getByText('Request').last().waitFor();
      await page.getByLabel('Action').fill('keys.update');
      await until('one is left', async () => (await rows.count()) === 2);
      expect(await rows.nth(1).getByRole('link', { name: body.id }).getAttribute('href')).toBe(
        `#/keys/${body.id}`,
      );
      await page.getByLabel('Operator').fill('unknown');
      await page.getByText('No matching entries.').waitFor();
    });

    test('shows changed settings first with their source, and finds each', async () => {
      const { page } = await fixture.open('admin', 'configuration');
      const changed = page.getByRole('region', { name: 'Settings that differ from the defaults' });
      await changed.getByRole('row', { name: /^log\.requests false/ }).waitFor();
      expect(await changed.getByRole('row', { name: / default / }).count()).toBe(0);
      await page.getByLabel('Only settings from').fill('log.requests');
      const row = page.getByRole('row', { name: /^log\.requests/ });
      expect(await row.innerText()).toMatch(/false\s+gateway\.yaml:2:\d+\s+a (reload|restart)/);
      await page.getByText('The files match the running configuration.').waitFor();
      await page.getByLabel('Only settings from').fill('no such setting');
      await page.getByText('No matching settings.').waitFor();
    });

    test('shows the webhook endpoints and their deliveries', async () => {
      await fixture.admin('POST', '/webhooks/test');
      const { page } = await fixture.open('admin', 'configuration');
      const row = page.getByRole('region', { name: 'Webhook endpoints' }).getByRole('row').nth(1);
      await row.getByText('OK').waitFor();
      expect(await row.innerText()).toMatch(
        /^127\.0\.0\.1:\d+ [0-9a-f]{12}\s+OK\s+0\s+0\s+\S.*ban\.started, quota\.reached/s,
      );
      expect(await page.content()).not.toContain('s3cr3t-path');
      fixture.receiver.answer = () => ({ status: 500 });
      await fixture.admin('POST', '/keys', { account: 'other', plan: 'free' });
      await row.getByText('failing').waitFor();
      expect(await row.innerText()).toContain('HTTP 500');
    });

    test('shows changes and mistakes of the files, and reloads', async () => {
      const file = join(fixture.gateway.folder, 'gateway.yaml');
      const text = readFileSync(file, 'utf8');
      const { page, complaints } = await fixture.open('admin', 'configuration');
      await page.getByText('The files match the running configuration.').waitFor();
      writeFileSync(file, `${text}http: { maxBodyBytes: much }\nexplain: { bufferSize: none }\n`);
      await page.getByRole('button', { name: 'Read the files again' }).click();
      const mistakes = page.getByRole('alert');
      await mistakes
        .filter({ hasText: 'http.maxBodyBytes' })
        .filter({ hasText: 'explain.bufferSize' })
        .waitFor();
      expect(await page.getByRole('button', { name: 'Reload …' }).count()).toBe(0);

      writeFileSync(file, `${text}http: { maxConnections: 5000 }\n`);
      await page.getByRole('button', { name: 'Read the files again' }).click();
      const row = page
        .getByRole('region', { name: 'Pending changes' })
        .getByRole('row', { name: /http\.maxConnections/ });
      expect(await row.innerText()).toMatch(/10000\s+5000\s+gateway\.yaml:3:\d+\s+a restart$/);
      await page.getByRole('button', { name: 'Reload …' }).click();
      await page.getByRole('dialog').getByText('Restart required:').waitFor();
      await page.getByRole('button', { name: 'Reload', exact: true }).click();
      await page.getByRole('dialog').getByText('Nothing has changed.').waitFor();
      await page.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('button', { name: 'Reload …' }).waitFor();
      expect((await fixture.admin('GET', '/audit?action=config.reload')).body.entries).toHaveLength(
        1,
      );
      expect(complaints.filter((complaint) => !/status of 4\d\d/.test(complaint))).toEqual([]);
    });
  });
}
