import { createRequire } from 'node:module';
import { browserModules } from '@storegate/admin-api/files';
import { createSite, type FindPage, html, loadAssets } from '@storegate/pages';

const { resolve } = createRequire(import.meta.url);

/** In the order of their cascade. */
const STYLES = ['frame', 'tables', 'charts', 'forms', 'views', 'narrow'];
/**
 * Where the console is on the admin listener: the page is at this path with a slash behind it, its
 * files are below.
 */
export const CONSOLE_PATH = '/console';

/** The operators' console: one page and its files. All that the page shows comes from the admin API. */
export function createConsole(): FindPage {
  const path = `${CONSOLE_PATH}/`;
  const modules = browserModules().map(
    ([name, file]) => [`admin-api/${name}`, file] as const,
  );
  const assets = loadAssets(`${path}assets/`, import.meta.dirname, STYLES, {
    files: {
      preact: resolve('preact'),
      'preact/hooks': resolve('preact/hooks'),
      uplot: resolve('uplot/dist/uPlot.esm.js'),
    },
    modules: Object.fromEntries(modules),
    imports: {
      '@storegate/admin-api': 'admin-api/index.ts',
      '@storegate/admin-api/text': 'admin-api/text/index.ts',
    },
  });
  const page = html`<!doctype html>
<html lang="en">
${assets.head('storegate console')}
<body>
<noscript><p>The console is drawn by scripts. Without them, use the command line: <code>storegate --help</code>.</p></noscript>
<div id="console"></div>
</body>
</html>
`;
  return createSite({ path, html: () => page.text, assets });
}
