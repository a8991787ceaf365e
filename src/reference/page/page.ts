import { CONTRACT_JSON_PATH, CONTRACT_YAML_PATH } from '../../common/own-paths.ts';
import type { Contract } from '../../contract/contract.ts';
import type { Plans } from '../../limits/plans.ts';
import { type Html, html } from '../../pages/html.ts';
import type { ReferenceAssets } from '../files.ts';
import { errorsSection } from './error-table.ts';
import { limitsSection } from './limits.ts';
import { contentsButton, navigation } from './navigation.ts';
import { retryingSection } from './retrying.ts';

export interface PageContent {
  readonly contract: Contract;
  readonly plans: Plans;
  readonly assets: ReferenceAssets;
}

/**
 * The whole page but the operations, which Swagger UI draws into `#reference` from the published contract. Readers can
 * read this part at once and without scripts, and it stays in place when the operations arrive.
 */
export function renderPage({ contract, plans, assets }: PageContent): string {
  const { title, version } = contract;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · API reference</title>
${files(assets)}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top"><a class="brand" href="#start"><img src="${assets.base}icon.svg" alt="" width="28" height="28">${title}
<span class="version">${version}</span></a>
<span class="contract">Contract: <a href="${CONTRACT_JSON_PATH}">JSON</a> <a href="${CONTRACT_YAML_PATH}">YAML</a></span>
${contentsButton()}</header>
<div class="columns">
${navigation(contract)}
<main id="content" tabindex="-1">
<section id="start" aria-labelledby="title">
<h1 id="title">${title}</h1>
${keyForm()}
</section>
<p id="announcement" class="unseen" role="status"></p>
<div id="reference" class="reference" data-contract="${CONTRACT_JSON_PATH}" aria-busy="true"><p class="loading">Drawing the operations …</p>
<noscript><p>The operations are drawn by a script. Without it, read the contract itself:
<a href="${CONTRACT_JSON_PATH}">openapi.json</a> or <a href="${CONTRACT_YAML_PATH}">openapi.yaml</a>.</p></noscript></div>
${limitsSection(plans, contract.windows)}
${retryingSection()}
${errorsSection()}
</main>
</div>
</body>
</html>
`.text;
}

function files({ base, modules, styles }: ReferenceAssets): Html {
  return html`<link rel="icon" href="${base}icon.svg" type="image/svg+xml">
${styles.map((style) => html`<link rel="stylesheet" href="${base}${style}">`)}
<script src="${base}swagger-ui.js" defer></script>
<script type="module" src="${base}${modules[0]!}"></script>
${modules.slice(1).map((module) => html`<link rel="modulepreload" href="${base}${module}">`)}`;
}

/** The field has no name and the form no target, so that only the page's script can read the key. */
function keyForm(): Html {
  return html`<form id="key" class="key" autocomplete="off">
<label for="key-secret">Your API key</label>
<div class="field"><input id="key-secret" type="password" autocomplete="off" spellcheck="false" placeholder="sg_…"
aria-describedby="key-note"><button type="submit">Use this key</button>
<button type="button" id="key-forget" hidden>Forget it</button></div>
<label class="remember"><input id="key-remember" type="checkbox"> Remember it on this device</label>
<p id="key-note" role="status">Paste it to try operations. It stays in this tab, and goes nowhere but into the header
<code>X-API-Key</code> of what you send.</p>
</form>`;
}
