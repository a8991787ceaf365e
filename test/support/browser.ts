import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${[
    // Each window would load two pages of its own for the address bar, which costs as much as the page under test.
    'WebUIOmniboxPopup',
    'WebUIOmniboxAimPopup',
    // Chromium takes the last list alone, so these are Playwright's again.
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
    'PreconnectToSearch',
  ]}`,
];

/** Chromium, with pages that note every error in them. */
export class TestBrowser {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<TestBrowser> {
    return new TestBrowser(await chromium.launch({ executablePath: chromiumPath()!, args: ARGUMENTS }));
  }

  /** A page with an empty cache and storage. */
  async page(options: BrowserContextOptions = {}): Promise<{ page: Page; complaints: string[] }> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => void complaints.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => void complaints.push(`error: ${error.message}`));
    return { page, complaints };
  }

  async stop(): Promise<void> {
    await this.#browser.close();
  }
}

/** Installs a browser if needed; returns the reason in one line if there is none. */
export function whyNoBrowser(): string | null {
  if (chromiumPath() !== null) return null;
  try {
    install(['update', '-qq']);
    install(['install', '-y', '-qq', '--no-install-recommends', 'chromium', 'fonts-dejavu-core']);
    return null;
  } catch (error) {
    const [reason] = String((error as { stderr?: unknown }).stderr || error).split('\n');
    return `there is no Chromium, and it cannot be installed: ${reason}`;
  }
}

function chromiumPath(): string | null {
  return PLACES.find((path) => existsSync(path)) ?? null;
}

/** Test files run side by side, so the second waits until the first has installed the browser. */
function install(args: readonly string[]): void {
  const settings = {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: 'pipe',
    timeout: 300_000,
  } as const;
  execFileSync('apt-get', ['-o', 'DPkg::Lock::Timeout=240', ...args], settings);
}
