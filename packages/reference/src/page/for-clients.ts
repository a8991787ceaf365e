import type { Contract } from '@storegate/openapi';
import { type Html, html } from '@storegate/pages';
import type { DocumentPaths } from '../documents.ts';
import type { ReferenceAssets } from '../files.ts';
import { type ErrorWords, errorsSection } from './error-table.ts';
import { type Limits, limitsSection } from './limits.ts';
import type { Listed } from './navigation.ts';
import { renderPage } from './page.ts';
import { retryingSection } from './retrying.ts';

export interface ClientsPage {
  readonly contract: Pick<Contract, 'title' | 'version' | 'document'> & { readonly operations: readonly Listed[] };
  readonly paths: DocumentPaths;
  readonly limits: Limits;
  /** Every error of the API. */
  readonly errors: readonly ErrorWords[];
}

/** The page for clients: a field for the key, plans, and what to do after a refusal. */
export function renderClientsPage({ contract, paths, limits, errors }: ClientsPage, assets: ReferenceAssets): string {
  const { title, version, operations, document } = contract;
  return renderPage({
    title,
    version,
    assets,
    documents: [
      { href: paths.json, text: 'JSON' },
      { href: paths.yaml, text: 'YAML' },
    ],
    operations,
    tagGroups: document['x-tagGroups'],
    start: keyForm(),
    sections: [
      { id: 'limits', title: 'Plans and limits', markup: limitsSection(limits) },
      { id: 'retrying', title: 'How to retry', markup: retryingSection() },
      { id: 'errors', title: 'Errors', markup: errorsSection(errors) },
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
