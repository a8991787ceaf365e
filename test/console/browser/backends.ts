import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityFindings, RULES_OF_LOOKS } from '../../support/axe.ts';
import { TestGateway } from '../../support/gateway.ts';
import { NginxBackend } from '../../support/nginx-backend.ts';
import { until } from '../../support/until.ts';
import type { ConsoleFixture } from './fixture.ts';

export function backendsTests(fixture: ConsoleFixture): void {
  describe('backends in the console', () => {
    let backends: NginxBackend[];
    let gateway: TestGateway;
    let page: Page;
    let complaints: string[];
    let secret: string;

    beforeAll(async () => {
      backends = await Promise.all([NginxBackend.start('a'), NginxBackend.start('b')]);
      gateway = await TestGateway.start({
        backendUrl: backends.map(({ url }) => url).join(','),
        settings: 'upstream: { ejection: { probeInterval: 100ms, slowStart: 0s } }\n',
        plans: 'plans: { free: { windows: [{ limit: 1000000, per: minute }] } }',
      });
      ({ secret } = await gateway.key());
      ({ page, complaints } = await fixture.browser.page());
      await page.goto(`${gateway.adminUrl}/console/`);
    });
    afterAll(async () => {
      await page?.context().close();
      await gateway?.stop();
      await Promise.all((backends ?? []).map((backend) => backend.stop()));
    });

    const ask = async () => void (await gateway.client.get('/pets').set('X-API-Key', secret));
    const health = () => page.getByRole('region', { name: 'Health' });
    const line = ({ label }: NginxBackend) =>
      page.getByRole('region', { name: 'Backends' }).getByRole('row').filter({ hasText: label });
    const asking = (backend: NginxBackend, state: string) =>
      until(`${backend.name} is ${state}`, async () => {
        await ask();
        // The page is updated every two seconds.
        await sleep(100);
        return new RegExp(`\\s${state}\\s`).test(await line(backend).first().innerText());
      });

    test('Overview shows each, and its first line names a backend that went down, and why', async () => {
      await health().getByText('OK', { exact: true }).waitFor();
      await asking(backends[0]!, 'up');
      await backends[0]!.fail('refuse');
      await asking(backends[0]!, 'down');
      await health().getByText('Degraded', { exact: true }).waitFor();
      const trouble = health().getByRole('listitem').filter({ hasText: 'Backend ' });
      expect(await trouble.innerText()).toMatch(
        new RegExp(
          `^Backend ${backends[0]!.label} of default is down: connection failed\\. .* \\(since .*\\) Gateways$`,
        ),
      );
      expect(await line(backends[0]!).first().innerText()).toContain('connection failed');
      expect(await line(backends[1]!).first().innerText()).toMatch(/\sup\s/);
    });

    test('are readable on a narrow screen, in dark mode, and without a mouse', async () => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width: 390, height: 844 });
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
        const table = page.getByRole('region', { name: 'Backends' }).locator('.table');
        await table.focus();
        expect(await page.evaluate('document.activeElement.className')).toBe('table');
        expect(
          await accessibilityFindings(page, { within: '.health, .table', rules: RULES_OF_LOOKS }),
        ).toEqual([]);
      }
      await page.emulateMedia({ colorScheme: null });
      await page.setViewportSize({ width: 1280, height: 900 });
    });

    test('Gateways lists all with the gateways that see them; a full outage is shown as such', async () => {
      await health().getByRole('link', { name: 'Gateways' }).first().click();
      await page.getByRole('heading', { level: 1, name: 'Gateways' }).waitFor();
      await asking(backends[0]!, 'down');
      expect(await line(backends[0]!).first().innerText()).toMatch(/connection failed.* of 128$/s);
      await backends[1]!.fail('refuse');
      await asking(backends[1]!, 'down');
      await page.goto(`${gateway.adminUrl}/console/`);
      await health()
        .getByText('All 2 backends of default are down (connection failed), so its requests fail.')
        .waitFor();
      await health().getByText('Down', { exact: true }).waitFor();
    });

    test('are up again without an action', async () => {
      for (const backend of backends) await backend.recover();
      for (const backend of backends) await asking(backend, 'up');
      await until(
        'no backend is named',
        async () => !(await health().innerText()).includes('Backend '),
      );
      expect(complaints).toEqual([]);
    });
  });
}
