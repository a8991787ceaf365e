import type { Page } from 'playwright-core';
import { makeSecret } from '../../src/keys/secret.ts';
import type { Role } from '../../src/operators/tokens.ts';
import { type AdminCall, adminOf } from './admin.ts';
import { TestBrowser } from './browser.ts';
import { bodyOf } from './failure.ts';
import { type GatewayOptions, TestGateway } from './gateway.ts';

/** A gateway whose console operators of each role use in a browser. */
export class ConsoleStand {
  readonly gateway: TestGateway;
  /** Calls the admin API beside the console. */
  readonly admin: AdminCall;
  readonly #browser: TestBrowser;
  readonly #tokens = new Map<Role, string>();

  private constructor(gateway: TestGateway, browser: TestBrowser, admin: AdminCall) {
    this.gateway = gateway;
    this.#browser = browser;
    this.admin = admin;
  }

  static async start(options: GatewayOptions = {}): Promise<ConsoleStand> {
    const token = makeSecret('admin');
    const gateway = await TestGateway.start({ ...options, env: { ...options.env, STOREGATE_ADMIN_TOKEN: token } });
    try {
      const admin = adminOf(gateway.adminUrl, { Authorization: `Bearer ${token}` });
      return new ConsoleStand(gateway, await TestBrowser.start(), admin);
    } catch (error) {
      await gateway.stop();
      throw error;
    }
  }

  /** A place of the console, as somebody with a token of this role sees it: `keys?plan=free`. The token of `read` is called `reader`, and so on. */
  async open(role: Role, place: string): Promise<{ page: Page; complaints: string[] }> {
    const opened = await this.#browser.page();
    const { page } = opened;
    await page.goto(`${this.gateway.adminUrl}/console/#/${place}`);
    await page.getByLabel('Admin token').fill(await this.#tokenOf(role));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('h1').and(page.locator(':not(.sign-in h1)')).waitFor();
    return opened;
  }

  async stop(): Promise<void> {
    await this.#browser.stop();
    await this.gateway.stop();
  }

  async #tokenOf(role: Role): Promise<string> {
    const known = this.#tokens.get(role);
    if (known !== undefined) return known;
    const { token } = bodyOf(await this.admin('POST', '/tokens', { name: `${role}er`, role }));
    this.#tokens.set(role, token);
    return token;
  }
}
