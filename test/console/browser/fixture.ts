import type { Role } from '@storegate/admin-api';
import type { Page } from 'playwright-core';
import { makeSecret } from '../../../src/records/keys/secret.ts';
import { type AdminCall, adminOf } from '../../support/admin.ts';
import type { TestBrowser } from '../../support/browser.ts';
import { bodyOf } from '../../support/failure.ts';
import { TestGateway } from '../../support/gateway.ts';
import { operate } from '../../support/operated.ts';
import { Receiver } from '../../support/receiver.ts';

const PLANS = `
plans:
  free: { windows: [{ limit: 60, per: minute }, { limit: 1000, per: day }] }
  pro: { windows: [{ limit: 1200, per: minute }, { limit: 100000, per: day }] }
  trial: { windows: [{ limit: 5, per: minute }] }
  pair: { windows: [{ limit: 2, per: minute }] }
  three: { windows: [{ limit: 3, per: minute }, { limit: 1000, per: day }] }
  team: { count: account, windows: [{ limit: 40, per: minute }] }
  basic: { windows: [{ limit: 20, per: minute }, { limit: 100, per: day }], concurrency: 9, weight: 3 }
  watched: { windows: [{ limit: 1, per: hour, enforce: false }] }
public: { windows: [{ limit: 8, per: minute }], concurrency: 2 }
bans: { strikes: 6, workers: 1, window: 1m, grace: 0s, durations: [5m, 1h], decay: 1d }
`;

interface Opened {
  readonly page: Page;
  readonly complaints: string[];
}

export class ConsoleFixture {
  browser!: TestBrowser;
  gateway!: TestGateway;
  receiver!: Receiver;
  admin!: AdminCall;
  operated!: Awaited<ReturnType<typeof operate>>;
  readonly #tokens = new Map<Role, string>();
  readonly #pages = new Map<Role, Opened>();

  async start(browser: TestBrowser): Promise<void> {
    const token = makeSecret('admin');
    this.receiver = await Receiver.start();
    this.gateway = await TestGateway.start({
      plans: PLANS,
      settings: '# Ours.\nlog: { requests: false }\n',
      env: { ...this.receiver.env, STOREGATE_ADMIN_TOKEN: token },
    });
    this.admin = adminOf(this.gateway.adminUrl, { Authorization: `Bearer ${token}` });
    this.browser = browser;
    this.operated = await operate(this.gateway, token);
  }

  async stop(): Promise<void> {
    await this.gateway?.stop();
    await this.receiver?.stop();
  }

  /** The first token of a role is called `reader`, and so on. */
  async token(role: Role): Promise<string> {
    const existing = this.#tokens.get(role);
    if (existing !== undefined) return existing;
    const { token } = bodyOf(await this.admin('POST', '/tokens', { name: `${role}er`, role }));
    this.#tokens.set(role, token);
    return token;
  }

  async page(role: Role): Promise<Opened> {
    const opened = this.#pages.get(role) ?? (await this.browser.page({ reducedMotion: 'reduce' }));
    this.#pages.set(role, opened);
    return opened;
  }

  async open(role: Role, place: string): Promise<Opened> {
    const { page, complaints } = await this.page(role);
    if (page.url() === 'about:blank') {
      await page.goto(`${this.gateway.adminUrl}/console/`);
      await page.getByLabel('Admin token').fill(await this.token(role));
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('navigation').waitFor();
    }
    complaints.length = 0;
    // By way of another view, so that no earlier content remains.
    await goTo(page, place.startsWith('keys') ? 'plans' : 'keys');
    await goTo(page, place);
    return { page, complaints };
  }
}

export async function goTo(page: Page, place: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`);
  await page.locator(`nav a[href="#/${place.split(/[/?]/, 1)}"][aria-current=page]`).waitFor();
  await page.locator('main h1').waitFor();
}
