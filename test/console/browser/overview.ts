import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { POLL_INTERVAL } from '@storegate/admin-api/text';
import type { Page } from 'playwright-core';
import { freePort } from '../../support/free-port.ts';
import { TestGateway } from '../../support/gateway.ts';
import { until } from '../../support/until.ts';
import { fakeBackend } from '../../support/upstream.ts';
import type { ConsoleFixture } from './fixture.ts';

export function nowTests(fixture: ConsoleFixture): void {
  describe('the view Overview', () => {
    let backend: Awaited<ReturnType<typeof fakeBackend>>;
    let gateway: TestGateway;
    let page: Page;
    let complaints: string[];
    let secret: string;
    let backendStatus = 200;

    beforeAll(async () => {
      backend = await fakeBackend(
        (_request, response) => void response.writeHead(backendStatus).end('[]'),
      );
      gateway = await TestGateway.start({
        backendUrl: backend.url,
        env: { STOREGATE_ADMIN_PORT: `${await freePort()}` },
        plans: 'plans:\n  free: { windows: [{ limit: 100, per: minute }] }\n',
      });
      ({ secret } = await gateway.key());
      ({ page, complaints } = await fixture.browser.page());
      await page.goto(`${gateway.adminUrl}/console/`);
    });
    afterAll(async () => {
      await page?.context().close();
      await gateway?.stop();
      await backend?.close();
    });

    const send = async (times: number) => {
      for (let i = 0; i < times; i++) await gateway.client.get('/pets').set('X-API-Key', secret);
    };
    const health = () => page.getByRole('region', { name: 'Health' });
    const live = () => page.locator('.view-head [role=status]');

    test('opens the console, and shows that all is well, with the traffic', async () => {
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Overview');
      await health().getByText('OK', { exact: true }).waitFor();
      await live().getByText('Live', { exact: true }).waitFor();
      await send(20);
      await page.getByText('in the last 10 seconds').waitFor();
      await page
        .locator('.tiles > div')
        .filter({ hasText: 'Latency' })
        .getByText(/\d ms ·/)
        .waitFor();
      expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual([
        'Last hour',
        'Backends',
        'Last two minutes',
        'Last day',
      ]);
      const chart = page.locator('figure').filter({ hasText: 'Requests per second' });
      const steps = chart.getByRole('slider');
      await steps.focus();
      await page.keyboard.press('End');
      await chart.locator('.u-cursor-x:not(.u-off)').waitFor();
      let shown = '';
      await until('a step has answered requests', async () => {
        shown = (await steps.getAttribute('aria-valuetext'))!;
        if (/answered [\d.]*[1-9]/.test(shown)) return true;
        await page.keyboard.press('ArrowLeft');
        return false;
      });
      const [time] = shown.split(': ');
      await chart.locator('.step').getByText(time!).waitFor();
      const backends = page.getByRole('region', { name: 'Backends' }).getByRole('row');
      expect(await backends.filter({ hasText: new URL(backend.url).host }).innerText()).toMatch(
        /\sdefault\s+up\s/,
      );
    });

    test('and Requests and Top clients are empty without traffic', async () => {
      await page.getByRole('link', { name: 'Requests', exact: true }).click();
      await page.getByText('None in memory: nothing was refused').waitFor();
      await page.getByRole('link', { name: 'Top clients', exact: true }).click();
      await page
        .getByRole('combobox', { name: 'By', exact: true })
        .selectOption({ label: 'Deprecated operations' });
      await page.getByText('No calls of deprecated operations in the last hour.').waitFor();
      await page.getByRole('link', { name: 'Overview', exact: true }).click();
      await live().getByText('Live', { exact: true }).waitFor();
    });

    test('names each problem, with a link to its details', async () => {
      backendStatus = 500;
      // Earlier requests may be a minute old on a busy machine, and most of all must fail.
      await send(60);
      await health().getByText('Down', { exact: true }).waitFor();
      const trouble = health()
        .getByRole('listitem')
        .filter({
          // Earlier requests may be a minute old on a busy machine.
          hasText:
            /^\d+(\.\d)? % \(\d+ of \d+\) of the requests of the last minute failed \(5xx\)\. .* Requests$/,
        });
      await trouble.waitFor();
      expect(await trouble.getByRole('link').getAttribute('href')).toBe('#/requests');
    });

    test('polls nothing while its tab is hidden, and at once when it is visible again', async () => {
      const { page: tab } = await fixture.browser.page();
      const polls: string[] = [];
      tab.on('request', (request) => {
        if (request.url().endsWith('/status')) polls.push(request.url());
      });
      await tab.clock.install();
      await tab.goto(`${gateway.adminUrl}/console/`);
      await tab.locator('.view-head').getByText('Live', { exact: true }).waitFor();
      const see = (state: string) =>
        tab.evaluate(`
          Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${state}' });
          document.dispatchEvent(new Event('visibilitychange'));
        `);
      await until('it polls', async () => {
        await tab.clock.runFor(POLL_INTERVAL);
        return polls.length > 2;
      });
      await see('hidden');
      const { length } = polls;
      await tab.clock.runFor(30 * POLL_INTERVAL);
      expect(polls).toHaveLength(length);
      await see('visible');
      await until('it polls again', () => polls.length === length + 1);
      await tab.context().close();
    });

    test('shows since when it is not live, and continues when it can', async () => {
      await page.getByRole('button', { name: 'Pause' }).click();
      await live().getByText('Paused').waitFor();
      await page.getByRole('button', { name: 'Resume' }).click();
      await live().getByText('Live', { exact: true }).waitFor();
      expect(complaints).toEqual([]);
      await gateway.close();
      await live()
        .getByText(/^Not live since \d\d:\d\d:\d\d/)
        .waitFor();
      await gateway.open();
      await live().getByText('Live', { exact: true }).waitFor();
      await health()
        .getByText(/^(OK|Down)$/)
        .waitFor();
    });
  });
}
