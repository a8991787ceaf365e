import { createSite, type FindPage } from '@storegate/pages';
import { consoleAssets } from './files.ts';
import { renderPage } from './page.ts';

/** Where the console is on the admin listener: the page is at this path with a slash behind it, its files are below. */
export const CONSOLE_PATH = '/console';

/** The operators' console: one page and its files. All that the page shows comes from the admin API. */
export function createConsole(): FindPage {
  const path = `${CONSOLE_PATH}/`;
  const assets = consoleAssets(`${path}assets/`);
  const { text, scriptHash } = renderPage(assets);
  return createSite({ path, html: () => text, scripts: [scriptHash], assets });
}
