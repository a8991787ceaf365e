import { createHash } from 'node:crypto';
import { html } from '@storegate/pages';
import type { ConsoleAssets } from './files.ts';

/**
 * The page that the scripts draw into, and the hash of its only inline script for the policy: the import map, which browsers
 * take inline only (HTML, "Import maps").
 */
export function renderPage({ base, modules, styles, packages }: ConsoleAssets): { text: string; scriptHash: string } {
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
