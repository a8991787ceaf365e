import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Assets, BASE_STYLE, createSite, type FindPage, filesIn, html, loadAssets } from '@storegate/pages';

const here = import.meta.dirname;
const { resolve } = createRequire(import.meta.url);

interface ConsoleAssets extends Assets {
  /** Names below `base` of the console's own modules; the entry comes first. */
  readonly modules: readonly string[];
  /** Names below `base` of the style sheets, in the order of their cascade. */
  readonly styles: readonly string[];
  /** Names below `base` of modules of packages, by the name under which the console's modules import them. */
  readonly packages: Readonly<Record<string, string>>;
}

/** Each view has what it alone needs in a sheet of its own, behind these. */
const STYLES = ['frame', 'tables', 'charts', 'dialogs', 'filters'];
const PACKAGES = { preact: 'packages/preact.js', 'preact/hooks': 'packages/preact-hooks.js' };

/** The files of the console, to be served below `prefix`. */
function consoleAssets(prefix: string): ConsoleAssets {
  const modules = ['browser/main.ts', ...filesIn(here, 'browser', '.ts').filter((file) => file !== 'browser/main.ts')];
  const styles = [...STYLES.map((name) => `styles/${name}.css`), ...filesIn(here, 'styles/views', '.css')];
  const assets = loadAssets(prefix, [
    ...[...modules, ...styles].map((file) => [file, join(here, file)] as const),
    ...Object.entries(PACKAGES).map(([name, file]) => [file, resolve(name)] as const),
    ['packages/preact.LICENSE.txt', resolve('preact').replace(/dist[/\\][^/\\]+$/, 'LICENSE')],
  ]);
  return { ...assets, modules, styles: [BASE_STYLE, ...styles], packages: PACKAGES };
}

/**
 * The page that the scripts draw into, and the hash of its only inline script for the policy: the import map, which browsers
 * take inline only (HTML, "Import maps").
 */
function renderPage({ base, modules, styles, packages }: ConsoleAssets): { text: string; scriptHash: string } {
  const map = importMap(base, packages);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>storegate console</title>
<link rel="icon" href="${base}icon.svg" type="image/svg+xml">
${styles.map((style) => html`<link rel="stylesheet" href="${base}${style}">\n`)}<script type="importmap">IMPORTS</script>
<script type="module" src="${base}${modules[0]!}"></script>
${[...modules.slice(1), ...Object.values(packages)].map((module) => html`<link rel="modulepreload" href="${base}${module}">\n`)}</head>
<body>
<noscript><p>The console is drawn by scripts. Without them, use the command line: <code>storegate --help</code>.</p></noscript>
<div id="console"></div>
</body>
</html>
`;
  const scriptHash = `sha256-${createHash('sha256').update(map).digest('base64')}`;
  // Inside a script nothing is escaped, and a map of our own paths has nothing to escape.
  return { text: page.text.replace('IMPORTS', () => map), scriptHash };
}

function importMap(base: string, packages: ConsoleAssets['packages']): string {
  return JSON.stringify({
    imports: Object.fromEntries(Object.entries(packages).map(([name, file]) => [name, base + file])),
  });
}

/** Where the console is on the admin listener: the page is at this path with a slash behind it, its files are below. */
export const CONSOLE_PATH = '/console';

/** The operators' console: one page and its files. All that the page shows comes from the admin API. */
export function createConsole(): FindPage {
  const path = `${CONSOLE_PATH}/`;
  const assets = consoleAssets(`${path}assets/`);
  const { text, scriptHash } = renderPage(assets);
  return createSite({ path, html: () => text, scripts: [scriptHash], assets });
}
