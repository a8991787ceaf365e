import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { browserModules } from '@storegate/admin-api/files';
import { createSite, type FindPage, html, loadAssets } from '@storegate/pages';

const { resolve } = createRequire(import.meta.url);

/** In the order of their cascade. */
const STYLES = ['frame', 'tables', 'charts', 'forms', 'views', 'narrow'];
/** Served names of packages, by the name under which the console's modules import them. */
const PREACT = { preact: 'packages/preact.js', 'preact/hooks': 'packages/preact-hooks.js' };
const ADMIN_API = {
  '@storegate/admin-api': 'admin-api/index.ts',
  '@storegate/admin-api/words': 'admin-api/words/index.ts',
};

/**
 * Where the console is on the admin listener: the page is at this path with a slash behind it, its
 * files are below.
 */
export const CONSOLE_PATH = '/console';

/**
 * The operators' console: one page and its files. All that the page shows comes from the admin API.
 * Its only inline script, whose hash the policy names, is the import map, which browsers take
 * inline only (HTML, "Import maps").
 */
export function createConsole(): FindPage {
  const path = `${CONSOLE_PATH}/`;
  const modules = browserModules().map(([name, file]) => [`admin-api/${name}`, file] as const);
  const assets = loadAssets(`${path}assets/`, import.meta.dirname, STYLES, [
    ...Object.entries(PREACT).map(([name, file]) => [file, resolve(name)] as const),
    ...modules,
    ['packages/preact.LICENSE.txt', resolve('preact').replace(/dist[/\\][^/\\]+$/, 'LICENSE')],
  ]);
  const imports = Object.entries({ ...PREACT, ...ADMIN_API }).map(
    ([name, file]) => [name, assets.base + file] as const,
  );
  const map = JSON.stringify({ imports: Object.fromEntries(imports) });
  const early = [...Object.values(PREACT), ...modules.map(([name]) => name)];
  const scripts = html`<script type="importmap">IMPORTS</script>
${early.map((file) => html`<link rel="modulepreload" href="${assets.base + file}">\n`)}`;
  const page = html`<!doctype html>
<html lang="en">
${assets.head('storegate console', scripts)}
<body>
<noscript><p>The console is drawn by scripts. Without them, use the command line: <code>storegate --help</code>.</p></noscript>
<div id="console"></div>
</body>
</html>
`;
  // Inside a script nothing is escaped, and a map of our own paths has nothing to escape.
  const text = page.text.replace('IMPORTS', () => map);
  const hash = `sha256-${createHash('sha256').update(map).digest('base64')}`;
  return createSite({ path, html: () => text, scripts: [hash], assets });
}
