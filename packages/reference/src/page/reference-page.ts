import type { Contract } from '@storegate/openapi';
import { type Html, html } from '@storegate/pages';
import type { DocumentPaths } from '../documents.ts';
import type { ReferenceAssets } from '../files.ts';
import { type ErrorWords, errorsSection } from './error-table.ts';
import { type Limits, limitsSection } from './limits.ts';
import type { Listed } from './navigation.ts';
import { type PageContent, renderPage } from './page.ts';
import { retryingSection } from './retrying.ts';

export interface ReferencePage {
  readonly contract: Pick<Contract, 'title' | 'version' | 'document'> & { readonly operations: readonly Listed[] };
  readonly paths: DocumentPaths;
  /** `keyHeader`: where clients send their key; Authorization: as a bearer token. */
  readonly readers: { readonly limits: Limits; readonly keyHeader: string } | { readonly console: string };
  readonly errors: readonly ErrorWords[];
}

export function renderReferencePage(page: ReferencePage, assets: ReferenceAssets): string {
  const { contract, paths, readers, errors } = page;
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
    ...('limits' in readers ? forClients(readers, errors) : forOperators(readers.console, errors)),
  });
}

type Parts = Pick<PageContent, 'others' | 'start' | 'sections'>;

function forClients(
  { limits, keyHeader }: { readonly limits: Limits; readonly keyHeader: string },
  errors: readonly ErrorWords[],
): Parts {
  const note = 'The store adds codes of its own, shown with its operations.';
  return {
    start: keyForm(keyHeader),
    sections: [
      { id: 'limits', title: 'Plans and limits', markup: limitsSection(limits) },
      { id: 'retrying', title: 'How to retry', markup: retryingSection() },
      { id: 'errors', title: 'Errors', markup: errorsSection(errors, note) },
    ],
  };
}

function forOperators(console: string, errors: readonly ErrorWords[]): Parts {
  return {
    others: [{ href: console, text: 'Back to the console' }],
    start: html`<p>Operations that only read can be tried here, as who is signed in at <a href="${console}">the console</a>. What changes
something is done by the console itself, or by the command line, which ask before they act.</p>`,
    sections: [{ id: 'errors', title: 'Errors', markup: errorsSection(errors) }],
  };
}

/** The field has no name and the form no target, so that only the page's script can read the key. */
function keyForm(header: string): Html {
  return html`<form id="key" class="key" autocomplete="off" data-header="${header}">
<label for="key-secret">Your API key</label>
<div class="field"><input id="key-secret" type="password" autocomplete="off" spellcheck="false" placeholder="sg_…"
aria-describedby="key-note"><button type="submit">Use this key</button>
<button type="button" id="key-forget" hidden>Forget it</button></div>
<label class="remember"><input id="key-remember" type="checkbox"> Remember it on this device</label>
<p id="key-note" role="status">Paste it to try operations. It stays in this tab, and goes nowhere but into the header
<code>${header}</code> of what you send.</p>
</form>`;
}
