import { CONTRACT_JSON_PATH, CONTRACT_YAML_PATH } from '../../../../src/common/own-paths.ts';
import type { Plans } from '../../../../src/limits/plans.ts';
import type { Contract } from '../../../openapi/src/contract.ts';
import { type Html, html } from '../../../pages/src/html.ts';
import type { ReferenceAssets } from '../files.ts';
import { usageOperation, withUsageGroup } from '../usage.ts';
import { errorsSection } from './error-table.ts';
import { limitsSection } from './limits.ts';
import { renderPage } from './page.ts';
import { retryingSection } from './retrying.ts';

/** The page for callers of the gateway: with their key, their plans and what to do about refusals. */
export function renderClientsPage(contract: Contract, plans: Plans, assets: ReferenceAssets): string {
  const { title, version, operations, document, windows } = contract;
  // As in the published contract, the gateway's own operation replaces one of the contract at its path.
  const others = operations.filter(({ path }) => path !== usageOperation.path);
  return renderPage({
    title,
    version,
    assets,
    documents: [
      { href: CONTRACT_JSON_PATH, text: 'JSON' },
      { href: CONTRACT_YAML_PATH, text: 'YAML' },
    ],
    operations: [...others, usageOperation],
    tagGroups: withUsageGroup(document['x-tagGroups']),
    start: keyForm(),
    sections: [
      { id: 'limits', title: 'Plans and limits', markup: limitsSection(plans, windows) },
      { id: 'retrying', title: 'How to retry', markup: retryingSection() },
      { id: 'errors', title: 'Errors', markup: errorsSection() },
    ],
  });
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
