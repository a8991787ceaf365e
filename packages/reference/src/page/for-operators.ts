import type { Contract } from '@storegate/openapi';
import { type Html, html } from '@storegate/pages';
import type { ReferenceAssets } from '../files.ts';
import { type ErrorWords, errorTable } from './error-table.ts';
import type { Link } from './links.ts';
import { renderPage } from './page.ts';

export interface OperatorsPage {
  readonly contract: Pick<Contract, 'title' | 'version' | 'operations' | 'document'>;
  readonly documents: readonly [Link, ...Link[]];
  /** Where the page leads back to. */
  readonly console: string;
  /** Every error of the API. */
  readonly errors: readonly ErrorWords[];
}

/** The page for operators, who read and try as who is signed in at the console. */
export function renderOperatorsPage(page: OperatorsPage, assets: ReferenceAssets): string {
  const { contract, documents, console, errors } = page;
  return renderPage({
    title: contract.title,
    version: contract.version,
    assets,
    documents,
    operations: contract.operations,
    tagGroups: contract.document['x-tagGroups'],
    others: [{ href: console, text: 'Back to the console' }],
    start: start(console),
    sections: [
      {
        id: 'errors',
        title: 'Errors',
        markup: errorTable(
          html`Every error is an object with <code>code</code> for programs, <code>message</code> for people, and <code>status</code>.
Quote the <code>X-Request-Id</code> of the answer when you ask for help.`,
          errors,
        ),
      },
    ],
  });
}

function start(console: string): Html {
  return html`<p>Operations that only read can be tried here, as who is signed in at <a href="${console}">the console</a>. What changes
something is done by the console itself, or by the command line, which ask before they act.</p>`;
}
