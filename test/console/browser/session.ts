import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { makeToken } from '../../../src/records/operators/tokens.ts';
import { adminOf } from '../../support/admin.ts';
import { accessibilityFindings } from '../../support/axe.ts';
import { TestGateway } from '../../support/gateway.ts';
import { until } from '../../support/until.ts';
import type { ConsoleFixture } from './fixture.ts';

const root = makeToken();

export function sessionTests(fixture: ConsoleFixture): void {
  describe('a user of the console', () => {
    let gateway: TestGateway;
    let page: Page;
    let other: Page;
    let complaints: string[];
    beforeAll(async () => {
      gateway = await TestGateway.start({
        settings:
          'console: { idleTimeout: 10m, links: [{ title: Grafana, url: "https://grafana.example/?orgId=1" }] }\n',
        env: { STOREGATE_ADMIN_TOKEN: root },
      });
      ({ page, complaints } = await fixture.browser.page());
      other = await page.context().newPage();
      // The clock is shared by all tabs.
      await page.clock.install();
    });
    afterAll(async () => {
      await page?.context().close();
      await gateway?.stop();
    });

    const field = (page: Page) => page.getByLabel('Admin token');
    const navigation = (page: Page) => page.getByRole('navigation');
    const open = (page: Page) => page.goto(`${gateway.adminUrl}/console/`);

    async function signIn(page: Page, token: string) {
      await field(page).fill(token);
      await page.getByRole('button', { name: 'Sign in' }).click();
    }

    test('signs in with a token that is not stored, finds the console again, and signs out in every tab', async () => {
      const requested: string[] = [];
      page.on('request', (request) => requested.push(request.url()));
      await open(page);
      await signIn(page, 'no token');
      await page.getByText('The admin token is not valid').waitFor();
      await signIn(page, root);
      await page.getByText('configured admin').waitFor();
      const link = page.getByRole('link', { name: 'Grafana' });
      expect(await link.getAttribute('href')).toBe('https://grafana.example/?orgId=1');
      expect(await link.getAttribute('rel')).toBe('noreferrer');
      const kept =
        '[...Object.values(localStorage), ...Object.values(sessionStorage), document.cookie, location.href]';
      expect(
        [...((await page.evaluate(kept)) as string[]), ...requested].filter((text) =>
          text.includes(root),
        ),
      ).toEqual([]);
      expect(await page.locator(`input[value="${root}"]`).count()).toBe(0);
      await page.reload();
      await navigation(page).waitFor();
      await open(other);
      await navigation(other).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await field(page).waitFor();
      await other.getByText('You were signed out.').waitFor();
      expect(complaints.filter((complaint) => !complaint.includes('401'))).toEqual([]);
    });

    test('with a revoked token is notified at the next response', async () => {
      const call = adminOf(gateway.adminUrl, { Authorization: `Bearer ${root}` });
      const { token } = (await call('POST', '/tokens', { name: 'anna', role: 'read' })).body;
      await signIn(page, token);
      await page.getByText('anna read').waitFor();
      await call('DELETE', '/tokens/anna');
      await page.clock.fastForward(5_000);
      await page.getByText('You were signed out. Sign in again to continue.').waitFor();
    });

    test('who is idle is asked a minute before the end, in every tab, and is signed out', async () => {
      await signIn(page, root);
      for (const tab of [page, other]) await navigation(tab).waitFor();
      const question = (tab: Page) => tab.getByRole('alertdialog', { name: 'Still there?' });
      const pass = async (seconds: number) => {
        gateway.clock.pass(seconds * 1_000);
        await page.clock.fastForward(seconds * 1_000);
      };
      // Activity in one tab keeps the session of both.
      await pass(8 * 60);
      const noted = page.waitForResponse('**/console/session');
      await page.mouse.move(200, 200);
      await noted;
      await pass(8 * 60);
      expect([await question(page).count(), await question(other).count()]).toEqual([0, 0]);
      await pass(61);
      await question(other).waitFor();
      await question(page).waitFor();
      // Moving the mouse does not confirm; the button does, for both tabs.
      await page.mouse.move(300, 300);
      expect(await question(page).count()).toBe(1);
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Stay signed in');
      expect(await accessibilityFindings(page, { within: 'dialog' })).toEqual([]);
      await page.keyboard.press('Enter');
      await question(other).waitFor({ state: 'detached' });
      await pass(9 * 60 + 1);
      await question(page).waitFor();
      // For the gateway it is earlier: the page ends the session and reports it. Held, so that
      // neither tab learns of it from the other.
      const released = Promise.withResolvers<void>();
      await page.context().route('**/console/session', async (route) => {
        if (route.request().method() === 'DELETE') await released.promise;
        await route.continue();
      });
      await page.clock.fastForward(60_000);
      for (const tab of [page, other]) await tab.getByText('after 10m of inactivity').waitFor();
      released.resolve();
      await until('the cookie is gone', async () => (await page.context().cookies()).length === 0);
    });
  });
}
