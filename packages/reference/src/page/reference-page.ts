import type { Contract } from '@storegate/openapi';
import { type Assets, type Html, html, withCode } from '@storegate/pages';
import type { DocumentPaths } from '../documents.ts';
import { type Limits, limitsSection } from './limits.ts';
import { type Link, type Listed, navigation } from './navigation.ts';

export interface ErrorText {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  /** For the client; names and headers are in backticks. */
  readonly advice: string;
}

export interface Clients {
  readonly limits: Limits;
  /** Headers that carry a key, the preferred one first; Authorization as a bearer token. */
  readonly keyHeaders: readonly string[];
  /** Path of the usage of a key; `null`: none. */
  readonly usage: string | null;
}

/** In place of what the contract and this package have; paths are on this server. */
export interface Branding {
  readonly title: string | null;
  readonly logo: { readonly path: string; readonly type: string } | null;
  /** In Markdown, above the description of the contract. */
  readonly introduction: string | null;
}

const NO_BRANDING: Branding = {
  title: null,
  logo: null,
  introduction: null,
};

export interface ReferencePage {
  readonly contract: Pick<Contract, 'title' | 'version'> & {
    readonly operations: readonly Listed[];
    /** The rest of the document is not read: it may be large. */
    readonly document: { readonly 'x-tagGroups'?: unknown };
  };
  readonly paths: DocumentPaths;
  readonly readers: Clients | { readonly console: string };
  readonly errors: readonly ErrorText[];
  readonly branding?: Branding | undefined;
}

/**
 * Scripts draw the operations into `#reference`. The rest is readable without scripts and stays
 * in place when they appear.
 */
export function renderReferencePage(
  { contract, paths, readers, errors, branding = NO_BRANDING }: ReferencePage,
  assets: Assets,
): string {
  const { version, operations, document } = contract;
  const { introduction } = branding;
  const title = branding.title ?? contract.title;
  const icon = branding.logo ?? assets.icon;
  const { others, start, sections } =
    'limits' in readers
      ? forClients(readers, errors)
      : forOperators(readers.console, errors);
  const guide = [
    ...others,
    { href: '#start', text: 'Start here' },
    ...sections.map(({ id, title }) => ({ href: `#${id}`, text: title })),
  ];
  const documents = [
    { href: paths.json, text: 'JSON' },
    { href: paths.yaml, text: 'YAML' },
  ];
  return html`<!doctype html>
<html lang="en">
${assets.head(`${title} · API reference`, icon)}
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top"><a class="brand" href="#start"><img src="${icon.path}" alt="" height="28">${title}
<span class="version">${version}</span></a>
<span class="contract">Contract:${documents.map(({ href, text }) => html` <a href="${href}">${text}</a>`)}</span>
<button type="button" class="contents-button" popovertarget="contents">Contents</button></header>
<div class="columns">
${navigation({ guide, documents, operations, tagGroups: document['x-tagGroups'] })}
<main id="content" tabindex="-1">
<section id="start" aria-labelledby="title">
<h1 id="title">${title}</h1>
${start}
</section>
<p id="announcement" class="unseen" role="status"></p>
<div id="reference" class="reference" data-contract="${paths.json}" data-introduction="${introduction}" aria-busy="true"><p class="loading">Drawing the operations …</p>
<noscript><p>The operations are drawn by a script. Without it, read the contract itself:${documents.map(
    ({ href }) =>
      html` <a href="${href}">${href.slice(href.lastIndexOf('/') + 1)}</a>`,
  )}.</p></noscript></div>
${sections.map(({ markup }) => html`${markup}\n`)}</main>
</div>
</body>
</html>
`.text;
}

/** `id`: of the `section` element. */
interface Parts {
  readonly others: readonly Link[];
  readonly start: Html;
  readonly sections: readonly {
    readonly id: string;
    readonly title: string;
    readonly markup: Html;
  }[];
}

