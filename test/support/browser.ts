import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { program } from '../runner/programs.ts';

const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Pages are short-lived: threads for compilation and garbage collection cost more than they save.
  '--js-flags=--single-threaded',
  `--disable-features=${[
    // Each window would load two pages of its own for the address bar.
    'WebUIOmniboxPopup',
    'WebUIOmniboxAimPopup',
    // Chromium uses only the last list, so this repeats Playwright's.
    'AvoidUnnecessaryBeforeUnloadCheckSync',
    'DestroyProfileOnBrowserClose',
    'HttpsUpgrades',
    'HttpsFirstBalancedModeAutoEnable',
    'LensOverlay',
    'MediaRouter',
    'PaintHolding',
    'ThirdPartyStoragePartitioning',
    'AvoidCorsURLLoaderRestartOnRedirect',
    'OptimizationHints',
    'NetworkTimeServiceQuerying',
    'AimEnabled',
    // A process in advance for a page that does not come.
    'SpareRendererForSitePerProcess',
    'PreconnectToSearch',
  ]}`,
];

export class TestBrowser {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<TestBrowser> {
    return new TestBrowser(
      await chromium.launch({
        executablePath: program('chromium-headless-shell'),
        args: ARGUMENTS,
      }),
    );
  }

  async page(options: BrowserContextOptions = {}): Promise<{ page: Page; complaints: string[] }> {
    const context = await this.#browser.newContext({
      viewport: { width: 1280, height: 900 },
      ...options,
    });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      // The browser informs if a user, or a test, was faster than autofocus.
      if (message.type() !== 'info') complaints.push(`${message.type()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => void complaints.push(`error: ${error.message}`));
    return { page, complaints };
  }

  async stop(): Promise<void> {
    await this.#browser.close();
  }
}