function forClients(clients: Clients, errors: readonly ErrorText[]): Parts {
  const note = 'The store adds codes of its own, shown with its operations.';
  return {
    others: [],
    start: keyForm(clients),
    sections: [
      {
        id: 'limits',
        title: 'Plans and limits',
        markup: limitsSection(clients.limits),
      },
      { id: 'retrying', title: 'How to retry', markup: retryingSection() },
      { id: 'errors', title: 'Errors', markup: errorsSection(errors, note) },
    ],
  };
}

function forOperators(console: string, errors: readonly ErrorText[]): Parts {
  return {
    others: [{ href: console, text: 'Back to the console' }],
    start: html`<p>Operations that only read can be tried here, as who is signed in at <a href="${console}">the console</a>. What changes
something is done by the console itself, or by the command line, which ask before they act.</p>`,
    sections: [
      { id: 'errors', title: 'Errors', markup: errorsSection(errors) },
    ],
  };
}

/**
 * The field has no name and the form no target, so that only the page's script can read the key.
 */
function keyForm({ keyHeaders, usage }: Clients): Html {
  return html`<form id="key" class="key" autocomplete="off" data-headers="${keyHeaders.join(' ')}" data-usage="${usage}">
<label for="key-secret">Your API key</label>
<div class="field"><input id="key-secret" data-secret="key" type="password" autocomplete="off" spellcheck="false" placeholder="sg_…"
aria-describedby="key-note"><button type="submit">Use this key</button>
<button type="button" id="key-forget" hidden>Forget it</button></div>
<div id="key-schemes"></div>
<label class="remember"><input id="key-remember" type="checkbox"> Remember it on this device</label>
<p id="key-note" role="status">Paste it to try operations. It stays in this tab, and goes nowhere but into the header
<code>${keyHeaders[0] ?? ''}</code> of what you send.</p>
</form>`;
}

const SAMPLE = `async function send(url, options, attempt = 0) {
  const response = await fetch(url, options);
  const isRead = ['GET', 'HEAD'].includes(options?.method ?? 'GET');
  const repeated = isRead ? [429, 502, 503, 504] : [429, 503];
  if (!repeated.includes(response.status) || attempt === 5) return response;
  const retryAfter = Number(response.headers.get('Retry-After') ?? 0);
  const more = 2 ** attempt * Math.random(); // so that clients do not come back all at once
  await new Promise((resolve) => setTimeout(resolve, (retryAfter + more) * 1000));
  return send(url, options, attempt + 1);
}`;

function retryingSection(): Html {
  return html`<section id="retrying" aria-labelledby="retrying-title">
<h2 id="retrying-title">How to retry</h2>
<ol>
<li><strong>Wait as long as <code>Retry-After</code> says.</strong> Every <code>429</code> and <code>503</code> has it, in
whole seconds, and never too short. <code>502</code> and <code>504</code> have none.</li>
<li><strong>Wait longer each time.</strong> Add a pause that doubles with every attempt (exponential backoff), with some
chance in it, and give up after a few.</li>
<li><strong>Know what is safe to repeat.</strong> After <code>429</code>, <code>503</code> and <code>502</code>
<code>upstream_unavailable</code> nothing was done. After <code>upstream_error</code> and <code>504</code> it may have been:
repeat reads, and writes only if doing them twice does no harm.</li>
</ol>
<pre tabindex="0" aria-label="Example in JavaScript"><code>${SAMPLE}</code></pre>
</section>`;
}

export function errorsSection(errors: readonly ErrorText[], note = ''): Html {
  return html`<section id="errors" aria-labelledby="errors-title">
<h2 id="errors-title">Errors and what to do</h2>
<p>Every error is an object with <code>code</code> for programs, <code>message</code> for people, and <code>status</code>. Quote
the <code>X-Request-Id</code> of the response when you ask for help. ${note}</p>
<div class="errors" role="list">${errors.map(entry)}</div>
</section>`;
}

function entry({ code, status, title, advice }: ErrorText): Html {
  return html`<div class="error" role="listitem" id="errors-${code}"><p><span class="status">${status}</span> <code>${code}</code></p>
<p>${title} <span class="advice">${withCode(advice)}</span></p></div>`;
}
